"""Defaults of PersistentVolume, PersistentVolumeClaim and StorageClass.

Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject


def default_claim(claim: JsonObject) -> None:
    """A file system; Pending."""
    claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    _pending(claim)


def default_volume(volume: JsonObject) -> None:
    """A file system that is kept; Pending."""
    spec = volume.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    if spec.get("hostPath") is not None:
        spec["hostPath"].setdefault("type", "")
    _pending(volume)


def default_storage_class(class_: JsonObject) -> None:
    """Volumes are deleted with their claims, and made at once."""
    class_.setdefault("reclaimPolicy", "Delete")
    class_.setdefault("volumeBindingMode", "Immediate")


def _pending(obj: JsonObject) -> None:
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
