"""Queues and pod groups as their users write them."""

from __future__ import annotations

import pytest

from kumi.api import fields
from kumi.api.scheme import load
from kumi.api.volcano import PodGroup, Queue
from kumi.api.wire import JsonObject

SCHEME = load()
QUEUE: JsonObject = {
    "weight": 1,
    "capability": {"cpu": "8"},
    "deserved": {"cpu": 4},
    "guarantee": {"resource": {"cpu": "2"}},
    "reclaimable": True,
    "priority": 3,
    "parent": "root",
    "type": "share",
    "affinity": {
        "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["g1"]},
        "nodeGroupAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": ["g2"]},
    },
    "extendClusters": [{"name": "east", "weight": 1, "capacity": {"cpu": "4"}}],
}
TOPOLOGY = {"mode": "hard", "highestTierAllowed": 1}
POD_GROUP: JsonObject = {
    "minMember": 4,
    "minTaskMember": {"master": 1, "worker": 3},
    "minResources": {"cpu": "4"},
    "queue": "q",
    "priorityClassName": "high",
    "networkTopology": TOPOLOGY,
    "subGroupPolicy": [
        {"name": "task", "matchLabelKeys": ["volcano.sh/task-spec"], "subGroupSize": 2, "networkTopology": TOPOLOGY}
    ],
}


@pytest.mark.parametrize(("type_", "spec"), [(Queue, QUEUE), (PodGroup, POD_GROUP)], ids=["queue", "pod group"])
def test_every_field_of_volcanos_is_known(type_: type[Queue | PodGroup], spec: JsonObject) -> None:
    kind = SCHEME.of(type_)
    made = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "x"}, "spec": spec}
    found = fields.check(kind, kind.version, made)
    assert (found.unknown, found.errors) == ([], [])
    assert fields.unknown_fields(kind, kind.version, {**made, "spec": {**spec, "wait": 1}}) == ["spec.wait"]
