"""Dry run: on which node a task costs the least, before anybody is evicted for it.

The rule   the nodes by name, from the first that evicting may make fit; each is tried until enough were found that would do:
           a tenth of the nodes, at least `minCandidateNodesAbsolute` (1), at most `maxCandidateNodesAbsolute` (100); the tenth is
           `minCandidateNodesPercentage` (10)
           on a node   victims go one after the other (victims' order) until the task fits; from the last one backwards, each that
                       may stay after all stays. A node where nobody has to go isn't one: allocate would have taken it
           the best    the lowest priority of the highest victim; then the lowest sum of priorities; then the fewest; then where
                       the highest victims were created last; then the first
Source     Volcano: topology aware preemption; Kubernetes: dry-run preemption. There the first node is drawn at random.
Not here   who may be a victim: preempt.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Arguments
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.heap import Heap
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.tasks import task_priority


@dataclass(frozen=True, slots=True)
class Limits:
    """How many nodes are looked for."""

    percent: int = 10
    least: int = 1
    most: int = 100

    @classmethod
    def configured(cls, arguments: Arguments) -> Limits:
        """As the scheduler's file says."""
        return cls(
            arguments.whole("minCandidateNodesPercentage", 10),
            arguments.whole("minCandidateNodesAbsolute", 1),
            arguments.whole("maxCandidateNodesAbsolute", 100),
        )

    def of(self, nodes: int) -> int:
        """Of that many."""
        return max(1, min(max(nodes * self.percent // 100, self.least), self.most, nodes))


@dataclass(frozen=True, slots=True)
class Found:
    """A node, and who has to go there."""

    node: str
    victims: tuple[Pod, ...]

    def cost(self) -> tuple[int, int, int, int]:
        """What it costs; less is better."""
        priorities = [task_priority(pod.member) for pod in self.victims]
        top = max(priorities)
        oldest = min(pod.created_ms for pod in self.victims if task_priority(pod.member) == top)
        return (top, sum(priorities), len(priorities), -oldest)


def cheapest(found: Sequence[Found]) -> Found | None:
    """The best of them, the first of equals."""
    return min(found, key=Found.cost, default=None)


def victims_on(
    framework: Framework, task: Pod, node: str, candidates: Sequence[Pod], fits: Callable[[], bool]
) -> Found | None:
    """Who has to go so that the task fits on the node; None: it doesn't, or nobody has to. Everything is left as it was."""
    order = Heap(lambda a, b: framework.victim_less(a, b, framework.job_of(task)), candidates)
    before = {pod.uid: framework.tasks.status[pod.uid] for pod in candidates}
    with framework.journal.trial():
        statement = Statement(framework, Outcome())
        gone: list[Pod] = []
        while not fits() and len(order):
            gone.append(order.pop())
            statement.evict(gone[-1], task.uid)
        if not fits():
            return None
        kept = []
        for pod in reversed(gone):
            statement.spare(pod, before[pod.uid])
            if not fits():
                statement.evict(pod, task.uid)
                kept.append(pod)
    return Found(node, tuple(reversed(kept))) if kept else None
