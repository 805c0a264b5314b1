"""A case's objects as a state, and one session on it.

What the corpus leaves out and a cluster has: nodes are ready, and a pod group about whose pods nothing is said has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from kumi.api.errors import FieldError
from kumi.api.meta import Object, parse_time
from kumi.api.quantity import unit_of
from kumi.api.scheme import load
from kumi.bridge.into import TYPES, Deltas, volumeclaim
from kumi.engine.model import NodeUsage, Profile, Put
from kumi.engine.placement import rounds
from kumi.engine.placement.conf import Conf, parse
from kumi.engine.placement.surroundings import Surroundings
from kumi.engine.placement.tasks import COUNTED
from kumi.engine.state import State
from volcano_cases.fakes import plugins

SCHEME = load()
SCHEDULERS = ("", "default-scheduler", "kumi", "volcano")
RECORDED = "2026-11-29T20:36:21Z"
"""the clock of the cases that don't name one: the day on which they were recorded"""
PERIOD = "10m"
READY = {"type": "Ready", "status": "True"}


@dataclass(frozen=True)
class Opened:
    """A case as the engine has it."""

    state: State
    conf: Conf
    around: Surroundings

    def name_of(self, uid: str) -> str:
        """`namespace/name` of a pod."""
        return self.state.pods.by_uid[uid].key


def opened(case: dict[str, Any]) -> Opened | None:
    """None where one of the plug-ins or actions isn't there."""
    errors: list[FieldError] = []
    conf = parse(case["schedulerConf"], errors, unsaid=False)
    assert errors == []
    state = State(Profile(name="volcano"))
    deltas, volumes = Deltas(SCHEDULERS), volumeclaim.VolumeClaims()
    for manifest in case.get("objects", ()):
        if manifest["kind"] == "Node":
            manifest.setdefault("status", {}).setdefault("conditions", []).append(READY)
        kind = SCHEME.of_object(manifest)
        if kind is None:
            continue
        obj: Object = msgspec.convert(manifest, kind.type)
        if kind.type in volumeclaim.TYPES:
            for delta in volumes.deltas(None, obj):
                state.apply(delta)
        elif kind.type in TYPES:
            state.apply(deltas.put(obj))
    for name, used in case["input"].get("nodeUsage", {}).items():
        state.apply(Put(_usage(name, used)))
    now = parse_time(case["input"].get("now") or RECORDED) or 0
    return Opened(state, conf, Surroundings(state.tasks, state.nodes, state.pods, state.journal, now))


def _awaits_volume(case: dict[str, Any], at: Opened, uid: str) -> bool:
    """The corpus has the calls of the API, and Volcano tells a pod its node only when its volumes are bound, which nobody does
    there; here a volume comes to the node of its pod."""
    keys = at.state.pods.by_uid[uid].shape.volume_claims
    unbound = [
        o["metadata"]
        for o in case["objects"]
        if o["kind"] == "PersistentVolumeClaim" and not o["spec"].get("volumeName")
    ]
    return any(f"{meta['namespace']}/{meta['name']}" in keys for meta in unbound)


def _usage(name: str, used: dict[str, Any]) -> NodeUsage:
    """Averages of ten minutes."""
    cpu, memory = (used.get(resource, {}).get(PERIOD) for resource in ("cpu", "memory"))
    return NodeUsage(name, cpu, memory, parse_time(used.get("metricsTime")) or 0)


def run(case: dict[str, Any], at: Opened) -> dict[str, Any]:
    """Binds, evictions, what is promised, and what every gang and task is at the end."""
    done = rounds.run(at.around, at.conf, plugins(case))
    pipelined: dict[str, list[str]] = {}
    counts: dict[str, dict[str, int]] = {key: {} for key in done.phases}
    allocated: dict[str, dict[str, float]] = {key: {} for key in done.phases}
    for uid, status in done.status.items():
        group = at.state.tasks.pods[uid].member.group
        table = counts.setdefault(group, {})
        word = status.name.capitalize()
        table[word] = table.get(word, 0) + 1
        if word == "Pipelined":
            pipelined.setdefault(group, []).append(done.node[uid])
        if status in COUNTED:
            for resource, amount in at.state.tasks.requests[uid]:
                sums, name = allocated.setdefault(group, {}), "milliCPU" if resource == "cpu" else resource
                sums[name] = sums.get(name, 0) + whole(resource, amount)
    return {
        "binds": {at.name_of(uid): node for uid, node in done.outcome.binds if not _awaits_volume(case, at, uid)},
        "evicted": [at.name_of(uid) for uid, _ in done.outcome.evictions],
        "pipelined": pipelined,
        "podGroupPhase": {key: phase.value for key, phase in done.phases.items()},
        "taskStatusCounts": counts,
        "allocated": allocated,
        "tasks": {
            at.name_of(uid): {"status": status.name.capitalize(), "node": done.node.get(uid, "")}
            for uid, status in done.status.items()
        },
    }


def whole(resource: str, amount: float) -> float:
    """An amount in the units of the corpus: thousandths for cpu and devices, bytes, pods one by one."""
    return (
        amount / 1000 if resource == "pods" else amount / unit_of(resource) * (1000 if unit_of(resource) == 1000 else 1)
    )
