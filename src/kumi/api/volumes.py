"""Which volume may serve which claim, and which claims a pod names: values in, values out, for every room that needs to know.

The rule, for a claim c and a volume v:
    fits      v's class is c's (none where c has "" or none); v has all of c's access modes, c's volume mode, at least c's
              storage, and the labels that c's selector asks for; it is not being deleted
    meant     v's claimRef names c; then it is c's, whatever its size, class and labels
    best      one that is meant, else the smallest that fits and is nobody's
Order and ties  by capacity, then by name.
Classes   a claim that names none is of the default class: of several that are marked so, the newest, then the first by name.
Source    Kubernetes: persistent volumes (binding, classes, selectors), storage classes (default).
Not here  where a volume can be reached: bridge/into/claim.py. Making volumes: controllers/claims.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim, StorageClass
from kumi.api.meta import LabelSelector
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.claims import OWN_DRIVER
from kumi.api.wire import JsonObject

LOCAL = OWN_DRIVER
"""the provisioner of claims on directories of this machine, and the driver of such volumes"""
PROTECTED = "kubernetes.io/pv-protection"
"""finalizer of a volume: its controllers take it out when it is no claim's any more"""
DIRECTORY = "kumi.dev/directory"
"""finalizer of a LOCAL volume: whoever has the directory removes it, if it is to go, and then takes this out"""
IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
STORAGE = "storage"
READ_ONLY, ONE_POD, ONE_NODE = "ReadOnlyMany", "ReadWriteOncePod", "ReadWriteOnce"


def claims_of(pod_name: str, volumes: Iterable[JsonObject]) -> dict[str, str]:
    """volume -> the name of its claim, of the volumes of a pod that have one; one that is made with the pod has its name from
    both."""
    found = {}
    for volume in volumes:
        if volume.get("persistentVolumeClaim"):
            found[str(volume["name"])] = str(volume["persistentVolumeClaim"].get("claimName") or "")
        elif volume.get("ephemeral"):
            found[str(volume["name"])] = f"{pod_name}-{volume['name']}"
    return found


def default_class(classes: Iterable[StorageClass]) -> StorageClass | None:
    """See the module."""
    marked = [c for c in classes if c.metadata.annotations.get(IS_DEFAULT) == "true"]
    marked.sort(key=lambda c: c.metadata.name)
    return max(marked, key=lambda c: c.metadata.creation_timestamp or "", default=None)


def is_meant(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Whether the volume is kept for this claim, or is its own."""
    reference = volume.spec.claim_ref or {}
    meta = claim.metadata
    named = (reference.get("namespace"), reference.get("name")) == (meta.namespace, meta.name)
    return named and reference.get("uid") in (None, "", meta.uid)


def misfit(claim: PersistentVolumeClaim, volume: PersistentVolume) -> str:
    """What of the claim the volume can't give; "" for nothing."""
    spec = volume.spec
    if volume.metadata.deletion_timestamp is not None:
        return "it is being deleted"
    if (spec.storage_class_name or "") != (claim.spec.storage_class_name or ""):
        return "it is of another storage class"
    if (spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
        return "it has another volume mode"
    if any(mode not in spec.access_modes for mode in claim.spec.access_modes):
        return "it lacks an access mode"
    if capacity_of(volume) < asked_of(claim):
        return "it is too small"
    if claim.spec.selector is not None and not _selects(claim.spec.selector, volume.metadata.labels):
        return "the claim's selector leaves it out"
    return ""


def candidates(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> Sequence[PersistentVolume]:
    """The volumes that may serve a claim that has none yet, the best first."""
    volumes = list(volumes)
    meant = [v for v in volumes if is_meant(claim, v) and v.metadata.deletion_timestamp is None]
    fit = [v for v in volumes if v.spec.claim_ref is None and _free(v) and not misfit(claim, v)]
    return sorted(meant, key=_by_size) or sorted(fit, key=_by_size)


def asked_of(claim: PersistentVolumeClaim) -> int:
    """The storage that a claim asks for, in billionths of a byte; what can't be read asks for nothing."""
    return _nano(claim.spec.resources.requests.get(STORAGE))


def capacity_of(volume: PersistentVolume) -> int:
    """The storage that a volume has, in billionths of a byte."""
    return _nano(volume.spec.capacity.get(STORAGE))


def is_local(volume: PersistentVolume) -> bool:
    """Whether it is a directory that Kumi made."""
    return (volume.spec.csi or {}).get("driver") == LOCAL


def exclusive(modes: Iterable[str]) -> str:
    """Who may use a volume with these access modes at a time: ONE_POD, the pods of ONE_NODE, or "" anybody."""
    given = set(modes)
    if ONE_POD in given:
        return ONE_POD
    return ONE_NODE if given == {ONE_NODE} else ""


def _free(volume: PersistentVolume) -> bool:
    return volume.status.phase in ("", "Pending", "Available")


def _by_size(volume: PersistentVolume) -> tuple[int, str]:
    return capacity_of(volume), volume.metadata.name


def _nano(written: str | int | float | None) -> int:
    try:
        return 0 if written is None else nano(written)
    except QuantityError:
        return 0


def _selects(selector: LabelSelector, labels: dict[str, str]) -> bool:
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    for term in selector.match_expressions:
        has, is_in = term.key in labels, labels.get(term.key) in term.values
        holds = {"In": has and is_in, "NotIn": not is_in, "Exists": has, "DoesNotExist": not has}
        if not holds.get(term.operator, False):
            return False
    return True
