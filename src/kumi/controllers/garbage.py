"""The garbage collector: what nobody owns any more goes.

The rule, for an object with owners that is not being deleted:
             an owner is uncertain      wait
             one is solid               references to absent and waiting owners are taken off
             one has left its dependents (orphan)      its reference is taken off
             none is                    it is deleted; in the foreground if an owner waits and it has dependents itself
         for one that is being deleted, with the finalizer
             orphan                     its dependents lose their reference to it, then the finalizer goes
             foregroundDeletion         its dependents are deleted; when none that blocks it is left the finalizer goes
Why        Every write is conditional on uid and version: a dependent that was adopted, or an owner made anew under the name,
           is safe.
Order      By kind, namespace, name, uid.
Cost       O(owners + dependents) of what changed.
Source     Kubernetes: garbage collection, owners and dependents.
Not here   the graph: ownership.py. Finalizers that a delete adds: the registry.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kumi.api.apiextensions import CustomObject, CustomResourceDefinition
from kumi.api.core import Event
from kumi.api.measures import Family, one
from kumi.api.meta import Object, OwnerReference
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.controllers.ownership import ABSENT_MS, FOREGROUND, ORPHAN, Graph, Owned, Owner
from kumi.runtime.client import Propagation
from kumi.runtime.decider import Batch, Step
from kumi.runtime.reconcile import Delete, Patch, Write

RETRY_MS = 1000
"""when to try again what was refused"""
LOOK_MS = 1000
"""when to look again whether a watch has come far enough"""
REMEMBERED = 10_000
"""owners of which it is remembered that they left their dependents"""


class GarbageCollector:
    """See the module and kumi.runtime.decider.Decider.

    It watches every kind of the scheme but events, which own nothing, and all kinds that others define."""

    name = "kumi-garbage-collector"

    def __init__(self, scheme: Scheme) -> None:
        own = (kind.type for kind in scheme if kind.type is not Event and kind.twin is None)
        self._types: tuple[type[Object], ...] = (*own, CustomObject)
        self._scheme = scheme
        self._graph = Graph(scheme)
        self._dirty: dict[str, None] = {}
        self._later: dict[str, None] = {}
        self._refused: dict[str, None] = {}
        self._orphaned: dict[str, None] = {}
        """owners that left their dependents, the ones not seen yet too"""
        self._retry_ms = 0
        self._now_ms = 0

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return self._types

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if type_ is CustomResourceDefinition and new is not None:
            self._graph.define(new)
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._touch(self._graph.remove(old.metadata.uid))
        if new is not None:
            before = self._graph.objects.get(new.metadata.uid)
            if before is not None and before.owners != tuple(new.metadata.owner_references):
                self._touch(before)
            self._touch(self._graph.put(new))

    def reached(self, type_: type[Object], revision: str) -> None:
        """See kumi.runtime.decider.Follower."""
        if type_ is not CustomObject:
            kind = self._scheme.of(type_)
            self._graph.seen[kind.group, kind.kind] = revision

    def decide(self, now_ms: int) -> Batch:
        """See Decider."""
        self._now_ms = now_ms
        if now_ms >= self._retry_ms:
            self._dirty.update(self._refused)
            self._refused.clear()
        self._dirty.update(self._later)
        self._later.clear()
        looked_at = [self._graph.objects[uid] for uid in self._dirty if uid in self._graph.objects]
        self._dirty.clear()
        steps = []
        for owned in sorted(looked_at, key=lambda o: o.order):
            writes = self._dying(owned) if owned.deleting else self._living(owned, now_ms)
            if writes:
                steps.append(Step(owned.uid, tuple(writes)))
        return Batch(tuple(steps), self._wake(now_ms))

    def settle(self, token: str, ok: bool, error: str) -> None:
        """See Decider."""
        if not ok:
            self._retry_ms = self._retry_ms if self._refused else self._now_ms + RETRY_MS
            self._refused[token] = None

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        known, waiting = len(self._graph.objects), len(self._dirty) + len(self._later) + len(self._refused)
        yield one("kumi_garbage_collector_objects", "Objects whose owners are known.", "gauge", known)
        yield one("kumi_garbage_collector_pending", "Objects that are to be looked at again.", "gauge", waiting)

    def _touch(self, owned: Owned | None) -> None:
        """Looks again at an object, its owners and its dependents."""
        if owned is None:
            return
        self._dirty[owned.uid] = None
        for owner in owned.owners:
            self._dirty[owner.uid] = None
        self._dirty.update(self._graph.dependents.get(owned.uid, {}))

    def _living(self, owned: Owned, now_ms: int) -> list[Write]:
        if not owned.owners:
            return []
        standing = [(owner, self._graph.owner(owner, owned, now_ms)) for owner in owned.owners]
        if any(is_ is Owner.UNCERTAIN for _, is_ in standing):
            self._later[owned.uid] = None
            return []
        solid = [owner for owner, is_ in standing if is_ is Owner.SOLID]
        if len(solid) == len(standing):
            return []
        if solid or any(owner.uid in self._orphaned for owner, _ in standing):
            return [_with_owners(owned, solid)]
        waits = any(is_ is Owner.WAITING for _, is_ in standing)
        has_dependents = bool(self._graph.dependents.get(owned.uid))
        return [_delete(owned, "Foreground" if waits and has_dependents else "Background")]

    def _dying(self, owned: Owned) -> list[Write]:
        if ORPHAN in owned.finalizers:
            dependents = self._graph.dependents_of(owned.uid)
            freed: list[Write] = [_with_owners(d, [o for o in d.owners if o.uid != owned.uid]) for d in dependents]
            if freed:
                return freed
            self._orphaned[owned.uid] = None
            if len(self._orphaned) > REMEMBERED:
                del self._orphaned[next(iter(self._orphaned))]
            return [_without_finalizer(owned, ORPHAN)]
        if FOREGROUND in owned.finalizers:
            dependents = self._graph.dependents_of(owned.uid)
            blocking = [d for d in dependents if any(o.uid == owned.uid and o.block_owner_deletion for o in d.owners)]
            return [] if blocking else [_without_finalizer(owned, FOREGROUND)]
        return []

    def _wake(self, now_ms: int) -> int | None:
        times = []
        if self._later:
            since = [
                self._graph.unknown_ms[owner.uid]
                for uid in self._later
                for owner in self._graph.objects[uid].owners
                if owner.uid in self._graph.unknown_ms
            ]
            times.append(max(now_ms + 1, min(since, default=now_ms + LOOK_MS - ABSENT_MS) + ABSENT_MS))
        if self._refused:
            times.append(self._retry_ms)
        return min(times, default=None)


def _delete(owned: Owned, propagation: Propagation) -> Delete:
    return Delete(owned.kind, owned.namespace, owned.name, owned.uid, propagation=propagation, revision=owned.version)


def _with_owners(owned: Owned, owners: list[OwnerReference]) -> Patch:
    left: list[JsonObject] = [{k: v for k, v in msgspec.to_builtins(o).items() if v is not None} for o in owners]
    return _meta_patch(owned, {"ownerReferences": left or None})


def _without_finalizer(owned: Owned, finalizer: str) -> Patch:
    left = [f for f in owned.finalizers if f != finalizer]
    return _meta_patch(owned, {"finalizers": left or None})


def _meta_patch(owned: Owned, fields: JsonObject) -> Patch:
    body = {"metadata": {"resourceVersion": owned.version, **fields}}
    return Patch(owned.kind, owned.namespace, owned.name, body)
