"""Suites scheduler, scheduler_fs, scheduler_afs, scheduler_recompute and scheduler_twocycle: whole cycles, and what they write.

The decisions' patches are laid over the objects as the API would; what is compared are the objects.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from typing import Any

from kumi.api import kueue
from kumi.api.quantity import nano
from kumi.bridge.into import Deltas
from kumi.bridge.into.quotas import NANO
from kumi.bridge.out import step
from kumi.engine import model
from kumi.engine.admission import cycle
from kumi.engine.decisions import Decision
from kumi.engine.model import Put, Remove, Strategy
from kumi.engine.reasons import Code
from kumi.registry.patch import merge
from kumi.runtime.reconcile import Note

from . import reading

Case = dict[str, Any]
CYCLE_MS = 1


class Stage:
    """The case's objects and a state that has seen them."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.now_ms = reading.now_ms(case)
        self.state = reading.state_of(case)
        self.deltas = Deltas(settings=self.state.profile.settings)
        self.workloads = {reading.decoded(m).key: copy.deepcopy(m) for m in case["objects"] if m["kind"] == "Workload"}
        self.before = copy.deepcopy(self.workloads)
        self.notes: list[Note] = []
        self.skipped: Counter[str] = Counter()
        self.recomputed: dict[str, Counter[str]] = {}

    def run(self) -> None:
        """One cycle, and what it writes."""
        done = cycle.once(self.state, self.now_ms)
        for verdict in done.verdicts:
            queue = verdict.entry.queue.name
            self.skipped[queue] += verdict.skipped
            if verdict.recomputed:
                self.recomputed.setdefault(queue, Counter())[verdict.recomputed] += 1
        for decision in done.decided:
            self._write(decision)

    def _write(self, decision: Decision) -> None:
        manifest = self.workloads[decision.workload]  # type: ignore[union-attr]
        view = reading.decoded(manifest)
        made = step("t", decision, view, self.now_ms)
        if self.case["input"].get("admissionError"):
            self.state.settle(decision, False)
            return
        for write in made.writes:
            merge.apply(manifest, {k: v for k, v in write.body.items() if k != "metadata"})  # type: ignore[union-attr]
        self.notes.extend(made.notes)
        self.state.settle(decision, True)
        self.state.apply(self.deltas.put(reading.decoded(manifest)))

    def delete(self, key: str) -> None:
        """The workload is gone."""
        del self.workloads[key]
        self.state.apply(Remove(model.Workload, key))

    def assignments(self) -> dict[str, Any]:
        """Who holds quota, by the objects."""
        held = {}
        for key, manifest in self.workloads.items():
            view = reading.decoded(manifest)
            assert isinstance(view, kueue.Workload)
            reserved = [c for c in view.status.conditions if c.type == "QuotaReserved" and c.status == "True"]
            if reserved and view.status.admission is not None:
                held[key] = manifest["status"]["admission"]
        return held

    def became(self, type_: str) -> list[dict[str, str]]:
        """Workloads of which the condition became True, and its reason."""
        found = []
        for key, manifest in self.workloads.items():
            now, was = _condition(manifest, type_), _condition(self.before[key], type_)
            if now is not None and now["status"] == "True" and (was is None or was["status"] != "True"):
                found.append({"workload": key, "reason": now["reason"]})
        return found

    def written(self) -> dict[str, Any]:
        """Every workload's conditions and admission."""
        return {key: _written(manifest) for key, manifest in self.workloads.items()}

    def waiting(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """ClusterQueue -> who still stands in its line, and who was set aside."""
        left: dict[str, list[str]] = {}
        aside: dict[str, list[str]] = {}
        for key, spot in self.state.queues.spot.items():
            table = left if self.state.queues.set_aside(key) is None else aside
            table.setdefault(spot.queue, []).append(key)
        for key, reason in self.state.aside.items():
            door = self.state.catalog.local_queues.get(self.state.workloads[key].queue)
            queue = self.state.catalog.cluster_queues.get(door.cluster_queue) if door is not None else None
            if queue is not None:
                in_line = queue.strategy is Strategy.STRICT and reason.code is not Code.NAMESPACE_NOT_SELECTED
                (left if in_line else aside).setdefault(queue.name, []).append(key)
        return left, aside

    def events(self) -> list[dict[str, str]]:
        """What was told of workloads."""
        told = [n for n in self.notes if n.about["kind"] == "Workload"]
        return [
            {"object": f"{n.about.get('namespace', '')}/{n.about['name']}", "type": n.type, "reason": n.reason}
            for n in told
        ]


def _condition(manifest: reading.Manifest, type_: str) -> dict[str, Any] | None:
    found: list[dict[str, Any]] = (manifest.get("status") or {}).get("conditions") or []
    return next((c for c in found if c["type"] == type_), None)


def _written(manifest: reading.Manifest) -> dict[str, Any]:
    status = manifest.get("status") or {}
    conditions = [{k: c[k] for k in ("type", "status", "reason")} for c in status.get("conditions") or ()]
    return {"conditions": sorted(conditions, key=lambda c: c["type"]), "admission": status.get("admission")}


def run(case: Case) -> dict[str, Any]:
    """So many cycles."""
    stage = Stage(case)
    asked = case["input"]
    _set_usage(stage, asked)
    if "deleteLocalQueueBeforeScheduling" in asked:  # the lines still have it, past usage has not
        stage.state.past.part(asked["deleteLocalQueueBeforeScheduling"])
    for _ in range(asked["cycles"]):
        stage.run()
        stage.now_ms += CYCLE_MS
    left, aside = stage.waiting()
    return {
        "assignments": stage.assignments(),
        "left": left,
        "inadmissible": aside,
        "preempted": stage.became("Preempted"),
        "evicted": stage.became("Evicted"),
        "workloads": stage.written(),
        "events": stage.events(),
        "skippedPreemptions": dict(stage.skipped),
        "preemptionTargetRecomputations": {queue: dict(found) for queue, found in stage.recomputed.items()},
    }


def _set_usage(stage: Stage, asked: dict[str, Any]) -> None:
    since = reading.parse_time(asked.get("initialUsageTime")) or stage.now_ms
    for door, usage in (asked.get("initialLocalQueueUsage") or {}).items():
        known = stage.state.catalog.local_queues[door]
        consumed = tuple(sorted((name, nano(written) / NANO) for name, written in usage.items()))
        stage.state.apply(Put(replace(known, consumed=consumed, consumed_ms=since)))


def run_two(case: Case) -> dict[str, Any]:
    """A cycle, workloads that go, another cycle."""
    stage = Stage(case)
    result: dict[str, Any] = {}
    for at in case["input"]["steps"]:
        if at["op"] == "deleteWorkloads":
            for key in at["keys"]:
                stage.delete(key)
            continue
        stage.run()
        stage.now_ms += CYCLE_MS
        if "afterFirst" in result:
            result["afterSecond"] = {"assignments": stage.assignments()}
        else:
            result["afterFirst"] = {
                "assignments": copy.deepcopy(stage.assignments()),
                "preempted": stage.became("Preempted"),
                "evicted": stage.became("Evicted"),
                "workloads": stage.written(),
            }
    return result


SUITES = {
    "scheduler": run,
    "scheduler_fs": run,
    "scheduler_afs": run,
    "scheduler_recompute": run,
    "scheduler_twocycle": run_two,
}
