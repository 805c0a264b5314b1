"""PersistentVolumeClaim, its volume and its class -> VolumeClaim: whether pods that name it may be placed, and where.

The rule   waits      `deleted`   it is being deleted: what uses it goes on, nothing new may begin
                      `lost`      its volume is gone
                      `unbound`   it has no volume, and gets one without a pod's doing
                      ""          it has a volume, or gets one once a pod that uses it has a node
           nodes      those from which its volume can be reached: the terms of the volume's node affinity. Of one that gets its
                      volume later: those of all volumes that it may get; where its class makes one, where the class allows it
           zones      the nodes in the zone and region that the labels of its volume say (several values with `__` between):
                      under the same key, or the older or newer name of it; and those that say none
           driver     of a CSI volume, with its handle; of one that its class makes later the class's provisioner
           exclusive  of the volume's access modes (kumi.api.volumes)
Kept       VolumeClaims holds claims, volumes and classes, since a change of one concerns others: a volume its claim, and claims
           without one; a class those that name it.
Cost       O(claims without a volume x volumes) for a change of a volume or class; O(1) for most.
Source     Kubernetes: volume binding in scheduling, persistent volume node affinity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import TypeVar

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim, StorageClass
from kumi.api.meta import Object
from kumi.api.volumes import ONE_NODE, ONE_POD, candidates, exclusive
from kumi.bridge.into.neighbours import requirement
from kumi.engine import model
from kumi.engine.selectors import affinity_holds

TYPES: tuple[type[Object], ...] = (StorageClass, PersistentVolume, PersistentVolumeClaim)
T = TypeVar("T", bound=Object)
WAITS = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
SAME = {ZONE: OLD_ZONE, OLD_ZONE: ZONE, REGION: OLD_REGION, OLD_REGION: REGION}
"""the labels that say where a volume is, and the other name of each"""
EXCLUSIVE = {"": model.Exclusive.NO, ONE_NODE: model.Exclusive.NODE, ONE_POD: model.Exclusive.POD}


class VolumeClaims:
    """See the module."""

    def __init__(self) -> None:
        self._claims: dict[str, PersistentVolumeClaim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._classes: dict[str, StorageClass] = {}
        self._unbound: dict[str, None] = {}

    def deltas(self, old: Object | None, new: Object | None) -> list[model.Delta]:
        """What a change of one of TYPES means. One that is known as it is gives the same deltas again."""
        obj = new if new is not None else old
        gone = new is None
        match obj:
            case PersistentVolumeClaim():
                return self._claim(obj, gone=gone)
            case PersistentVolume():
                _keep(self._volumes, obj.metadata.name, None if gone else obj)
                return self._again(obj.metadata.name, self._unbound)
            case StorageClass():
                _keep(self._classes, obj.metadata.name, None if gone else obj)
                return self._again("", self._unbound)
        raise TypeError(f"no claim depends on {type(obj).__name__}")

    def _claim(self, claim: PersistentVolumeClaim, *, gone: bool) -> list[model.Delta]:
        _keep(self._claims, claim.key, None if gone else claim)
        self._unbound.pop(claim.key, None)
        if gone:
            return [model.Remove(model.VolumeClaim, claim.key)]
        if not _is_bound(claim):
            self._unbound[claim.key] = None
        return [model.Put(self._noun(claim))]

    def _again(self, volume: str, others: Mapping[str, None]) -> list[model.Delta]:
        """The claim that has this volume, and those others."""
        found = self._volumes.get(volume)
        named = (found.spec.claim_ref or {}) if found is not None else {}
        keys = {f"{named.get('namespace', '')}/{named.get('name', '')}", *others}
        return [model.Put(self._noun(self._claims[key])) for key in sorted(keys) if key in self._claims]

    def _noun(self, claim: PersistentVolumeClaim) -> model.VolumeClaim:
        volume = self._volumes.get(claim.spec.volume_name)
        going = "deleted" if claim.metadata.deletion_timestamp is not None else ""
        if _is_bound(claim):
            if volume is None:
                return model.VolumeClaim(claim.key, going or "lost")
            return model.VolumeClaim(
                claim.key,
                going,
                terms_of(volume),
                EXCLUSIVE[exclusive(volume.spec.access_modes)],
                zones_of(volume),
                *_attached(volume),
            )
        if claim.status.phase == "Lost":
            return model.VolumeClaim(claim.key, going or "lost")
        class_ = self._classes.get(claim.spec.storage_class_name or "")
        if class_ is None or class_.volume_binding_mode != WAITS or claim.spec.volume_name:
            return model.VolumeClaim(claim.key, going or "unbound")
        return model.VolumeClaim(
            claim.key,
            going,
            self._later(claim, class_),
            EXCLUSIVE[exclusive(claim.spec.access_modes)],
            driver="" if class_.provisioner == NO_PROVISIONER else class_.provisioner,
        )

    def _later(self, claim: PersistentVolumeClaim, class_: StorageClass) -> model.Terms | None:
        """Where the volumes can be reached that a claim may get."""
        if class_.provisioner != NO_PROVISIONER:
            return _allowed(class_)
        return union([terms_of(volume) for volume in candidates(claim, self._volumes.values())])


def union(all_terms: Sequence[model.Terms | None]) -> model.Terms | None:
    """Where one of these holds."""
    known = [terms for terms in all_terms if terms is not None]
    if len(known) < len(all_terms):
        return None
    return tuple(dict.fromkeys(term for terms in known for term in terms))


def terms_of(volume: PersistentVolume) -> model.Terms | None:
    """The terms of a volume's node affinity; None: it can be reached from everywhere."""
    required = (volume.spec.node_affinity or {}).get("required")
    if not required:
        return None
    terms = [
        tuple(requirement(e) for key in ("matchExpressions", "matchFields") for e in term.get(key) or ())
        for term in required.get("nodeSelectorTerms") or ()
    ]
    return tuple(term for term in terms if term)


def zones_of(volume: PersistentVolume) -> model.Terms | None:
    """The terms that stand for the labels of a volume; None: they say no zone and no region."""
    said = [(key, tuple(value.split("__"))) for key, value in volume.metadata.labels.items() if key in SAME]
    if not said:
        return None
    ways = [
        (
            (model.Requirement(key, "In", values),),
            (model.Requirement(key, "DoesNotExist"), model.Requirement(SAME[key], "In", values)),
        )
        for key, values in sorted(said)
    ]
    nowhere = tuple(model.Requirement(key, "DoesNotExist") for key in sorted(SAME))
    return (nowhere, *(tuple(chain.from_iterable(way)) for way in product(*ways)))


def _allowed(class_: StorageClass) -> model.Terms | None:
    """Where a class makes volumes; None: everywhere."""
    terms = [
        tuple(model.Requirement(str(e["key"]), "In", tuple(e.get("values") or ())) for e in said)
        for term in class_.allowed_topologies
        if (said := term.get("matchLabelExpressions"))
    ]
    return tuple(terms) or None


def _attached(volume: PersistentVolume) -> tuple[str, str]:
    """The driver that attaches it and what that calls it."""
    said = volume.spec.csi or {}
    return str(said.get("driver") or ""), str(said.get("volumeHandle") or "")


def reachable(volume: PersistentVolume, labels: Mapping[str, str]) -> bool:
    """Whether a volume can be reached from a node with these labels."""
    return affinity_holds(terms_of(volume), labels)


def _is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and claim.status.phase == "Bound"


def _keep(table: dict[str, T], key: str, obj: T | None) -> None:
    if obj is None:
        table.pop(key, None)
    else:
        table[key] = obj
