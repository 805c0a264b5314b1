"""delete, deletecollection: how an object goes.

The rule, for the object as it is when the deletion is written:
    1 preconditions: uid and resourceVersion, if the caller gave them
    2 propagation as a finalizer: Foreground adds `foregroundDeletion`, Orphan adds `orphan`, Background takes both out;
      the garbage collector does what they say and takes them out
    3 a kind with grace (pods): the object is marked with deletionTimestamp = now + grace and waits; a second deletion can
      only shorten the wait, and takes no other propagation; with grace 0 it is marked and goes
    4 finalizers left (or what else holds its kind): it is marked, once, and stays until the last is taken out
    5 nothing holds it: it is removed
A mark and a removal at once (3) are two writes: watchers see the mark, as they do elsewhere. `finish` makes up for a crash
between the two.
Answer     the object where it was only marked, or where its kind answers so; else a Status with its uid
Source     Kubernetes: finalizers, garbage collection, pod termination; its behaviour as recorded.
"""

from __future__ import annotations

from typing import NamedTuple

from kumi.api.errors import ApiError, FieldError, conflict, not_found
from kumi.api.meta import format_time, parse_time
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.environment import Environment
from kumi.registry.hooks import DeletionHook
from kumi.registry.kinds.lifecycle import Lifecycle, lifecycle
from kumi.registry.objects import Found, prefix_of
from kumi.registry.refusals import forbidden, invalid_options, precondition_failed
from kumi.registry.requests import DeleteOptions, Target
from kumi.registry.writing import ROUNDS, is_released, operation_of
from kumi.store.base import Conflict

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
POLICIES = ("Foreground", "Background", "Orphan")


class Step(NamedTuple):
    """What a deletion does to an object: `marked` is written if it is not None, then the object is removed if `remove`."""

    marked: JsonObject | None
    remove: bool


class Deleting:
    """The verbs that delete."""

    def __init__(self, env: Environment) -> None:
        self._env = env

    async def delete(self, target: Target, options: DeleteOptions) -> JsonObject:
        """The object if it stays for now or its kind answers so, else a Status; in the stored version.

        ApiError 403, 404, 409, 422."""
        kind, life = target.kind, lifecycle(target.kind)
        if options.propagation not in ("", *POLICIES):
            detail = "supported values: " + ", ".join(f'"{policy}"' for policy in (*POLICIES, "nil"))
            wrong = FieldError("propagationPolicy", detail, "FieldValueNotSupported", options.propagation)
            raise invalid_options("DeleteOptions", wrong)
        if target.name in life.protected:
            raise forbidden(kind, target.name, "this namespace may not be deleted")
        for _ in range(ROUNDS):
            found = self._env.objects.get(kind, target.namespace, target.name)
            if found is None:
                raise not_found(kind.plural, target.name, kind.group)
            check_preconditions(kind, target.name, found, options)
            for hook in self._env.hooks:
                if isinstance(hook, DeletionHook):
                    hook.deleting(kind, found.object)
            operation = operation_of("DELETE", target, None, found.object, options)
            await self._env.webhooks.mutate(operation, lambda _: None)
            await self._env.webhooks.validate(operation, lambda _: None)
            step = next_step(kind, found, options, self._env.clock_ms())
            try:
                return await self._take(kind, life, found, step, options.dry_run)
            except Conflict:
                continue
        raise conflict(kind.plural, target.name, kind.group)

    async def delete_if_there(self, target: Target, options: DeleteOptions) -> None:
        """As delete; what is not there is as good as deleted."""
        try:
            await self.delete(target, options)
        except ApiError as error:
            if error.code != 404:
                raise

    async def finish(self, kind: Kind) -> None:
        """Removes what is marked and has nothing that holds it: the end of a deletion that a crash cut in two."""
        for entry in self._env.objects.page(prefix_of(kind, "")).entries:
            if b'"deletionTimestamp"' not in entry.value:
                continue
            if is_released(lifecycle(kind), self._env.objects.listed(entry)):
                await self._env.objects.remove(entry.key, entry.revision)

    async def _take(self, kind: Kind, life: Lifecycle, found: Found, step: Step, dry_run: bool) -> JsonObject:
        objects = self._env.objects
        left, revision = found.object if step.marked is None else step.marked, found.revision
        if not dry_run:
            if step.marked is not None:
                left = await objects.put(found.key, step.marked, found.revision)
                revision = int(left["metadata"]["resourceVersion"])
            if step.remove:
                await self._remove(kind, found, revision)
        return left if not step.remove or life.answers_object else removed(kind, left)

    async def _remove(self, kind: Kind, found: Found, revision: int) -> None:
        """Removes it; whoever saw the mark may have done so before (a node whose pod is over does). Conflict: it changed."""
        try:
            await self._env.objects.remove(found.key, revision)
        except Conflict:
            meta = found.object["metadata"]
            there = self._env.objects.get(kind, meta.get("namespace", ""), meta["name"])
            if there is not None and there.object["metadata"]["uid"] == meta["uid"]:
                raise


