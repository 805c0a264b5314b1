from __future__ import annotations

from typing import Any

from kumi.api.defaulting.status import fill_status
from kumi.api.scheme import Kind, load


def kind(group: str, name: str) -> Kind:
    found = load().find(group, name)
    assert found is not None
    return found


def test_numbers_are_always_said() -> None:
    budget: dict[str, Any] = {"status": {"currentHealthy": 3}}
    fill_status(kind("policy", "PodDisruptionBudget"), budget)
    assert budget["status"] == {"currentHealthy": 3, "disruptionsAllowed": 0, "desiredHealthy": 0, "expectedPods": 0}


def test_times_that_are_not_known_are_null_and_others_stay() -> None:
    pod: dict[str, Any] = {"status": {"conditions": [{"type": "Ready", "lastTransitionTime": "t"}]}}
    fill_status(kind("", "Pod"), pod)
    assert pod["status"]["conditions"] == [{"type": "Ready", "lastTransitionTime": "t", "lastProbeTime": None}]


def test_a_node_always_has_its_parts_and_what_is_said_of_them_stays() -> None:
    node: dict[str, Any] = {"status": {"nodeInfo": {"kubeletVersion": "v1"}}}
    fill_status(kind("", "Node"), node)
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1"
    assert node["status"]["nodeInfo"]["osImage"] == ""


def test_kinds_without_such_fields_are_left_alone() -> None:
    config: dict[str, Any] = {"data": {}}
    fill_status(kind("", "ConfigMap"), config)
    assert config == {"data": {}}
