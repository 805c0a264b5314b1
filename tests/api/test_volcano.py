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
    "dequeueStrategy": "fifo",
    "dra": {
        "capability": {"gpu.example.com": {"count": 4, "capacity": {"memory": "80Gi"}}},
        "deserved": {},
        "guarantee": {},
    },
}
QUEUE_STATUS: JsonObject = {
    "state": "Open",
    "allocated": {"cpu": "1"},
    **dict.fromkeys(("pending", "inqueue", "running", "unknown", "completed"), 1),
    "reservation": {"nodes": ["n1"], "resource": {"cpu": "4"}},
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
        {
            "name": "task",
            "labelSelector": {"matchLabels": {"a": "b"}},
            "matchLabelKeys": ["volcano.sh/task-spec"],
            "subGroupSize": 2,
            "minSubGroups": 1,
            "networkTopology": TOPOLOGY,
        }
    ],
}
POD_GROUP_STATUS: JsonObject = {
    "phase": "Running",
    "conditions": [
        {
            "type": "Scheduled",
            "status": "True",
            "transitionID": "1",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "reason": "tasks in gang are ready to be scheduled",
            "message": "",
        }
    ],
    "running": 1,
    "succeeded": 1,
    "failed": 1,
}


@pytest.mark.parametrize(
    ("type_", "spec", "status"),
    [(Queue, QUEUE, QUEUE_STATUS), (PodGroup, POD_GROUP, POD_GROUP_STATUS)],
    ids=["queue", "pod group"],
)
def test_every_field_of_volcanos_is_known(type_: type[Queue | PodGroup], spec: JsonObject, status: JsonObject) -> None:
    kind = SCHEME.of(type_)
    made = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "x"},
        "spec": spec,
        "status": status,
    }
    found = fields.check(kind, kind.version, made)
    assert (found.unknown, found.errors) == ([], [])
    assert fields.unknown_fields(kind, kind.version, {**made, "spec": {**spec, "wait": 1}}) == ["spec.wait"]


def test_how_a_queue_is_left_is_one_of_two_words() -> None:
    kind = SCHEME.of(Queue)
    made = {
        "apiVersion": kind.api_version,
        "kind": "Queue",
        "metadata": {"name": "x"},
        "spec": {"dequeueStrategy": "lifo"},
    }
    assert "spec.dequeueStrategy" in str(fields.check(kind, kind.version, made).errors)
