"""Columns of PersistentVolume, PersistentVolumeClaim and StorageClass."""

from __future__ import annotations

from kumi.api.columns.cells import UNSET
from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject

_SHORT = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def _modes(modes: list[str] | None) -> str:
    there = modes or []
    return ",".join(short for mode, short in _SHORT.items() if mode in there)


def _phase(obj: JsonObject, _now_ms: int) -> str:
    going = bool(obj["metadata"].get("deletionTimestamp"))
    return "Terminating" if going else str((obj.get("status") or {}).get("phase", ""))


def _class(obj: JsonObject, _now_ms: int) -> str:
    old = (obj["metadata"].get("annotations") or {}).get(_OLD_CLASS)
    return str(old or (obj.get("spec") or {}).get("storageClassName") or "")


def _attributes(obj: JsonObject, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("volumeAttributesClassName") or UNSET)


def _mode(obj: JsonObject, _now_ms: int) -> str:
    return str((obj.get("spec") or {}).get("volumeMode") or UNSET)


def _claim_capacity(claim: JsonObject, _now_ms: int) -> str:
    bound = (claim.get("spec") or {}).get("volumeName")
    return str(((claim.get("status") or {}).get("capacity") or {}).get("storage", "")) if bound else ""


def _claim_modes(claim: JsonObject, _now_ms: int) -> str:
    bound = (claim.get("spec") or {}).get("volumeName")
    return _modes((claim.get("status") or {}).get("accessModes")) if bound else ""


PERSISTENT_VOLUME_CLAIM = (
    Column("Status", cell=_phase),
    Column("Volume", ".spec.volumeName"),
    Column("Capacity", cell=_claim_capacity),
    Column("Access Modes", cell=_claim_modes),
    Column("StorageClass", cell=_class),
    Column("VolumeAttributesClass", cell=_attributes),
    AGE,
    Column("VolumeMode", priority=1, cell=_mode),
)


def _claimed(volume: JsonObject, _now_ms: int) -> str:
    claim = (volume.get("spec") or {}).get("claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _modes_of(volume: JsonObject, _now_ms: int) -> str:
    return _modes((volume.get("spec") or {}).get("accessModes"))


PERSISTENT_VOLUME = (
    Column("Capacity", ".spec.capacity.storage"),
    Column("Access Modes", cell=_modes_of),
    Column("Reclaim Policy", ".spec.persistentVolumeReclaimPolicy"),
    Column("Status", cell=_phase),
    Column("Claim", cell=_claimed),
    Column("StorageClass", cell=_class),
    Column("VolumeAttributesClass", cell=_attributes),
    Column("Reason", ".status.reason"),
    AGE,
    Column("VolumeMode", priority=1, cell=_mode),
)


def _name(class_: JsonObject, _now_ms: int) -> str:
    name = str(class_["metadata"]["name"])
    is_default = (class_["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    return f"{name} (default)" if is_default else name


STORAGE_CLASS = (
    Column("Name", cell=_name),
    Column("Provisioner", ".provisioner"),
    Column("ReclaimPolicy", ".reclaimPolicy"),
    Column("VolumeBindingMode", ".volumeBindingMode"),
    Column("AllowVolumeExpansion", type="boolean", cell=lambda c, _now_ms: bool(c.get("allowVolumeExpansion"))),
    AGE,
)

CSI_NODE = (
    Column("Name", ".metadata.name"),
    Column("Drivers", type="integer", cell=lambda node, _now_ms: len((node.get("spec") or {}).get("drivers") or ())),
    AGE,
)