def next_step(kind: Kind, found: Found, options: DeleteOptions, now_ms: int) -> Step:
    """The rule of the module from 2 on, pure."""
    life, there = lifecycle(kind), found.object["metadata"]
    if life.grace is not None and there.get("deletionTimestamp"):
        return _hasten(found, options.grace_seconds)
    new = found.copy()
    mark = new["metadata"]
    finalizers = _finalizers(there.get("finalizers") or [], options.propagation, life.orphans)
    mark.pop("finalizers", None)
    if finalizers:
        mark["finalizers"] = finalizers
    seconds = 0 if life.grace is None else life.grace(found.object, options.grace_seconds)
    if life.grace is None and not finalizers and not life.held(new):
        return Step(None, True)
    if not there.get("deletionTimestamp"):
        mark["deletionTimestamp"] = format_time(now_ms + 1000 * seconds)
        if "generation" in mark:
            mark["generation"] += 1
        life.marked(new)
    if life.grace is not None or finalizers:
        mark["deletionGracePeriodSeconds"] = seconds
    if new == found.object:
        return Step(None, False)
    return Step(new, is_released(life, new))


def removed(kind: Kind, obj: JsonObject) -> JsonObject:
    """The Status that answers a deletion that is done."""
    metadata = obj["metadata"]
    details = {"name": metadata["name"], "group": kind.group, "kind": kind.plural, "uid": metadata["uid"]}
    if not kind.group:
        del details["group"]
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def _hasten(found: Found, asked: int | None) -> Step:
    """A deletion of what is already waiting for its grace to end."""
    there = found.object["metadata"]
    grace = there.get("deletionGracePeriodSeconds") or 0
    if grace == 0 and not there.get("finalizers"):
        return Step(None, True)
    if asked is None or max(asked, 0) >= grace:
        return Step(None, False)
    new = found.copy()
    seconds = max(asked, 0)
    due_ms = (parse_time(there["deletionTimestamp"]) or 0) - 1000 * (grace - seconds)
    new["metadata"]["deletionTimestamp"] = format_time(due_ms)
    new["metadata"]["deletionGracePeriodSeconds"] = seconds
    return Step(new, seconds == 0 and not there.get("finalizers"))


def _finalizers(there: list[str], propagation: str, orphans: bool) -> list[str]:
    """Those of the object, with the one that the propagation asks for; saying nothing leaves those that are there."""
    if not propagation:
        said = next((name for name in there if name in (ORPHAN, FOREGROUND)), ORPHAN if orphans else "")
    else:
        said = {"Orphan": ORPHAN, "Foreground": FOREGROUND}.get(propagation, "")
    rest = [name for name in there if name not in (ORPHAN, FOREGROUND)]
    return [*rest, said] if said else rest


def check_preconditions(kind: Kind, name: str, found: Found, options: DeleteOptions) -> None:
    """ApiError 409 for another object than the one that was meant."""
    uid = found.object["metadata"]["uid"]
    if options.uid and options.uid != uid:
        raise precondition_failed(kind, name, "UID", options.uid, uid)
    if options.revision and options.revision != str(found.revision):
        raise precondition_failed(kind, name, "ResourceVersion", options.revision, str(found.revision))
