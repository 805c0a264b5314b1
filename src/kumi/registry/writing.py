"""create, update, patch: how an object gets in, and how it changes.

Create     read, name, admit the namespace; metadata; default; mutate (hooks); complete (kind); validate (kind, hooks); put
Change     1 read what is there                          2 what the caller wants of it (the body, or the patch applied)
           3 preconditions: uid, resourceVersion         4 the part that this request may write (spec or status)
           5 default, track who manages it, mutate,      6 validate
             count the generation
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
from dataclasses import replace

from kumi.api.defaulting.status import fill_status
from kumi.api.errors import ApiError, FieldError, already_exists, bad_request, conflict, not_found
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry import admission, incoming, metadata, versions
from kumi.registry.apply.managers import decode, same_but_time
from kumi.registry.apply.tracking import track
from kumi.registry.authorization.escalation import check_create, check_grant
from kumi.registry.environment import Environment
from kumi.registry.hooks import Operation
from kumi.registry.kinds.lifecycle import Lifecycle, lifecycle
from kumi.registry.limit_ranges import check_limits, default_limits
from kumi.registry.names import generated
from kumi.registry.objects import MANAGED, Found, clone, key_of, managed_text, same, with_managers
from kumi.registry.patching import Patch
from kumi.registry.refusals import invalid_as, invalid_object
from kumi.registry.requests import DeleteOptions, Target, WriteOptions
from kumi.registry.webhooks.matching import Operation as Review
from kumi.store.base import ABSENT, Conflict

ROUNDS = 64
"""Races that an unconditional write may lose before it gives up with a Conflict."""
NAMES = 8
"""Names that are tried for a generateName."""

Wanted = Callable[[Found], JsonObject]
"""What the caller wants of what is there, in the stored version: an object of its own."""
Prepare = Callable[[JsonObject, Found], list[FieldError]]
"""Makes what is wanted into what may be stored, in place, and says what is wrong with it."""
Note = Callable[[JsonObject, JsonObject | None], None]
"""Notes in a new object, beside the old one if there is one, who manages its fields."""


class Writing:
    """The verbs that write objects whole or in part."""

    def __init__(self, env: Environment) -> None:
        self._env = env

    async def create(
        self, target: Target, body: JsonObject, options: WriteOptions, note: Note | None = None
    ) -> JsonObject:
        """The new object, in the caller's version; `note` None: its creator manages what it set.

        ApiError 400, 403, 404, 409, 422."""
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
            self._complete(target, new, options, note or self.noting(target, options))
            new = await self._reviewed(target, new, None, options)
            options.created = True
            if options.dry_run:
                self._env.quotas.check(kind, new, None)
                self._check_absent(kind, new)
                return versions.from_stored(kind, target.version, new)
            try:
                async with self._env.quotas.admitted(kind, new, None):
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
            check_create(self._env.policies.now(), options.user, target.kind, target.namespace, target.name)
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

        small = target.subresource == "status" and patch.is_of_status and target.version in ("", kind.version)

        def wanted(found: Found) -> JsonObject:
            there = found.copy_for_status() if small else found.copy()
            if patch.mentions(MANAGED):
                there = with_managers(there)
            spoken = versions.from_stored(kind, target.version, there)
            patched = incoming.read(target, patch.applied(kind, spoken), options, found.object)
            incoming.check_place(target, patched)
            return patched

        stored = await self.change(target, wanted, self.prepare(target, options), options)
        return versions.from_stored(kind, target.version, stored)

    def prepare(self, target: Target, options: WriteOptions, note: Note | None = None) -> Prepare:
        """The preparation that a write to this target needs; `note` None: it is an update."""
        note = note or self.noting(target, options)
        if target.subresource == "status":
            return lambda new, found: self._prepare_status(target, new, found, note)
        return lambda new, found: self._prepare_main(target, new, found, options, note)

    def noting(self, target: Target, options: WriteOptions) -> Note:
        """The note of an update: its writer manages what it changes."""
        return lambda new, old: track(target, new, old, options, self._env.now())

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
            operation = operation_of("UPDATE", target, new, found.object, options)
            webhooks = self._env.webhooks
            mutated = await webhooks.mutate(operation, options.warn)
            if mutated is not None:
                new = mutated
                errors = prepare(new, found)
                operation = replace(operation, new=new)
            if errors:
                raise invalid_object(kind, target.name, errors)
            await webhooks.validate(operation, options.warn)
            new["metadata"]["resourceVersion"] = str(found.revision)
            if _is_unchanged(new, found.object):
                return found.object
            counted = not target.subresource
            if counted:
                check_limits(self._env, kind, new, found.object)
            if options.dry_run:
                if counted:
                    self._env.quotas.check(kind, new, found.object)
                return new
            try:
                if is_released(lifecycle(kind), new):
                    revision = await objects.remove(found.key, found.revision)
                    new["metadata"]["resourceVersion"] = str(revision)
                    return new
                if not counted:
                    return await objects.put(found.key, new, found.revision)
                async with self._env.quotas.admitted(kind, new, found.object):
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

    def _prepare_main(
        self, target: Target, new: JsonObject, found: Found, options: WriteOptions, note: Note
    ) -> list[FieldError]:
        kind, old = target.kind, found.object
        if "status" in kind.subresources_in(target.version) and new.get("status") != old.get("status"):
            new.pop("status", None)
            if "status" in old:
                new["status"] = found.copy()["status"]
        life = lifecycle(kind)
        errors = metadata.keep(new["metadata"], old["metadata"])
        life.on_update(new, old)
        kind.fill(target.version, new)
        note(new, old)
        for hook in self._env.hooks:
            hook.mutate("UPDATE", kind, new, old)
        count_generation(kind, new, old)
        return errors + self._wrong("UPDATE", target, new, old, options)

    def _prepare_status(self, target: Target, new: JsonObject, found: Found, note: Note) -> list[FieldError]:
        """Everything but the status is put back, as it is shared by all who read it; of metadata, built-in kinds take
        what is not anybody's to keep."""
        kind, old = target.kind, found.object
        status, asked = new.get("status"), new["metadata"]
        new.clear()
        new.update(old)
        new["metadata"] = dict(old["metadata"])
        new.pop("status", None)
        if status is not None:
            new["status"] = status
        if kind.custom:
            new["metadata"][MANAGED] = asked.get(MANAGED)
            note(new, found.object)
            return kind.wrong_status(target.version, new, found.object)
        errors = metadata.keep(asked, old["metadata"])
        asked.pop("ownerReferences", None)
        if "ownerReferences" in old["metadata"]:
            asked["ownerReferences"] = old["metadata"]["ownerReferences"]
        new["metadata"] = asked
        fill_status(kind, new)
        note(new, found.object)
        return errors

    def _complete(self, target: Target, new: JsonObject, options: WriteOptions, note: Note) -> None:
        """Everything between the body of a create and its write. ApiError 400, 403, 422."""
        env, kind, found = self._env, target.kind, new["metadata"]
        life = lifecycle(kind)
        name = found.get("name", "")
        if not name:
            missing = FieldError("metadata.name", "name or generateName is required", "FieldValueRequired")
            raise invalid_object(kind, "", [missing])
        metadata.begin(found, uid=env.new_uid(), now=env.now(), counted=life.counts_generation)
        if "status" in kind.subresources_in(target.version) and not life.keeps_status:
            new.pop("status", None)
            if not kind.custom:
                new["status"] = {}
        kind.fill(target.version, new)
        note(new, None)
        admission.admit_priority(env, kind, new)
        for hook in env.hooks:
            hook.mutate("CREATE", kind, new, None)
        default_limits(env, kind, new)
        life.on_create(new)
        fill_status(kind, new)
        errors = admission.admit_address(env, kind, new) + self._wrong("CREATE", target, new, None, options)
        if errors:
            raise invalid_object(kind, name, errors)
        check_limits(env, kind, new, None)

    async def _reviewed(
        self, target: Target, new: JsonObject, old: JsonObject | None, options: WriteOptions
    ) -> JsonObject:
        """A new object as webhooks let it in, checked again where they changed it. ApiError: refused, or made wrong."""
        operation = operation_of("CREATE", target, new, old, options)
        mutated = await self._env.webhooks.mutate(operation, options.warn)
        if mutated is not None:
            kind, was = target.kind, new["metadata"]
            new = mutated
            for key in ("name", "namespace", "uid", "creationTimestamp", "generation"):
                if key in was:
                    new["metadata"][key] = was[key]
            kind.fill(target.version, new)
            fill_status(kind, new)
            errors = self._wrong("CREATE", target, new, None, options)
            if errors:
                raise invalid_object(kind, was["name"], errors)
            check_limits(self._env, kind, new, None)
            operation = replace(operation, new=new)
        await self._env.webhooks.validate(operation, options.warn)
        return new

    def _wrong(
        self, operation: Operation, target: Target, new: JsonObject, old: JsonObject | None, options: WriteOptions
    ) -> list[FieldError]:
        kind = target.kind
        check_grant(self._env.policies.now(), options.user, kind, new, old)
        errors = kind.wrong(target.version, new, old)
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


