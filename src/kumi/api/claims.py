"""Volumes that outlive pods: PersistentVolume and PersistentVolumeClaim (core group, v1), StorageClass and
CSINode (storage.k8s.io/v1)."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns import claims as columns
from kumi.api.defaulting import claims as defaults
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation import claims as rules

Amounts = dict[str, str | int | float]


class ClaimResources(View):
    """How much is asked for (`storage`)."""

    requests: Amounts = {}
    limits: Amounts = {}


class PersistentVolumeClaimSpec(View):
    """What a claim asks for; `volume_name` is the volume that it got."""

    access_modes: list[str] = []
    resources: ClaimResources = field(default_factory=ClaimResources)
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""
    selector: LabelSelector | None = None
    data_source: dict[str, Any] | None = None
    data_source_ref: dict[str, Any] | None = None


class PersistentVolumeClaimStatus(View):
    """Pending, Bound or Lost."""

    phase: str = ""
    access_modes: list[str] = []
    capacity: Amounts = {}
    conditions: list[Condition] = []


class PersistentVolumeClaim(Object):
    """v1 PersistentVolumeClaim."""

    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = field(default_factory=PersistentVolumeClaimStatus)


class PersistentVolumeSpec(View):
    """What a volume is; its source is kept as written by those who mount it."""

    capacity: Amounts = {}
    access_modes: list[str] = []
    claim_ref: dict[str, Any] | None = None
    persistent_volume_reclaim_policy: str = "Retain"
    storage_class_name: str = ""
    volume_mode: str | None = None
    host_path: dict[str, Any] | None = None
    local: dict[str, Any] | None = None
    csi: dict[str, Any] | None = None
    node_affinity: dict[str, Any] | None = None


class PersistentVolumeStatus(View):
    """Pending, Available, Bound, Released or Failed."""

    phase: str = ""
    message: str = ""
    reason: str = ""


class PersistentVolume(Object):
    """v1 PersistentVolume."""

    spec: PersistentVolumeSpec = field(default_factory=PersistentVolumeSpec)
    status: PersistentVolumeStatus = field(default_factory=PersistentVolumeStatus)


class StorageClass(Object):
    """storage.k8s.io/v1 StorageClass."""

    provisioner: str = ""
    parameters: dict[str, str] = {}
    reclaim_policy: str = "Delete"
    volume_binding_mode: str = "Immediate"
    allow_volume_expansion: bool | None = None
    allowed_topologies: list[dict[str, Any]] = []


class VolumeNodeResources(View):
    """What a driver may attach to a node."""

    count: int | None = None


class CSINodeDriver(View):
    """A driver on a node."""

    name: str = ""
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(View):
    """Those that are installed there."""

    drivers: list[CSINodeDriver] = []


class CSINode(Object):
    """storage.k8s.io/v1 CSINode: the CSI drivers of the node of that name."""

    spec: CSINodeSpec = field(default_factory=CSINodeSpec)


SCHEME.register(
    Kind(
        "",
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        PersistentVolumeClaim,
        short_names=("pvc",),
        subresources=("status",),
        columns=columns.PERSISTENT_VOLUME_CLAIM,
        default=defaults.default_claim,
        validate=rules.validate_claim,
        schema="io.k8s.api.core.v1.PersistentVolumeClaim",
    )
)
SCHEME.register(
    Kind(
        "",
        "v1",
        "PersistentVolume",
        "persistentvolumes",
        PersistentVolume,
        namespaced=False,
        short_names=("pv",),
        subresources=("status",),
        columns=columns.PERSISTENT_VOLUME,
        default=defaults.default_volume,
        validate=rules.validate_volume,
        schema="io.k8s.api.core.v1.PersistentVolume",
    )
)
SCHEME.register(
    Kind(
        "storage.k8s.io",
        "v1",
        "StorageClass",
        "storageclasses",
        StorageClass,
        namespaced=False,
        short_names=("sc",),
        columns=columns.STORAGE_CLASS,
        default=defaults.default_storage_class,
        validate=rules.validate_storage_class,
        schema="io.k8s.api.storage.v1.StorageClass",
    )
)
SCHEME.register(
    Kind(
        "storage.k8s.io",
        "v1",
        "CSINode",
        "csinodes",
        CSINode,
        namespaced=False,
        columns=columns.CSI_NODE,
        validate=rules.validate_csi_node,
        schema="io.k8s.api.storage.v1.CSINode",
    )
)
