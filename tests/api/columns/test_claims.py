from __future__ import annotations

from kumi.api.columns import claims
from kumi.api.scheme import Column
from kumi.api.wire import JsonObject


def shown(columns: tuple[Column, ...], obj: JsonObject) -> dict[str, object]:
    return {c.name: c.cell(obj, 0) for c in columns if c.cell is not None}


def test_a_claim_shows_what_it_got_once_it_is_bound() -> None:
    status = {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}
    claim = {"metadata": {}, "spec": {"volumeName": "v", "storageClassName": "fast"}, "status": status}
    cells = shown(claims.PERSISTENT_VOLUME_CLAIM, claim)
    assert (cells["Status"], cells["Capacity"], cells["Access Modes"]) == ("Bound", "1Gi", "RWO,ROX")
    unbound = shown(claims.PERSISTENT_VOLUME_CLAIM, {**claim, "spec": {}})
    assert (unbound["Capacity"], unbound["Access Modes"], unbound["VolumeAttributesClass"]) == ("", "", "<unset>")


def test_what_is_being_deleted_says_so() -> None:
    volume = {"metadata": {"deletionTimestamp": "x"}, "spec": {"claimRef": {"namespace": "n", "name": "c"}}}
    cells = shown(claims.PERSISTENT_VOLUME, volume)
    assert (cells["Status"], cells["Claim"]) == ("Terminating", "n/c")


def test_the_default_class_is_marked() -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    cells = shown(claims.STORAGE_CLASS, {"metadata": {"name": "fast", "annotations": annotations}})
    assert (cells["Name"], cells["AllowVolumeExpansion"]) == ("fast (default)", False)
