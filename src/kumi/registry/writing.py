"""create, update, patch: how an object gets in, and how it changes.

Create     read, name, admit the namespace; metadata; default; mutate (hooks); complete (kind); validate (kind, hooks); put
Change     1 read what is there                          2 what the caller wants of it (the body, or the patch applied)
           3 preconditions: uid, resourceVersion         4 the part that this request may write (spec or status)
           5 default, mutate, count the generation       6 validate
           7 nothing changed: no write                   8 put, if nobody was faster: else from 1 again
           An object that is marked for deletion and has nothing that holds it any more is removed at 8.
Why        a caller that named a resourceVersion gets a Conflict at 3; one that named none wanted "whatever is there", so
           losing the race at 8 is nobody's business. Each round that is lost means that another write was made.
Hooks      see writes to main resources only, never to subresources.
Source     Kubernetes: API concepts (updates, patch, dry run), API conventions (spec and status, generation).
Not here   subresources other than status: kumi.registry.subresources.
"""

from __future__ import annotations

from collections.abc import Callable

from kumi.api.errors import ApiError, FieldError, already_exists, bad_request, conflict, not_found
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry import admission, incoming, metadata, versions
from kumi.registry.environment import Environment
from kumi.registry.hooks import Operation
from kumi.registry.kinds.lifecycle import Lifecycle, lifecycle
from kumi.registry.names import generated
from kumi.registry.objects import Found, clone, key_of, same
from kumi.registry.patching import Patch
from kumi.registry.refusals import invalid_as, invalid_object
from kumi.registry.requests import Target, WriteOptions
from kumi.store.base import ABSENT, Conflict

ROUNDS = 64
"""Races that an unconditional write may lose before it gives up with a Conflict."""
NAMES = 8
"""Names that are tried for a generateName."""

Wanted = Callable[[Found], JsonObject]
"""What the caller wants of what is there, in the stored version: an object of its own."""
Prepare = Callable[[JsonObject, Found], list[FieldError]]
"""Makes what is wanted into what may be stored, in place, and says what is wrong with it."""


