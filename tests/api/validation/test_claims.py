from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation import claims
from kumi.api.wire import JsonObject


def claim(size: str = "1Gi", **spec: Any) -> JsonObject:
    resources = {"requests": {"storage": size}}
    return {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}}


def volume(**spec: Any) -> JsonObject:
    given = {
        "accessModes": ["ReadWriteMany"],
        "capacity": {"storage": "1Gi"},
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/x"},
        **spec,
    }
    return {"metadata": {"name": "v"}, "spec": {key: value for key, value in given.items() if value is not None}}


def wrong(validate: Any, new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in validate(new, old)]


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (claim(), []),
        (claim(accessModes=[]), ["spec.accessModes"]),
        (claim(accessModes=["Sometimes"]), ["spec.accessModes"]),
        (claim(accessModes=["ReadWriteOncePod", "ReadWriteOnce"]), ["spec.accessModes"]),
        (claim("0"), ["spec.resources[storage]"]),
        (claim(resources={}), ["spec.resources[storage]"]),
        (claim(volumeMode="Tape", storageClassName="No!"), ["spec.storageClassName", "spec.volumeMode"]),
    ],
)
def test_what_a_claim_may_ask_for(new: JsonObject, paths: list[str]) -> None:
    assert wrong(claims.validate_claim, new) == paths


def test_a_claim_grows_once_it_is_bound_and_changes_in_nothing_else() -> None:
    bound = claim(volumeName="v")
    assert wrong(claims.validate_claim, claim("2Gi", volumeName="v"), bound) == []
    assert wrong(claims.validate_claim, claim("1Mi", volumeName="v"), bound) == ["spec.resources.requests.storage"]
    assert wrong(claims.validate_claim, claim("2Gi"), claim()) == ["spec"]
    assert wrong(claims.validate_claim, claim(accessModes=["ReadOnlyMany"]), claim()) == ["spec"]
    assert wrong(claims.validate_claim, bound, claim()) == []


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (volume(), []),
        (volume(capacity={}), ["spec.capacity"]),
        (volume(hostPath=None), ["spec"]),
        (volume(nfs={"server": "s", "path": "/"}), ["spec.nfs"]),
        (volume(hostPath={}), ["spec.hostPath.path"]),
        (volume(hostPath=None, local={"path": "/x"}), ["spec.nodeAffinity"]),
        (volume(persistentVolumeReclaimPolicy="Burn"), ["spec.persistentVolumeReclaimPolicy"]),
    ],
)
def test_what_a_volume_may_be(new: JsonObject, paths: list[str]) -> None:
    assert wrong(claims.validate_volume, new) == paths


def test_a_volumes_source_stays() -> None:
    assert wrong(claims.validate_volume, volume(hostPath={"path": "/y"}), volume()) == ["spec.persistentvolumesource"]


def test_a_class_is_what_it_was() -> None:
    old = {"metadata": {"name": "s"}, "provisioner": "p", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}
    assert wrong(claims.validate_storage_class, old) == []
    assert wrong(claims.validate_storage_class, {**old, "allowVolumeExpansion": True}, old) == []
    changed = {**old, "provisioner": "q", "reclaimPolicy": "Retain", "parameters": {"a": "b"}}
    assert wrong(claims.validate_storage_class, changed, old) == ["parameters", "provisioner", "reclaimPolicy"]
    assert wrong(claims.validate_storage_class, {**old, "provisioner": "", "volumeBindingMode": "x"}) == [
        "provisioner",
        "volumeBindingMode",
    ]


def test_the_drivers_of_a_node_have_names_that_differ_and_the_nodes_name_there() -> None:
    right = {"name": "x.csi", "nodeID": "n", "allocatable": {"count": 3}}
    base = {"metadata": {"name": "n1"}}
    assert wrong(claims.validate_csi_node, {**base, "spec": {"drivers": [right]}}) == []
    assert wrong(claims.validate_csi_node, {**base, "spec": {"drivers": []}}) == []
    drivers = [right, right, {"nodeID": "n"}, {"name": "A_b"}, {**right, "name": "y", "allocatable": {"count": -1}}]
    assert wrong(claims.validate_csi_node, {**base, "spec": {"drivers": drivers}}) == [
        "spec.drivers[1].name",
        "spec.drivers[2].name",
        "spec.drivers[3].name",
        "spec.drivers[3].nodeID",
        "spec.drivers[4].allocatable.count",
    ]
