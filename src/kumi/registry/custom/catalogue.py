"""Which kinds of other people are there: the scheme follows the definitions in the store.

    restore()            at the start: every established definition becomes a kind
    follow(name)         after a write about a definition: its kind comes, changes or goes; whoever waits for its names gets them
    emptied(kind)        after a write that may have removed the last object of a kind whose definition is being deleted

The life of a definition
    created      its names are settled on its way in (`DefinitionRules`); once it is established its kind is served
    changed      a kind is made anew; watches on the old one end, and are begun again by their readers
    deleted      marked with a finalizer; nothing of its kind can be made any more; every object is deleted, and stays only as
                 long as finalizers of its own keep it; with the last one the watches end, the kind goes (404), the finalizer too
Restart      nothing is kept but the definitions: a deletion that was cut is gone on with by `finish`.
Own          a definition for a group and kind that Kumi serves itself (Kueue's, Kubeflow's own manifests) is accepted, with a
             warning and a condition that say so, and changes nothing: Kumi goes on serving its kind by its own schema, and
             deleting the definition deletes no object. So installing those manifests is harmless, and what waits for them to be
             established goes on. One whose plural or short names are those of another kind of Kumi's is not accepted.
Order        writes about definitions happen one at a time (`turn`), so that a name is given to one of them only.
Source     Kubernetes: CustomResourceDefinition; naming, establishing and finalizing controllers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from kumi.api.apiextensions import CLEANUP, GROUP
from kumi.api.errors import ApiError, FieldError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.custom.definition import fill_in, is_whole, stored_version, warnings, wrong_definition
from kumi.registry.custom.kind import CustomKind, custom_kind
from kumi.registry.custom.names import ACCEPTED, ESTABLISHED, TERMINATING, holds, of_kind, set_condition, settle
from kumi.registry.deletion import Deleting
from kumi.registry.environment import Environment
from kumi.registry.hooks import Operation
from kumi.registry.objects import Found, clone, prefix_of
from kumi.registry.requests import DeleteOptions, Target, WriteOptions
from kumi.registry.writing import Wanted, Writing

TOGETHER = 64
"""objects of a kind that are deleted at a time"""


class Definitions:
    """The definitions in the store, and what Kumi serves itself."""

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.kind = env.scheme.find(GROUP, "CustomResourceDefinition")

    def find(self, name: str) -> Found | None:
        """A definition."""
        return self._env.objects.get(self.kind, "", name) if self.kind else None

    def all(self) -> Iterator[Found]:
        """All of them, by name."""
        if self.kind is not None:
            for entry in self._env.objects.page(prefix_of(self.kind, "")).entries:
                yield self._env.objects.found(entry)

    def own(self, definition: JsonObject) -> Kind | None:
        """The kind of Kumi's own that a definition is about."""
        if not is_whole(definition):
            return None
        spec = definition["spec"]
        found = self._env.scheme.find(spec["group"], spec["names"].get("kind", ""))
        return None if isinstance(found, CustomKind) else found

    def settle(self, definition: JsonObject) -> None:
        """Writes what the server says of a definition, in place: names, conditions, the versions that were ever stored."""
        group, name = definition["spec"].get("group", ""), definition["metadata"].get("name", "")
        others = [
            found.object
            for found in self.all()
            if found.object["spec"]["group"] == group and found.object["metadata"]["name"] != name
        ]
        own = self.own(definition)
        kinds = [each for each in self._env.scheme if each.group == group and not isinstance(each, CustomKind)]
        others += [of_kind(each) for each in kinds if each is not own]
        settle(definition, others, own, self._env.now())
        status = definition["status"]
        stored, known = stored_version(definition), status.setdefault("storedVersions", [])
        if stored and stored not in known:
            known.append(stored)


class DefinitionRules:
    """Admission of definitions (kumi.registry.hooks.AdmissionHook)."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Defaults, and the status that the server writes."""
        if kind is not self._definitions.kind:
            return
        fill_in(new)
        if old is None:
            new["status"] = {}
        if is_whole(new) and not (old is not None and holds(old, TERMINATING)):
            self._definitions.settle(new)

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """See kumi.registry.custom.definition. What isn't used, or is left as it was, may be as it likes."""
        if kind is not self._definitions.kind or (old is not None and new.get("spec") == old.get("spec")):
            return []
        return [] if self._definitions.own(new) is not None else wrong_definition(new, old)

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        """What its writer should know."""
        if kind is not self._definitions.kind:
            return []
        own = self._definitions.own(new)
        if own is not None:
            return [f"Kumi serves {own.resource} itself: this definition is kept and not used"]
        return warnings(new)


