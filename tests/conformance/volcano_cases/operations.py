"""Cases of a single function: `op` names it. OPERATIONS: name -> function(input) -> result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from kumi.api import volcano
from kumi.bridge.into.podgroup import podgroup
from kumi.engine.model import Cpu
from kumi.engine.placement.plugins.capacity_flat import Standing
from kumi.engine.placement.plugins.numa_cpus import cpu_hints, give
from kumi.engine.placement.plugins.numa_hints import Hint, best_hint, mask_of, nodes_of
from kumi.engine.placement.plugins.task_topology import is_wrong
from kumi.engine.placement.plugins.tdm import Window


def queue_share(said: dict[str, Any]) -> dict[str, Any]:
    """Of the units of the corpus, which are the engine's."""
    allocated, deserved = (
        {"cpu" if name == "milliCPU" else name: amount for name, amount in said[key].items()}
        for key in ("allocated", "deserved")
    )
    return {"share": Standing.of(allocated, deserved).share}


def parse_revocable_zone(said: dict[str, Any]) -> dict[str, Any]:
    """The length of the window."""
    window = Window.parse(said["zone"])
    return {"error": True} if window is None else {"error": False, "durationSeconds": window.length_ms / 1000}


def read_topology(said: dict[str, Any]) -> dict[str, Any]:
    """What the annotations of a pod group say of roles."""
    annotations = said["annotations"] or {}
    view: dict[str, Any] = {"metadata": {"name": "j", "namespace": "ns", "annotations": annotations}}
    group = podgroup(msgspec.convert(view, volcano.PodGroup))
    if is_wrong(group, said["taskRoles"]):
        return {"error": True, "topology": None}
    if not annotations:
        return {"error": False, "topology": None}
    words = {"affinity": group.affinity, "antiAffinity": group.anti_affinity, "taskOrder": group.role_order}
    return {"error": False, **{word: msgspec.to_builtins(list(roles)) for word, roles in words.items()}}


def merge_hints(said: dict[str, Any]) -> dict[str, Any]:
    """The best hint, and whether the policy admits it."""
    hints = [
        None if one is None else [_hint(h) for h in one]
        for provider in said["providersHints"]
        for one in ((provider or {}).values() or [None])
    ]
    best, admitted = best_hint(said["policy"], mask_of(said["numaNodes"]), hints)
    return {"bestHint": _written(best), "admit": admitted}


def cpu_hints_of(said: dict[str, Any]) -> dict[str, Any]:
    """The hints for whole cpus."""
    found = cpu_hints(_cpus(said), frozenset(said["availableCpus"]), int(said["cpuRequest"]))
    return {"hints": [_written(hint) for hint in found]}


def cpu_allocate(said: dict[str, Any]) -> dict[str, Any]:
    """The cpus that a container gets."""
    given = give(_cpus(said), frozenset(said["availableCpus"]), int(said["cpuRequest"]), _hint(said["bestHint"]))
    return {"cpus": sorted(given)}


def _cpus(said: dict[str, Any]) -> list[Cpu]:
    return [Cpu(int(n), c["CoreID"], c["SocketID"], c["NUMANodeID"]) for n, c in said["cpuTopology"].items()]


def _hint(said: dict[str, Any]) -> Hint:
    return Hint(mask_of(said["numaNodes"]) if "numaNodes" in said else None, said["preferred"])


def _written(hint: Hint) -> dict[str, Any]:
    nodes = {} if hint.nodes is None else {"numaNodes": nodes_of(hint.nodes)}
    return {**nodes, "preferred": hint.preferred}


OPERATIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "queueShare": queue_share,
    "parseRevocableZone": parse_revocable_zone,
    "readTopology": read_topology,
    "mergeHints": merge_hints,
    "cpuHints": cpu_hints_of,
    "cpuAllocate": cpu_allocate,
}


def run(case: dict[str, Any]) -> dict[str, Any] | None:
    """The result; None for an operation without an adapter."""
    one = OPERATIONS.get(case["input"]["op"])
    return one(case["input"]) if one is not None else None