class Writing:
    """The verbs that write objects whole or in part."""

    def __init__(self, env: Environment) -> None:
        self._env = env

    async def create(self, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
        """The new object, in the caller's version. ApiError 400, 403, 404, 409, 422."""
        kind = target.kind
        obj = incoming.read(target, body, options)
        incoming.check_place(target, obj)
        found = obj["metadata"]
        if found.get("resourceVersion"):
            raise bad_request("resourceVersion should not be set on objects to be created")
        admission.admit_namespace(self._env, kind, found.get("namespace", ""), found.get("name", ""))
        start = "" if found.get("name") else found.get("generateName", "")
        for left in reversed(range(NAMES if start else 1)):
            new = clone(obj) if left else obj
            if start:
                new["metadata"]["name"] = generated(start, self._env.new_uid())
            self._complete(kind, new, options)
            if options.dry_run:
                self._check_absent(kind, new)
                return versions.from_stored(kind, target.version, new)
            try:
                stored = await self._env.objects.put(_key(kind, new), new, ABSENT)
                return versions.from_stored(kind, target.version, stored)
            except Conflict:
                if not left:
                    raise self._exists(kind, new) from None
        raise AssertionError("a create ends in an answer")

    async def update(self, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
        """The object as it is now. ApiError 400, 404, 409, 422."""
        wanted = incoming.read(target, body, options)
        incoming.check_place(target, wanted)
        life, there = lifecycle(target.kind), self._find(target)
        if there is None and life.upserts and not target.subresource:
            wanted["metadata"].pop("resourceVersion", None)
            return await self.create(target, versions.from_stored(target.kind, target.version, wanted), options)
        if there is not None and life.conditional and not wanted["metadata"].get("resourceVersion"):
            must = FieldError("metadata.resourceVersion", "must be specified for an update", value=0)
            raise invalid_as(target.kind.plural, target.kind.group, target.name, [must])
        stored = await self.change(target, lambda _: clone(wanted), self.prepare(target, options), options)
        return versions.from_stored(target.kind, target.version, stored)

    async def patch(self, target: Target, patch: Patch, options: WriteOptions) -> JsonObject:
        """The object as it is now. ApiError 400, 404, 409, 415, 422."""
        kind = target.kind
        patch.check(kind)

        def wanted(found: Found) -> JsonObject:
            spoken = versions.from_stored(kind, target.version, found.copy())
            patched = incoming.read(target, patch.applied(kind, spoken), options, found.object)
            incoming.check_place(target, patched)
            return patched

        stored = await self.change(target, wanted, self.prepare(target, options), options)
        return versions.from_stored(kind, target.version, stored)

    def prepare(self, target: Target, options: WriteOptions) -> Prepare:
        """The preparation that a write to this target needs."""
        if target.subresource == "status":
            return lambda new, found: self._prepare_status(target.kind, new, found)
        return lambda new, found: self._prepare_main(target.kind, new, found, options)

    async def change(self, target: Target, wanted: Wanted, prepare: Prepare, options: WriteOptions) -> JsonObject:
        """The rule of the module; the answer is in the stored version, shared and read-only."""
        kind, objects = target.kind, self._env.objects
        for _ in range(ROUNDS):
            found = self._find(target)
            if found is None:
                raise not_found(kind.plural, target.name, kind.group)
            new = wanted(found)
            self._check_preconditions(target, new, found)
            errors = prepare(new, found)
            if errors:
                raise invalid_object(kind, target.name, errors)
            new["metadata"]["resourceVersion"] = str(found.revision)
            if same(new, found.object):
                return found.object
            removed = is_released(lifecycle(kind), new)
            if options.dry_run:
                return new
            try:
                if removed:
                    revision = await objects.remove(found.key, found.revision)
                    new["metadata"]["resourceVersion"] = str(revision)
                    return new
                return await objects.put(found.key, new, found.revision)
            except Conflict:
                continue
        raise conflict(kind.plural, target.name, kind.group)

    def _find(self, target: Target) -> Found | None:
        return self._env.objects.get(target.kind, target.namespace, target.name)

    def _check_preconditions(self, target: Target, new: JsonObject, found: Found) -> None:
        kind, asked, there = target.kind, new["metadata"], found.object["metadata"]
        if asked.get("uid") not in (None, there["uid"]):
            why = f"Precondition failed: UID in precondition: {asked['uid']}, UID in object meta: {there['uid']}"
            raise conflict(kind.plural, target.name, kind.group, why)
        revision = asked.get("resourceVersion")
        if not revision:
            return
        if not str(revision).isdigit():
            raise bad_request(f'invalid resourceVersion "{revision}": it must be what was read')
        if int(revision) != found.revision:
            raise conflict(kind.plural, target.name, kind.group)

    def _prepare_main(self, kind: Kind, new: JsonObject, found: Found, options: WriteOptions) -> list[FieldError]:
        old = found.object
        if "status" in kind.subresources and new.get("status") != old.get("status"):
            new.pop("status", None)
            if "status" in old:
                new["status"] = found.copy()["status"]
        life = lifecycle(kind)
        errors = metadata.keep(new["metadata"], old["metadata"])
        life.on_update(new, old)
        if kind.default is not None:
            kind.default(new)
        for hook in self._env.hooks:
            hook.mutate("UPDATE", kind, new, old)
        count_generation(kind, new, old)
        return errors + self._wrong("UPDATE", kind, new, old, options)

    def _prepare_status(self, kind: Kind, new: JsonObject, found: Found) -> list[FieldError]:
        """Everything but the status is put back, as it is shared by all who read it; of metadata, built-in kinds take
        what is not anybody's to keep."""
        old = found.object
        status, asked = new.get("status"), new["metadata"]
        new.clear()
        new.update(old)
        new["metadata"] = dict(old["metadata"])
        new.pop("status", None)
        if status is not None:
            new["status"] = status
        if kind.custom:
            return []
        errors = metadata.keep(asked, old["metadata"])
        asked.pop("ownerReferences", None)
        if "ownerReferences" in old["metadata"]:
            asked["ownerReferences"] = old["metadata"]["ownerReferences"]
        new["metadata"] = asked
        return errors

    def _complete(self, kind: Kind, new: JsonObject, options: WriteOptions) -> None:
        """Everything between the body of a create and its write. ApiError 400, 403, 422."""
        env, life, found = self._env, lifecycle(kind), new["metadata"]
        name = found.get("name", "")
        if not name:
            missing = FieldError("metadata.name", "name or generateName is required", "FieldValueRequired")
            raise invalid_object(kind, "", [missing])
        metadata.begin(found, uid=env.new_uid(), now=env.now(), counted=life.counts_generation)
        if "status" in kind.subresources and not life.keeps_status:
            new.pop("status", None)
            if not kind.custom:
                new["status"] = {}
        if kind.default is not None:
            kind.default(new)
        admission.admit_priority(env, kind, new)
        for hook in env.hooks:
            hook.mutate("CREATE", kind, new, None)
        life.on_create(new)
        errors = admission.admit_address(env, kind, new) + self._wrong("CREATE", kind, new, None, options)
        if errors:
            raise invalid_object(kind, name, errors)

    def _wrong(
        self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None, options: WriteOptions
    ) -> list[FieldError]:
        errors = [] if kind.validate is None else list(kind.validate(new, old))
        for hook in self._env.hooks:
            errors += hook.validate(operation, kind, new, old)
            options.warn(hook.warnings(operation, kind, new))
        return errors

    def _check_absent(self, kind: Kind, new: JsonObject) -> None:
        found = new["metadata"]
        if self._env.objects.get(kind, found.get("namespace", ""), found["name"]) is not None:
            raise self._exists(kind, new)

    def _exists(self, kind: Kind, new: JsonObject) -> ApiError:
        found = new["metadata"]
        there = self._env.objects.get(kind, found.get("namespace", ""), found["name"])
        error = already_exists(kind.plural, found["name"], kind.group)
        if there is not None and there.object["metadata"].get("deletionTimestamp"):
            message = f"object is being deleted: {error.message}"
            return ApiError(409, error.reason, message, kind=error.kind, group=error.group, name=error.name)
        return error


def is_released(life: Lifecycle, obj: JsonObject) -> bool:
    """Whether an object that is marked for deletion has nothing left that holds it."""
    found = obj["metadata"]
    return (
        bool(found.get("deletionTimestamp"))
        and not found.get("finalizers")
        and not found.get("deletionGracePeriodSeconds")
        and not life.held(obj)
    )


def count_generation(kind: Kind, new: JsonObject, old: JsonObject) -> None:
    """One more where the spec changed; for custom kinds, where anything but metadata and status did."""
    if not lifecycle(kind).counts_generation:
        return
    if kind.custom:
        ours = {key for key in (*new, *old) if key not in ("metadata", "status")}
        changed = any(new.get(key) != old.get(key) for key in ours)
    else:
        changed = new.get("spec") != old.get("spec")
    generation = old["metadata"].get("generation", 0)
    new["metadata"]["generation"] = generation + 1 if changed else generation


def _key(kind: Kind, obj: JsonObject) -> str:
    return key_of(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
