"""Which volume may serve which claim."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim, StorageClass
from kumi.api.quantity import nano
from kumi.api.volumes import (
    IS_DEFAULT,
    ONE_NODE,
    ONE_POD,
    asked_of,
    candidates,
    capacity_of,
    claims_of,
    default_class,
    exclusive,
    is_local,
    is_meant,
    misfit,
)

ALL_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")


def claim(size: str = "1Gi", modes: tuple[str, ...] = ("ReadWriteOnce",), **spec: Any) -> PersistentVolumeClaim:
    asked = {"accessModes": list(modes), "resources": {"requests": {"storage": size}}, **spec}
    made = {"metadata": {"name": "c", "namespace": "ns", "uid": "u"}, "spec": asked}
    return msgspec.convert(made, PersistentVolumeClaim)


def volume(
    name: str = "v", size: str = "1Gi", modes: tuple[str, ...] = ("ReadWriteOnce",), **spec: Any
) -> PersistentVolume:
    meta = {"name": name, "labels": spec.pop("labels", {}), **spec.pop("meta", {})}
    status = {"phase": spec.pop("phase", "Available")}
    made = {"capacity": {"storage": size}, "accessModes": list(modes), **spec}
    return msgspec.convert({"metadata": meta, "spec": made, "status": status}, PersistentVolume)


MODES = st.lists(st.sampled_from(ALL_MODES), min_size=1, max_size=3, unique=True).map(tuple)
VOLUMES = st.lists(st.tuples(st.integers(1, 5), MODES, st.sampled_from(["", "a"])), max_size=6)


@given(st.integers(1, 5), MODES, st.sampled_from(["", "a"]), VOLUMES)
def test_the_best_is_the_smallest_of_those_that_have_all_that_is_asked_for(
    size: int, modes: tuple[str, ...], class_: str, given_volumes: list[tuple[int, tuple[str, ...], str]]
) -> None:
    asks = claim(f"{size}Gi", modes, storageClassName=class_)
    there = [
        volume(f"v{i}", f"{has}Gi", given_modes, storageClassName=of)
        for i, (has, given_modes, of) in enumerate(given_volumes)
    ]
    fit = [
        v
        for v, (has, given_modes, of) in zip(there, given_volumes, strict=True)
        if has >= size and {*modes} <= {*given_modes} and of == class_
    ]
    found = candidates(asks, there)
    assert {v.metadata.name for v in found} == {v.metadata.name for v in fit}
    assert [capacity_of(v) for v in found] == sorted(capacity_of(v) for v in fit)
    assert all(misfit(asks, v) == "" for v in found)


@pytest.mark.parametrize(
    ("differs", "why"),
    [
        ({"size": "1023Mi"}, "it is too small"),
        ({"modes": ("ReadOnlyMany",)}, "it lacks an access mode"),
        ({"storageClassName": "x"}, "it is of another storage class"),
        ({"volumeMode": "Block"}, "it has another volume mode"),
        ({"labels": {"disk": "hdd"}}, "the claim's selector leaves it out"),
        ({"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "it is being deleted"),
        ({}, ""),
    ],
)
def test_what_a_volume_lacks(differs: dict[str, Any], why: str) -> None:
    asks = claim(selector={"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]})
    assert misfit(asks, volume(**{"labels": {"disk": "ssd"}, **differs})) == why


@pytest.mark.parametrize("phase", ["Bound", "Released", "Failed"])
def test_only_what_is_nobodys_is_given(phase: str) -> None:
    assert candidates(claim(), [volume(phase=phase)]) == []
    named = volume(claimRef={"namespace": "ns", "name": "other"})
    assert candidates(claim(), [named]) == []


def test_a_volume_that_is_meant_for_the_claim_comes_first_and_alone() -> None:
    meant = volume("big", "9Gi", claimRef={"namespace": "ns", "name": "c"})
    assert [v.metadata.name for v in candidates(claim(), [volume(), meant])] == ["big"]
    assert not is_meant(claim(), volume(claimRef={"namespace": "ns", "name": "c", "uid": "another"}))
    assert not is_meant(claim(), volume(claimRef={"namespace": "elsewhere", "name": "c"}))


def class_(name: str, created: str, default: str = "true") -> StorageClass:
    meta = {"name": name, "creationTimestamp": created, "annotations": {IS_DEFAULT: default}}
    return msgspec.convert({"metadata": meta, "provisioner": "p"}, StorageClass)


def test_of_several_default_classes_the_newest_counts_then_the_first_by_name() -> None:
    old, new, also = (
        class_("a", "2026-01-01T00:00:00Z"),
        class_("c", "2026-02-01T00:00:00Z"),
        class_("b", "2026-02-01T00:00:00Z"),
    )
    assert default_class([old, new, also]) == also
    assert default_class([class_("a", "2026-01-01T00:00:00Z", "false")]) is None


def test_who_may_use_a_volume_at_a_time() -> None:
    assert exclusive(["ReadWriteOnce"]) == ONE_NODE
    assert exclusive(["ReadWriteOncePod"]) == ONE_POD
    assert exclusive(["ReadWriteOnce", "ReadWriteMany"]) == exclusive(["ReadOnlyMany"]) == ""


def test_the_claims_of_a_pod_are_told_by_volume() -> None:
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "b", "emptyDir": {}},
        {"name": "c", "ephemeral": {}},
        {"name": "d", "ephemeral": {"volumeClaimTemplate": {}}},
    ]
    assert claims_of("p", volumes) == {"a": "data", "d": "p-d"}


def test_sizes_are_exact_and_what_can_not_be_read_is_nothing() -> None:
    assert asked_of(claim("1500m")) == nano("1500m")
    assert asked_of(claim("much")) == 0


def test_a_directory_that_kumi_made_is_told_by_its_driver() -> None:
    assert is_local(volume(csi={"driver": "kumi.dev/local", "volumeHandle": "h"}))
    assert not is_local(volume(csi={"driver": "example.com"}))
    assert not is_local(volume(hostPath={"path": "/"}))