def operation_of(
    verb: str, target: Target, new: JsonObject | None, old: JsonObject | None, options: WriteOptions | DeleteOptions
) -> Review:
    """What webhooks are asked about."""
    found = (new or old or {})["metadata"]
    said: JsonObject = {"kind": f"{verb.capitalize()}Options", "apiVersion": "meta.k8s.io/v1"}
    if options.dry_run:
        said["dryRun"] = ["All"]
    place = found.get("namespace", ""), found.get("name", "")
    return Review(verb, target, *place, new, old, options.user, options.dry_run, said)


def _is_unchanged(new: JsonObject, old: JsonObject) -> bool:
    """Whether a write would change nothing, but for the times of managers that are as they were."""
    found, there = new["metadata"], old["metadata"].get(MANAGED)
    noted = found.pop(MANAGED, None)
    if there is not None:
        found[MANAGED] = there
    if same(new, old) and (noted is there or same_but_time(decode(managed_text(noted)), decode(managed_text(there)))):
        return True
    found.pop(MANAGED, None)
    if noted is not None:
        found[MANAGED] = noted
    return False


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
        passed = ("metadata", "status") if "status" in kind.subresources else ("metadata",)
        ours = {key for key in (*new, *old) if key not in passed}
        changed = any(new.get(key) != old.get(key) for key in ours)
    else:
        changed = new.get("spec") != old.get("spec")
    generation = old["metadata"].get("generation", 0)
    new["metadata"]["generation"] = generation + 1 if changed else generation


def _key(kind: Kind, obj: JsonObject) -> str:
    return key_of(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
