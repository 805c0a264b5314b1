"""Within limits: requests above their limits, and what is outside of LimitRanges."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.limits import LimitRangeItem
from kumi.bridge.into.within_limits import above_limits, outside_range

PATH = "spec"


def container(requests: dict[str, str], limits: dict[str, str] | None = None) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests, **({"limits": limits} if limits else {})}}


def above(**spec: Any) -> list[tuple[str, str, object]]:
    return [(e.path, e.type, e.value) for e in above_limits({"spec": spec}, PATH)]


def outside(item: dict[str, Any], **spec: Any) -> list[tuple[str, object]]:
    limits = {item["type"]: msgspec.convert(item, LimitRangeItem)}
    return [(e.path, e.value) for e in outside_range({"spec": spec}, limits, PATH)]


def test_requests_above_their_limits_are_told_where_they_stand() -> None:
    fine, wrong = (
        container({"cpu": "1"}, {"cpu": "1"}),
        container({"cpu": "2", "memory": "2"}, {"cpu": "1", "memory": "1"}),
    )
    assert above(containers=[fine, wrong], initContainers=[wrong]) == [
        ("spec.initContainers[0]", "FieldValueInvalid", ["cpu", "memory"]),
        ("spec.containers[1]", "FieldValueInvalid", ["cpu", "memory"]),
    ]
    assert above(containers=[], resources={"requests": {"cpu": "300m"}, "limits": {"cpu": "200m"}}) == [
        ("spec.resources", "FieldValueInvalid", ["cpu"])
    ]


def test_what_has_no_limit_is_within_it() -> None:
    assert above(containers=[container({"cpu": "9"}, {"memory": "1"}), {"name": "c"}], resources={}) == []
    assert list(above_limits({}, PATH)) == []


@pytest.mark.parametrize(
    ("requests", "limits", "wrong"),
    [
        ({"cpu": "1"}, {"cpu": "2"}, 0),
        ({"cpu": "1"}, {"cpu": "3"}, 1),
        ({"cpu": "3"}, None, 1),
        ({"cpu": "500m"}, {"cpu": "2"}, 1),
        ({"cpu": "500m"}, {"cpu": "3"}, 2),
        ({"memory": "9"}, None, 0),
    ],
)
def test_each_container_stays_within_a_range_for_containers(
    requests: dict[str, str], limits: dict[str, str] | None, wrong: int
) -> None:
    item = {"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1"}}
    assert outside(item, containers=[container(requests, limits)]) == [("spec.containers[0]", ["cpu"])] * wrong


def test_a_range_for_pods_is_about_what_the_pod_asks_for_in_all() -> None:
    item = {"type": "Pod", "max": {"cpu": "500m"}, "min": {"cpu": "200m"}}
    stays = {**container({"cpu": "300m"}), "restartPolicy": "Always"}
    assert outside(item, containers=[container({"cpu": "300m"})]) == []
    assert outside(item, containers=[container({"cpu": "300m"})], initContainers=[stays]) == [("spec", ["cpu"])]
    assert outside(item, containers=[container({"cpu": "100m"})]) == [("spec", ["cpu"])]
    assert outside(item, containers=[container({"memory": "1"})]) == []
