"""The graph of who owns whom, kept from changes: what the garbage collector decides on.

The rule   an object is known by its uid; its owner references are edges to uids, whether or not the owner is known yet
           an owner is, for one of its dependents,
             SOLID      there, and not waiting for its dependents to go; or of a kind that nobody watches here
             WAITING    being deleted in the foreground: it goes when its dependents have gone
             ABSENT     seen deleted, or in another namespace, or unknown though the watch of its kind is at the dependent's
                        revision or past it; where that can't be told, unknown for longer than ABSENT_MS
             UNCERTAIN  unknown so far: the watch of its kind may be behind
Why        Watches of two kinds are not in step: a dependent may be seen before its owner. But an owner was there before its
           dependent named it, so a watch that has come to the dependent's revision has shown every owner that it has.
           A uid is never used again, so one that was seen deleted is gone for good, whoever has its name by now.
Cost       O(owners) a change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kumi.api.apiextensions import CustomObject, CustomResourceDefinition, custom_kind_of, kind_defined_by
from kumi.api.meta import Object, OwnerReference
from kumi.api.scheme import Kind, Scheme
from kumi.runtime.revisions import reached

ABSENT_MS = 5000
"""how long an owner may be unknown before it counts as absent"""
FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


class Owner(Enum):
    """What an owner is for one of its dependents."""

    SOLID = "solid"
    WAITING = "waiting"
    ABSENT = "absent"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Owned:
    """An object as the graph knows it."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    version: str
    owners: tuple[OwnerReference, ...]
    finalizers: tuple[str, ...]
    deleting: bool

    @property
    def order(self) -> tuple[str, str, str, str]:
        """A unique order."""
        return (self.kind.resource, self.namespace, self.name, self.uid)


@dataclass
class Graph:
    """See the module."""

    scheme: Scheme
    objects: dict[str, Owned] = field(default_factory=dict)
    dependents: dict[str, dict[str, None]] = field(default_factory=dict)
    gone: dict[str, None] = field(default_factory=dict)
    unknown_ms: dict[str, int] = field(default_factory=dict)
    seen: dict[tuple[str, str], str] = field(default_factory=dict)
    """group and kind -> the revision up to which everything was seen"""
    defined: dict[tuple[str, str], None] = field(default_factory=dict)
    """groups and kinds that others define, or once did"""

    def define(self, definition: Object) -> None:
        """A kind that others define is watched from now on."""
        kind = kind_defined_by(definition) if isinstance(definition, CustomResourceDefinition) else None
        if kind is not None:
            self.defined[kind.group, kind.kind] = None

    def put(self, obj: Object) -> Owned:
        """It is there, or it changed."""
        meta = obj.metadata
        made = Owned(
            custom_kind_of(obj) if isinstance(obj, CustomObject) else self.scheme.of(type(obj)),
            meta.namespace,
            meta.name,
            meta.uid,
            meta.resource_version,
            tuple(meta.owner_references),
            tuple(meta.finalizers),
            meta.deletion_timestamp is not None,
        )
        before = self.objects.get(meta.uid)
        self.objects[meta.uid] = made
        self.unknown_ms.pop(meta.uid, None)
        if before is None or before.owners != made.owners:
            self._unlink(before)
            for owner in made.owners:
                self.dependents.setdefault(owner.uid, {})[meta.uid] = None
        return made

    def remove(self, uid: str) -> Owned | None:
        """It is gone for good."""
        before = self.objects.pop(uid, None)
        self._unlink(before)
        if self.dependents.get(uid):
            self.gone[uid] = None
        return before

    def dependents_of(self, uid: str) -> list[Owned]:
        """Those that name it as an owner, in their order."""
        return sorted((self.objects[d] for d in self.dependents.get(uid, ())), key=lambda o: o.order)

    def owner(self, reference: OwnerReference, dependent: Owned, now_ms: int) -> Owner:
        """What this owner is for that dependent. The first look at an unknown one starts its time."""
        group = reference.api_version.rpartition("/")[0]
        found = self.objects.get(reference.uid)
        known = self.scheme.find(group, reference.kind) is not None or (group, reference.kind) in self.defined
        if found is None and not known and reference.uid not in self.gone:
            return Owner.SOLID
        if found is None:
            if reference.uid in self.gone:
                return Owner.ABSENT
            passed = reached(self.seen.get((group, reference.kind), "-"), dependent.version)
            if passed is not None:
                return Owner.ABSENT if passed else Owner.UNCERTAIN
            since_ms = self.unknown_ms.setdefault(reference.uid, now_ms)
            return Owner.ABSENT if now_ms - since_ms >= ABSENT_MS else Owner.UNCERTAIN
        if found.kind.namespaced and found.namespace != dependent.namespace:
            return Owner.ABSENT
        return Owner.WAITING if found.deleting and FOREGROUND in found.finalizers else Owner.SOLID

    def _unlink(self, before: Owned | None) -> None:
        for owner in before.owners if before is not None else ():
            left = self.dependents.get(owner.uid, {})
            left.pop(before.uid if before is not None else "", None)
            if not left:
                self.dependents.pop(owner.uid, None)
                self.gone.pop(owner.uid, None)
                self.unknown_ms.pop(owner.uid, None)
