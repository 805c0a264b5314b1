from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation import scheduling
from kumi.api.wire import JsonObject


def class_(name: str = "high", **fields: Any) -> JsonObject:
    return {"metadata": {"name": name}, "value": 1, "preemptionPolicy": "Never", **fields}


def wrong(new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in scheduling.validate_priority_class(new, old)]


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (class_(), []),
        (class_(value=-5), []),
        (class_(value=2_000_000_000), ["value"]),
        (class_("system-mine"), ["metadata.name"]),
        (class_("system-cluster-critical", value=2_000_000_000), []),
        (class_(preemptionPolicy="x"), ["preemptionPolicy"]),
    ],
)
def test_priority_classes(new: JsonObject, paths: list[str]) -> None:
    assert wrong(new) == paths


def test_a_priority_stays_what_it_was() -> None:
    assert wrong(class_(value=2), class_()) == ["value"]
    assert wrong(class_(preemptionPolicy="PreemptLowerPriority"), class_()) == ["preemptionPolicy"]
    assert wrong(class_(description="new"), class_()) == []


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"leaseDurationSeconds": 15, "holderIdentity": "a"}, []),
        ({"leaseDurationSeconds": 0}, ["spec.leaseDurationSeconds"]),
        ({"holderIdentity": "", "leaseDurationSeconds": 1}, []),  # a leader that gives it back
        ({"leaseTransitions": -1}, ["spec.leaseTransitions"]),
        ({"preferredHolder": "a"}, ["spec.preferredHolder"]),
        ({"preferredHolder": "a", "strategy": "OldestEmulationVersion"}, []),
    ],
)
def test_leases(spec: JsonObject, paths: list[str]) -> None:
    assert [error.path for error in scheduling.validate_lease({"metadata": {"name": "a"}, "spec": spec}, None)] == paths


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": {"kind": "K", "name": "n"}}, []),
        ({"maxReplicas": 3}, ["spec.scaleTargetRef.kind", "spec.scaleTargetRef.name"]),
        ({"minReplicas": 0, "maxReplicas": 3, "scaleTargetRef": {"kind": "K", "name": "n"}}, ["spec.minReplicas"]),
        ({"minReplicas": 4, "maxReplicas": 3, "scaleTargetRef": {"kind": "K", "name": "n"}}, ["spec.maxReplicas"]),
        ({"scaleTargetRef": {"kind": "K", "name": "n"}}, ["spec.maxReplicas"]),
    ],
)
def test_autoscalers(spec: JsonObject, paths: list[str]) -> None:
    assert [
        error.path for error in scheduling.validate_autoscaler({"metadata": {"name": "a"}, "spec": spec}, None)
    ] == paths
