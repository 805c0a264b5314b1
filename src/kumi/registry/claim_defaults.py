"""What a claim or a volume gets on its way in: the default storage class, and protection while it is used.

At creation   a claim that names no class is of the default one, if there is one now (kumi.api.volumes says which of several);
              one that names "" wants none, and keeps that. Claims and volumes get the finalizer that holds them while
              they are used; claims, volumes and whoever uses them are looked after by controllers.
At growth     a bound claim may ask for more only where its class says allowVolumeExpansion. ApiError 403.
Structurally  an AdmissionHook.
Source        Kubernetes: admission plug-ins DefaultStorageClass, StorageObjectInUseProtection, PersistentVolumeClaimResize.
Not here      a default class that comes later: kumi.controllers.claims. Taking the finalizers out: claim_protection,
              persistent_volumes of kumi.controllers.
"""

from __future__ import annotations

import msgspec

from kumi.api.claims import StorageClass
from kumi.api.errors import FieldError
from kumi.api.scheme import Kind, Scheme
from kumi.api.volumes import PROTECTED, default_class
from kumi.api.wire import JsonObject
from kumi.registry.hooks import Operation
from kumi.registry.objects import Objects, prefix_of
from kumi.registry.refusals import forbidden

CLAIM_PROTECTED = "kubernetes.io/pvc-protection"


class ClaimDefaults:
    """See the module."""

    def __init__(self, objects: Objects, scheme: Scheme) -> None:
        self._objects, self._classes = objects, scheme.of(StorageClass)

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """See the module."""
        if kind.group or kind.kind not in ("PersistentVolumeClaim", "PersistentVolume"):
            return
        is_claim = kind.kind == "PersistentVolumeClaim"
        if operation == "CREATE":
            _held(new["metadata"], CLAIM_PROTECTED if is_claim else PROTECTED)
            if is_claim and new["spec"].get("storageClassName") is None:
                self._of_default_class(new["spec"])
        elif is_claim and old is not None and _grows(new, old) and not self._lets_grow(new["spec"]):
            why = "its storage class does not let claims grow (allowVolumeExpansion)"
            raise forbidden(kind, new["metadata"]["name"], why)

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """See AdmissionHook."""
        return []

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        """See AdmissionHook."""
        return []

    def _of_default_class(self, spec: JsonObject) -> None:
        found = default_class(self._all())
        if found is not None:
            spec["storageClassName"] = found.metadata.name

    def _lets_grow(self, spec: JsonObject) -> bool:
        return any(c.allow_volume_expansion for c in self._all() if c.metadata.name == spec.get("storageClassName"))

    def _all(self) -> list[StorageClass]:
        entries = self._objects.page(prefix_of(self._classes, "")).entries
        return [msgspec.convert(self._objects.listed(entry), StorageClass) for entry in entries]


def _held(metadata: JsonObject, finalizer: str) -> None:
    standing = metadata.get("finalizers") or []
    if finalizer not in standing:
        metadata["finalizers"] = [*standing, finalizer]


def _grows(new: JsonObject, old: JsonObject) -> bool:
    """Whether a claim asks for another size than before; smaller ones are refused elsewhere."""
    asked, had = (((obj["spec"].get("resources") or {}).get("requests") or {}).get("storage") for obj in (new, old))
    return asked is not None and asked != had
