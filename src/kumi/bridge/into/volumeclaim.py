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
           without one; a class those that name it. A volume or a class is read as it comes, so that one that can't be read
           is an error of its own and of no claim.
Cost       O(claims without a volume x volumes) for a change of a volume or class; O(1) for most.
Source     Kubernetes: volume binding in scheduling, persistent volume node affinity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, product

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim, StorageClass
from kumi.api.errors import KumiError
from kumi.api.meta import Object
from kumi.api.volumes import ONE_NODE, ONE_POD, candidates, exclusive
from kumi.bridge.into.neighbours import requirement
from kumi.engine import model
from kumi.engine.selectors import affinity_holds

TYPES: tuple[type[Object], ...] = (StorageClass, PersistentVolume, PersistentVolumeClaim)
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
        self._reached: dict[str, model.Terms | None] = {}
        """volume -> where it can be reached from"""
        self._allowed: dict[str, model.Terms | None] = {}
        """class -> where it makes volumes"""
        self._unbound: dict[str, None] = {}

    def deltas(self, old: Object | None, new: Object | None) -> list[model.Delta]:
        """What a change of one of TYPES means. One that is known as it is gives the same deltas again. KumiError if the new one
        can't be read: nothing has changed then."""
        obj = new if new is not None else old
        gone = new is None
        match obj:
            case PersistentVolumeClaim():
                return self._claim(obj, gone=gone)
            case PersistentVolume():
                before = self._volumes.get(obj.metadata.name)
                self._volume(obj, gone=gone)
                return self._again(*(_claim_of(one) for one in (before, obj) if one is not None))
            case StorageClass():
                self._class(obj, gone=gone)
                return self._again()
        raise TypeError(f"no claim depends on {type(obj).__name__}")

    def _volume(self, volume: PersistentVolume, *, gone: bool) -> None:
        name = volume.metadata.name
        if gone:
            self._volumes.pop(name, None)
            self._reached.pop(name, None)
        else:
            self._reached[name] = terms_of(volume)
            self._volumes[name] = volume

    def _class(self, class_: StorageClass, *, gone: bool) -> None:
        name = class_.metadata.name
        if gone:
            self._classes.pop(name, None)
            self._allowed.pop(name, None)
        else:
            self._allowed[name] = allowed(class_)
            self._classes[name] = class_

    def _claim(self, claim: PersistentVolumeClaim, *, gone: bool) -> list[model.Delta]:
        self._unbound.pop(claim.key, None)
        if gone:
            self._claims.pop(claim.key, None)
            return [model.Remove(model.VolumeClaim, claim.key)]
        self._claims[claim.key] = claim
        if not _is_bound(claim):
            self._unbound[claim.key] = None
        return [model.Put(self._noun(claim))]

    def _again(self, *others: str) -> list[model.Delta]:
        """The claims without a volume, and those others."""
        keys = {*others, *self._unbound}
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
                self._reached[volume.metadata.name],
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
            return self._allowed[class_.metadata.name]
        return union([self._reached[volume.metadata.name] for volume in candidates(claim, self._volumes.values())])


def union(all_terms: Sequence[model.Terms | None]) -> model.Terms | None:
    """Where one of these holds."""
    known = [terms for terms in all_terms if terms is not None]
    if len(known) < len(all_terms):
        return None
    return tuple(dict.fromkeys(term for terms in known for term in terms))


def terms_of(volume: PersistentVolume) -> model.Terms | None:
    """The terms of a volume's node affinity; None: it can be reached from everywhere. KumiError for one that can't be read."""
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


def allowed(class_: StorageClass) -> model.Terms | None:
    """Where a class makes volumes; None: everywhere. A term that says nothing means no place. KumiError for one that can't be
    read."""
    if not class_.allowed_topologies:
        return None
    terms = (
        tuple(requirement({**said, "operator": "In"}) for said in term.get("matchLabelExpressions") or ())
        for term in class_.allowed_topologies
    )
    return tuple(term for term in terms if term)


def _attached(volume: PersistentVolume) -> tuple[str, str]:
    """The driver that attaches it and what that calls it."""
    said = volume.spec.csi or {}
    return str(said.get("driver") or ""), str(said.get("volumeHandle") or "")


def reachable(volume: PersistentVolume, labels: Mapping[str, str]) -> bool:
    """Whether a volume can be reached from a node with these labels; one whose affinity can't be read from none."""
    try:
        return affinity_holds(terms_of(volume), labels)
    except KumiError:
        return False


def _claim_of(volume: PersistentVolume) -> str:
    named = volume.spec.claim_ref or {}
    return f"{named.get('namespace', '')}/{named.get('name', '')}"


def _is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and claim.status.phase == "Bound"
