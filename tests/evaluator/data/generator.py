"""A generator of events: a node, then pods that come and go, by chance from the seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

NAME = "pods"
SEEDS = [1, 2]
POLICIES = ["fifo"]


def node(cpus: int) -> dict[str, Any]:
    """A node."""
    offers = {"cpu": str(cpus), "memory": "8Gi"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": offers}}


def pod(number: int, hours: int) -> dict[str, Any]:
    """A pod that says how long it takes."""
    said = {"kumi.dev/execution-duration": f"{hours}h"}
    containers = [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "1"}}}]
    meta = {"name": f"pod-{number}", "annotations": said}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": containers}}


def events(seed: int, cpus: int = 2) -> Iterator[tuple[str, Any, float]]:
    """Five pods, one of which is deleted; then the node is closed."""
    rng = Random(seed)
    yield "create", node(cpus), 0
    for number in range(5):
        yield "create", pod(number, rng.randint(1, 9)), rng.random()
    yield "delete", pod(3, 1), 0.5
    yield "update", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"unschedulable": True}}, 60
