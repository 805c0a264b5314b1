from __future__ import annotations

from kumi.api.defaulting.claims import default_claim, default_storage_class, default_volume


def test_claims_and_volumes_are_pending_file_systems() -> None:
    claim: dict[str, object] = {}
    default_claim(claim)
    assert claim == {"spec": {"volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}
    volume: dict[str, object] = {"spec": {"hostPath": {"path": "/x"}}}
    default_volume(volume)
    assert volume["spec"] == {
        "hostPath": {"path": "/x", "type": ""},
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
    }


def test_a_class_deletes_and_binds_at_once() -> None:
    class_: dict[str, object] = {"reclaimPolicy": "Retain"}
    default_storage_class(class_)
    assert class_ == {"reclaimPolicy": "Retain", "volumeBindingMode": "Immediate"}