class Catalogue:
    """See the module."""

    def __init__(self, env: Environment, definitions: Definitions, writing: Writing, deleting: Deleting) -> None:
        self._env, self._definitions, self._writing, self._deleting = env, definitions, writing, deleting
        self._turn = asyncio.Lock()

    @property
    def turn(self) -> asyncio.Lock:
        """Held by whoever writes about a definition."""
        return self._turn

    def is_definition(self, kind: Kind) -> bool:
        """Whether it is the kind of definitions."""
        return kind is self._definitions.kind

    def restore(self) -> None:
        """See the module."""
        for found in self._definitions.all():
            self._serve(found)

    async def finish(self) -> None:
        """Goes on with every deletion that was begun."""
        for found in list(self._definitions.all()):
            if found.object["metadata"].get("deletionTimestamp"):
                await self.follow(found.object["metadata"]["name"])

    async def follow(self, name: str) -> None:
        """See the module; the caller has its turn."""
        found = self._definitions.find(name)
        if found is None:
            self._drop(name)
            await self._resettle()
        elif found.object["metadata"].get("deletionTimestamp"):
            await self._end(found)
        else:
            self._serve(found)

    async def emptied(self, kind: Kind) -> None:
        """See the module."""
        served = self._env.scheme.find(kind.group, kind.kind)
        if isinstance(served, CustomKind) and served.terminating and not self._has_objects(served):
            async with self._turn:
                await self.follow(served.resource)

    def check_creatable(self, kind: Kind) -> None:
        """ApiError 405: the definition is being deleted."""
        if isinstance(kind, CustomKind) and kind.terminating:
            message = "create not allowed while custom resource definition is terminating"
            raise ApiError(405, "MethodNotAllowed", message, kind=kind.plural, group=kind.group)

    def _serve(self, found: Found) -> None:
        definition = found.object
        if not holds(definition, ESTABLISHED) or self._definitions.own(definition) is not None:
            return
        before = self._served(definition)
        if before is not None and before.generation == definition["metadata"].get("generation", 0):
            return
        entry = self._env.objects.store.get(found.key)
        since = found.revision if entry is None else entry.created
        self._env.scheme.put(custom_kind(definition, found.revision, since, before))
        if before is not None:
            before.end_watches()

    def _served(self, definition: JsonObject) -> CustomKind | None:
        found = self._env.scheme.find_plural(definition["spec"]["group"], definition["spec"]["names"]["plural"])
        return found if isinstance(found, CustomKind) else None

    def _drop(self, name: str) -> None:
        plural, _, group = name.partition(".")
        kind = self._env.scheme.find_plural(group, plural)
        if isinstance(kind, CustomKind):
            self._env.scheme.remove(kind.group, kind.kind)
            kind.end_watches()

    async def _end(self, found: Found) -> None:
        """Deletes the objects of a definition that is marked, and lets it go when there are none."""
        definition = found.object
        name, kind = definition["metadata"]["name"], None
        if holds(definition, ESTABLISHED) and self._definitions.own(definition) is None:
            if self._served(definition) is None:
                self._serve(found)
            kind = self._served(definition)
        if kind is not None:
            if not kind.terminating:
                kind = kind.going()
                self._env.scheme.put(kind)
            await self._empty(kind)
            if self._has_objects(kind):
                await self._say(name, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
                return
        self._drop(name)
        await self._release(name)
        await self._resettle()

    async def _empty(self, kind: CustomKind) -> None:
        entries = self._env.objects.page(prefix_of(kind, "")).entries
        for start in range(0, len(entries), TOGETHER):
            targets = []
            for entry in entries[start : start + TOGETHER]:
                metadata = self._env.objects.listed(entry)["metadata"]
                targets.append(Target(kind, metadata.get("namespace", ""), metadata["name"]))
            await asyncio.gather(*(self._deleting.delete_if_there(target, DeleteOptions()) for target in targets))

    def _has_objects(self, kind: Kind) -> bool:
        return bool(self._env.objects.page(prefix_of(kind, ""), limit=1).entries)

    async def _say(self, name: str, reason: str, message: str) -> None:
        now = self._env.now()

        def wanted(found: Found) -> JsonObject:
            new = found.copy()
            set_condition(new, TERMINATING, True, reason, message, now)
            return new

        await self._write(name, wanted)

    async def _release(self, name: str) -> None:
        def wanted(found: Found) -> JsonObject:
            new = found.copy()
            left = [finalizer for finalizer in new["metadata"].pop("finalizers", ()) if finalizer != CLEANUP]
            if left:
                new["metadata"]["finalizers"] = left
            return new

        await self._write(name, wanted)

    async def _resettle(self) -> None:
        """Gives names that came free to whoever waits for them."""
        for found in list(self._definitions.all()):
            if holds(found.object, ACCEPTED) or found.object["metadata"].get("deletionTimestamp"):
                continue
            trial = clone(found.object)
            self._definitions.settle(trial)
            if trial["status"] != found.object.get("status"):
                await self._write(found.object["metadata"]["name"], self._settled)
                now = self._definitions.find(found.object["metadata"]["name"])
                if now is not None:
                    self._serve(now)

    def _settled(self, found: Found) -> JsonObject:
        new = found.copy()
        self._definitions.settle(new)
        return new

    async def _write(self, name: str, wanted: Wanted) -> None:
        assert self._definitions.kind is not None
        target = Target(self._definitions.kind, name=name)
        try:
            await self._writing.change(target, wanted, lambda _new, _found: [], WriteOptions())
        except ApiError as error:
            if error.code != 404:
                raise
