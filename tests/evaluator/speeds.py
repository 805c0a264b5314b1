"""One load at both speeds, and what was told of each run, for tests that compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kumi.engine.decisions import Admit, Bind, Decision, Evict, EvictPod, Nominate
from kumi.engine.model import Delta
from kumi.evaluator.engine import Run
from kumi.evaluator.model import START_MS, Job, Load, Places, Policy, What
from kumi.evaluator.stack import StackRun


class Heard:
    """An Observer: decisions in their order, about whom and where; what happened, in no order within an instant."""

    def __init__(self) -> None:
        self.decisions: list[tuple[Any, ...]] = []
        self.happenings: list[tuple[Any, ...]] = []
        self.waiting: list[tuple[str, str]] = []

    def happened(self, now_ms: int, what: What, job: Job, kept_ms: int) -> None:
        """See Observer."""
        self.happenings.append((now_ms - START_MS, what.value, job.key, kept_ms))

    def placed(self, now_ms: int, job: Job, places: Places) -> None:
        """See Observer."""
        self.happenings.append((now_ms - START_MS, "placed", job.key, tuple(sorted(places))))

    def left(self, now_ms: int, job: Job, places: Places) -> None:
        """See Observer."""

    def changed(self, now_ms: int, delta: Delta) -> None:
        """See Observer."""

    def decided(self, now_ms: int, decision: Decision) -> None:
        """See Observer."""
        at = now_ms - START_MS
        match decision:
            case Bind() | Nominate():
                whom = decision.pod.rpartition("#")[2]
                self.decisions.append((at, type(decision).__name__, whom, decision.node))
            case EvictPod():
                self.decisions.append((at, "EvictPod", decision.pod.rpartition("#")[2]))
            case Admit():
                nodes = tuple(given.nodes for given in decision.admission.pod_sets)
                self.decisions.append((at, "Admit", decision.workload, nodes))
            case Evict():
                self.decisions.append((at, "Evict", decision.workload, decision.why, decision.by))

    def closed(self, now_ms: int, waiting: Sequence[tuple[str, str]]) -> None:
        """See Observer."""
        self.waiting = list(waiting)


def at_engine_speed(load: Load, policy: Policy, seed: int = 0) -> Heard:
    """What is heard of the run."""
    return _heard(Run(load, policy, seed, [heard := Heard()]), heard)


def at_stack_speed(load: Load, policy: Policy, seed: int = 0) -> Heard:
    """What is heard of the run."""
    return _heard(StackRun(load, policy, seed, [heard := Heard()]), heard)


def _heard(run: Run | StackRun, heard: Heard) -> Heard:
    while run.advance(100):
        pass
    run.close()
    heard.happenings.sort(key=repr)
    return heard
