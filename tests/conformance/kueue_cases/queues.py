"""Suites queue_order, queue_ops and entry_order: who is first, who comes back, and in which order heads are tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kumi.api.quantity import nano
from kumi.bridge.into import Deltas
from kumi.bridge.into.quotas import NANO
from kumi.engine import model
from kumi.engine.admission import moves, requeue
from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.entries import Entry, ordered
from kumi.engine.admission.verdicts import Outcome
from kumi.engine.model import Put, Remove
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State

from . import reading

Case = dict[str, Any]


def named(key: str) -> str:
    """The key as the cases have it: also of a workload without a namespace."""
    return key if "/" in key else f"/{key}"


MET = Parked(Reason(Code.QUOTA_IN_USE))


class Line:
    """The state with one ClusterQueue and the operations of the cases on it. A workload whose LocalQueue is not among the
    objects gets one that leads to the queue."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.state = reading.state_of(case)
        self.queue = str(case["input"]["clusterQueue"])
        self._deltas = Deltas(settings=self.state.profile.settings)
        self.popped: dict[str, None] = {}

    @property
    def strategy(self) -> model.Strategy:
        """Of the queue."""
        return self.state.catalog.cluster_queues[self.queue].strategy

    def push(self, manifest: reading.Manifest) -> str:
        """The workload is there, or another than it was."""
        noun = self._deltas.put(reading.decoded(manifest)).noun
        assert isinstance(noun, model.Workload)
        known = self.state.catalog.local_queues.get(noun.queue)
        if known is None or known.cluster_queue != self.queue:
            weight = known.weight if known is not None else 1.0
            self.state.apply(Put(model.LocalQueue(noun.queue, self.queue, weight=weight)))
        self.state.apply(Put(noun))
        return noun.key

    def pop(self) -> str | None:
        """Whose turn it is."""
        head = self.state.queues.head(self.queue, self.strategy)
        if head is not None:
            self.popped[head] = None
        return head

    def requeue(self, op: dict[str, Any]) -> None:
        """The workload was tried, with this outcome; one that is ready and wasn't popped can't have been."""
        manifest = op["workload"]
        key = reading.decoded(manifest).key
        waits = key in self.state.queues.spot and key not in self.popped
        if waits and op.get("immediate") and self.state.queues.set_aside(key) is not None:
            self.state.queues.wake_alone(key)
            return
        if waits:
            return
        self.push(manifest)
        self.popped.pop(key, None)
        if key not in self.state.queues.spot:
            return
        tried = op.get("lastTriedFlavorIdx")
        if tried is not None:
            self.state.queues.go_on(key, tuple(tuple(sorted(one.items())) for one in tried))
        reason = "FailedAfterNomination" if op.get("immediate") else op.get("reason", "")
        requeue.settle(self.state, key, Outcome(reason), MET)

    def active(self) -> list[str]:
        """Those who wait and were not set aside."""
        return [key for key in self.state.queues.spot if self.state.queues.set_aside(key) is None]

    def aside(self) -> list[str]:
        """Those who were."""
        queues = self.state.queues
        return [*self.state.aside, *(key for key in queues.spot if queues.set_aside(key) is not None)]


def run_ops(case: Case) -> dict[str, Any]:
    """One operation after the other."""
    line = Line(case)
    result: dict[str, Any] = {}
    last = ""
    for op in case["input"]["ops"]:
        last = op.get("key") or last
        match op["op"]:
            case "push":
                last = line.push(op["workload"])
            case "pop":
                popped = line.pop()
                result["popped"] = named(popped) if popped is not None else None
            case "requeue":
                last = reading.decoded(op["workload"]).key
                line.requeue(op)
            case "delete":
                line.state.apply(Remove(model.Workload, op["key"]))
            case "queueInadmissible":
                before = len(line.active())
                line.state.journal.put(line.state.queues.freed, line.queue, None)
                moves.WAY.bring_back(line.state)
                result["requeued"] = len(line.active()) - before
    waiting = line.active()
    return result | {
        "active": [named(key) for key in waiting if key not in line.popped],
        "pending": len(waiting) + len(line.aside()) - len(line.popped),
        "inadmissibleCount": len(line.aside()),
        "inadmissible": last in line.aside(),
        "sticky": last in line.state.queues.sticky.values(),
    }


def first(case: Case) -> dict[str, Any]:
    """Who is popped first."""
    line = Line(case)
    for manifest in case["input"]["push"]:
        line.push(manifest)
    for door, usage in (case["input"].get("localQueueUsage") or {}).items():
        known = line.state.catalog.local_queues[door]
        consumed = tuple(sorted((name, nano(written) / NANO) for name, written in usage.items()))
        line.state.apply(Put(replace(known, consumed=consumed, consumed_ms=reading.now_ms(case))))
    return {"first": named(line.pop() or "")}


def order(case: Case) -> dict[str, Any]:
    """In which order heads are tried: each of a queue of its own, with no cohort between them."""
    state = State(model.Profile(name="kueue", places=False, settings=reading.settings_of(case)))
    deltas = Deltas(settings=state.profile.settings)
    entries = []
    for number, one in enumerate(case["input"]["entries"]):
        noun = deltas.put(reading.decoded(one["workload"])).noun
        assert isinstance(noun, model.Workload)
        queue = model.ClusterQueue(f"cq-{number}", ())
        assignment = Assignment(queue.name, Mode.FIT, (), {}, level=one["borrowing"])
        entries.append(Entry(replace(noun, waiting=one["isPreemptor"]), queue, assignment))
    return {"order": [entry.key.rpartition("/")[2] for entry in ordered(state, entries)]}


SUITES = {"queue_order": first, "queue_ops": run_ops, "entry_order": order}
