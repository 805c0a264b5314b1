from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.volcano import HIERARCHY, WEIGHTS, validate_pod_group, validate_queue
from kumi.api.wire import JsonObject


def queue(annotations: dict[str, str] | None = None, **spec: Any) -> JsonObject:
    return {"metadata": {"name": "q", "annotations": annotations or {}}, "spec": {"weight": 1, **spec}}


def wrong(obj: JsonObject) -> list[str]:
    return [error.path for error in validate_queue(obj, None)]


def test_what_is_written_in_volcanos_documentation_is_right() -> None:
    full = queue(
        {HIERARCHY: "root/eng/prod", WEIGHTS: "1/2/8"},
        capability={"cpu": "8", "memory": "16Gi"},
        deserved={"cpu": "4", "memory": "8Gi"},
        guarantee={"resource": {"cpu": "2", "memory": "4Gi"}},
        parent="eng",
    )
    assert wrong(full) == []
    assert wrong(queue()) == []
    assert wrong(queue(deserved={"cpu": "4"})) == []


@pytest.mark.parametrize("weight", [0, -1])
def test_a_weight_is_above_nothing(weight: int) -> None:
    assert wrong(queue(weight=weight)) == ["spec.weight"]


def test_a_queue_is_not_its_own_parent() -> None:
    assert wrong(queue(parent="q")) == ["spec.parent"]


def test_a_state_is_one_of_four_words() -> None:
    assert wrong({**queue(), "status": {"state": "Closing"}}) == []
    assert wrong({**queue(), "status": {"state": "Shut"}}) == ["status.state"]


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"capability": {"cpu": "2"}, "deserved": {"cpu": "3"}}, "spec.deserved"),
        ({"capability": {"cpu": "2"}, "deserved": {"cpu": "1", "memory": "1"}}, "spec.deserved"),
        ({"capability": {"cpu": "2"}, "guarantee": {"resource": {"cpu": "3"}}}, "spec.guarantee"),
        ({"deserved": {"cpu": "2"}, "guarantee": {"resource": {"cpu": "2001m"}}}, "spec.guarantee"),
        ({"guarantee": {"resource": {"cpu": "1"}}}, "spec.guarantee"),
        ({"capability": {"cpu": "many"}}, "spec.capability[cpu]"),
        ({"guarantee": {"resource": {"cpu": "-1"}}}, "spec.guarantee.resource[cpu]"),
    ],
)
def test_a_guarantee_is_within_what_is_deserved_and_that_within_the_capability(spec: JsonObject, path: str) -> None:
    assert wrong(queue(**spec)) == [path]


@pytest.mark.parametrize(
    ("path", "weights", "named"),
    [
        ("root/a", "1", HIERARCHY),
        ("root/a", "1/0", WEIGHTS),
        ("root/a", "1/x", WEIGHTS),
        ("", "1/2", HIERARCHY),
        ("root", "", WEIGHTS),
    ],
)
def test_a_path_and_its_weights_go_together(path: str, weights: str, named: str) -> None:
    assert wrong(queue({HIERARCHY: path, WEIGHTS: weights})) == [f"metadata.annotations[{named}]"]


def test_minima_and_amounts_of_a_pod_group_are_not_negative() -> None:
    spec = {"minMember": -1, "minTaskMember": {"ps": 1, "worker": -2}, "minResources": {"cpu": "x"}}
    made = {"metadata": {"name": "g"}, "spec": spec}
    assert [e.path for e in validate_pod_group(made, None)] == [
        "spec.minMember",
        "spec.minTaskMember[worker]",
        "spec.minResources[cpu]",
    ]


def test_a_tier_is_named_once() -> None:
    topology = {"mode": "hard", "highestTierAllowed": 1, "highestTierName": "rack"}
    made = {"metadata": {"name": "g"}, "spec": {"networkTopology": topology}}
    assert [e.path for e in validate_pod_group(made, None)] == ["spec.networkTopology.highestTierName"]


def test_a_tier_of_a_subgroup_is_named_once_too() -> None:
    both = {"networkTopology": {"highestTierAllowed": 1, "highestTierName": "rack"}}
    made = {
        "metadata": {"name": "g"},
        "spec": {"subGroupPolicy": [{"networkTopology": {"highestTierAllowed": 2}}, both]},
    }
    named = [e.path for e in validate_pod_group(made, None)]
    assert named == ["spec.subGroupPolicy[1].networkTopology.highestTierName"]
