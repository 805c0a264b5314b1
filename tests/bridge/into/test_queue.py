from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api import volcano
from kumi.api.errors import KumiError
from kumi.bridge.into.queue import amounts, queue
from kumi.engine import gangs


def read(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **metadata: Any) -> gangs.Queue:
    raw = {"metadata": {"name": "q", **metadata}, "spec": spec or {}, "status": status or {}}
    return queue(msgspec.convert(raw, volcano.Queue))


def test_shares_and_limits_come_in_base_units() -> None:
    made = read(
        {
            "weight": 3,
            "capability": {"memory": "1Gi", "cpu": "1500m"},
            "deserved": {"nvidia.com/gpu": 2},
            "guarantee": {"resource": {"cpu": 1}},
            "parent": "p",
            "priority": 7,
        },
        creationTimestamp="1970-01-01T00:00:01Z",
    )
    assert made == gangs.Queue(
        "q",
        created_ms=1000,
        weight=3,
        capability=(("cpu", 1500), ("memory", 2**30)),
        deserved=(("nvidia.com/gpu", 2000),),
        guarantee=(("cpu", 1000),),
        parent="p",
        priority=7,
    )


@pytest.mark.parametrize(
    ("status", "deleted", "state"),
    [
        ({}, None, gangs.QueueState.OPEN),
        ({"state": "Open"}, None, gangs.QueueState.OPEN),
        ({"state": "Closed"}, None, gangs.QueueState.CLOSED),
        ({"state": "Half"}, None, gangs.QueueState.UNKNOWN),
        ({"state": "Open"}, "2024-01-01T00:00:00Z", gangs.QueueState.CLOSING),
    ],
)
def test_the_state_is_open_where_nothing_is_said(
    status: dict[str, Any], deleted: str | None, state: gangs.QueueState
) -> None:
    assert read(status=status, **({"deletionTimestamp": deleted} if deleted else {})).state is state


@pytest.mark.parametrize(
    ("said", "gives"), [({}, True), ({"reclaimable": True}, True), ({"reclaimable": False}, False)]
)
def test_a_queue_gives_back_unless_it_says_no(said: dict[str, Any], gives: bool) -> None:
    assert read(said).reclaimable is gives


@pytest.mark.parametrize(
    ("path", "weights", "read_path", "read_weights"),
    [
        ("", "", (), ()),
        ("root/a", "1/2.5", ("root", "a"), (1.0, 2.5)),
        ("root/a/b", "1/0", ("root", "a", "b"), (1.0, 1.0, 1.0)),
        ("root/a", "1/x", ("root", "a"), (1.0, 1.0)),
    ],
)
def test_a_place_in_the_hierarchy_weighs_at_least_1(
    path: str, weights: str, read_path: tuple[str, ...], read_weights: tuple[float, ...]
) -> None:
    said = {volcano.HIERARCHY_ANNOTATION: path, volcano.HIERARCHY_WEIGHTS_ANNOTATION: weights}
    made = read(annotations=said)
    assert (made.hierarchy, made.weights) == (read_path, read_weights)


def test_node_groups_are_kept_in_their_order() -> None:
    wish = {"requiredDuringSchedulingIgnoredDuringExecution": ["b", "a"]}
    made = read({"affinity": {"nodeGroupAffinity": wish}})
    assert made.groups == gangs.NodeGroups(required=("b", "a"))
    unwanted = {"preferredDuringSchedulingIgnoredDuringExecution": ["c"]}
    assert read({"affinity": {"nodeGroupAntiAffinity": unwanted}}).groups == gangs.NodeGroups(anti_preferred=("c",))
    assert read({}).groups is None


def test_what_is_no_quantity_is_an_error() -> None:
    with pytest.raises(KumiError):
        read({"capability": {"cpu": "many"}})
    assert amounts({"cpu": "0", "a": 1}) == (("a", 1), ("cpu", 0))


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", ()),
        ('{"g2": {"cpu": "3"}, "g1": {"memory": 1}}', (("g1", (("memory", 1),)), ("g2", (("cpu", 3000),)))),
        ('{"g1": {"cpu":', None),
        ('{"g1": {"cpu": "many"}}', None),
        ('["g1"]', None),
    ],
)
def test_limits_by_node_group_are_json_or_can_not_be_read(text: str, limits: object) -> None:
    assert read(annotations={volcano.GROUP_LIMITS_ANNOTATION: text}).group_limits == limits


def test_what_no_node_has_says_nothing() -> None:
    odd = {"cpu": "1", "requests.cpu": "1", "count/pods": "5", "limits.memory": "1Gi"}
    limits = '{"g": {"cpu": 1, "count/pods": 2}}'
    made = read(
        {"capability": odd, "deserved": odd, "guarantee": {"resource": odd}},
        annotations={volcano.GROUP_LIMITS_ANNOTATION: limits},
    )
    one = (("cpu", 1000),)
    assert (made.capability, made.deserved, made.guarantee, made.group_limits) == (one, one, one, (("g", one),))
