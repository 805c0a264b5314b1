from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.core import Node
from kumi.bridge.into.node import node
from kumi.engine import model


def read(status: dict[str, Any], spec: dict[str, Any] | None = None, **metadata: Any) -> model.Node:
    return node(msgspec.convert({"metadata": {"name": "n", **metadata}, "spec": spec or {}, "status": status}, Node))


def test_allocatable_in_base_units() -> None:
    made = read({"allocatable": {"nvidia.com/gpu": "6", "cpu": "1500m", "memory": "1Gi", "pods": "10"}})
    assert dict(made.allocatable) == {"nvidia.com/gpu": 6000, "cpu": 1500, "memory": 2**30, "pods": 10_000}


def test_capacity_stands_in_and_a_node_takes_110_pods_by_default() -> None:
    assert dict(read({"capacity": {"cpu": 1}}).allocatable) == {"cpu": 1000, "pods": 110_000}


def test_a_node_is_ready_only_when_it_says_so() -> None:
    assert not read({}).ready
    assert not read({"conditions": [{"type": "Ready", "status": "Unknown"}]}).ready
    assert read({"conditions": [{"type": "Ready", "status": "True"}]}).ready


def test_cordoned_and_deleted_nodes_take_no_pods() -> None:
    assert read({}, {"unschedulable": True}).unschedulable
    assert read({}, deletionTimestamp="2026-01-01T00:00:00Z").unschedulable
    assert not read({}).unschedulable


def test_the_host_is_a_label_and_taints_are_kept() -> None:
    made = read({}, {"taints": [{"key": "k", "effect": "NoSchedule"}]}, labels={"zone": "a"})
    assert made.labels == (("kubernetes.io/hostname", "n"), ("metadata.name", "n"), ("zone", "a"))
    assert made.taints == (model.Taint("k", "", "NoSchedule"),)


def test_images_go_by_each_of_their_names() -> None:
    made = read({"images": [{"names": ["y:1", "x:1"], "sizeBytes": 7}, {"names": ["z:1"]}]})
    assert made.images == (("x:1", 7), ("y:1", 7), ("z:1", 0))
