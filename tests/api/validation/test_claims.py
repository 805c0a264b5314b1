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


def csi(**source: Any) -> JsonObject:
    return volume(hostPath=None, csi={"driver": "x.csi", "volumeHandle": "v", **source})


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (csi(), []),
        (csi(driver="X.CSI"), []),
        (csi(driver="kumi.dev/local"), []),
        (csi(driver="kumi.dev/other"), ["spec.csi.driver"]),
        (csi(driver="", volumeHandle=""), ["spec.csi.driver", "spec.csi.volumeHandle"]),
        (csi(driver="x_y"), ["spec.csi.driver"]),
        (csi(driver="x" * 64), ["spec.csi.driver"]),
    ],
)
def test_a_csi_volume_says_its_driver_and_its_handle(new: JsonObject, paths: list[str]) -> None:
    assert wrong(claims.validate_volume, new) == paths


REQUIRED = "spec.nodeAffinity.required"
TERM = f"{REQUIRED}.nodeSelectorTerms[0]"


def reached(**term: Any) -> JsonObject:
    return volume(nodeAffinity={"required": {"nodeSelectorTerms": [term]}})


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (reached(matchExpressions=[{"key": "a", "operator": "In", "values": ["x"]}]), []),
        (reached(matchFields=[{"key": "metadata.name", "operator": "In", "values": ["n1"]}]), []),
        (reached(), []),
        (volume(nodeAffinity={}), [REQUIRED]),
        (volume(nodeAffinity={"required": {}}), [f"{REQUIRED}.nodeSelectorTerms"]),
        (reached(matchExpressions=[{"operator": "Exists"}]), [f"{TERM}.matchExpressions[0].key"]),
        (reached(matchExpressions=[{"key": "a"}]), [f"{TERM}.matchExpressions[0].operator"]),
        (reached(matchExpressions=[{"key": "a", "operator": "In"}]), [f"{TERM}.matchExpressions[0].values"]),
        (reached(matchFields=[{"operator": "In", "values": ["n1"]}]), [f"{TERM}.matchFields[0].key"]),
    ],
)
def test_where_a_volume_can_be_reached_is_terms_of_a_node_selector(new: JsonObject, paths: list[str]) -> None:
    assert wrong(claims.validate_volume, new) == paths


def storage_class(*topologies: JsonObject) -> JsonObject:
    made = {"provisioner": "p", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}
    return {"metadata": {"name": "s"}, **made, "allowedTopologies": [*topologies]}


def topology(*rules: JsonObject) -> JsonObject:
    return {"matchLabelExpressions": [*rules]}


IN_A = {"key": "zone", "values": ["a"]}
AT = "allowedTopologies[0].matchLabelExpressions"


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (storage_class(), []),
        (storage_class({}, topology(IN_A, {"key": "rack", "values": ["1", "2"]})), []),
        (storage_class(topology({"values": ["a"]})), [f"{AT}[0].key"]),
        (storage_class(topology({"key": "a b", "values": ["a"]})), [f"{AT}[0].key"]),
        (storage_class(topology({"key": "zone"})), [f"{AT}[0].values"]),
        (storage_class(topology({"key": "zone", "values": ["a", "b", "a"]})), [f"{AT}[0].values[2]"]),
        (storage_class(topology(IN_A, IN_A)), [f"{AT}[1].key"]),
        (storage_class(topology(IN_A), topology(IN_A)), ["allowedTopologies[1].matchLabelExpressions"]),
    ],
)
def test_where_a_class_makes_volumes_is_keys_with_values(new: JsonObject, paths: list[str]) -> None:
    assert wrong(claims.validate_storage_class, new) == paths


def test_what_is_stored_and_wrong_may_stay() -> None:
    bad = storage_class(topology({"values": ["a"]}))
    assert wrong(claims.validate_storage_class, {**bad, "allowVolumeExpansion": True}, bad) == []
    for stored in (csi(driver=""), reached(matchExpressions=[{}])):
        assert wrong(claims.validate_volume, stored) != []
        more = {**stored, "metadata": {"name": "v", "labels": {"a": "b"}}}
        assert wrong(claims.validate_volume, more, stored) == []
