"""PDB: no more pods are evicted than their disruption budgets allow.

The rule   candidates in the given order: each costs one of every budget of its namespace that means it, unless its eviction
           was granted before; it may go where none of these is overdrawn. One that may not go has cost its budgets all the same
           a pod without labels doesn't go at all
Source     Kubernetes: disruption budgets; Volcano: pdb plug-in.
Not here   how many a budget allows: controllers/disruption.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kumi.engine.gangs import DisruptionBudget
from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.selectors import all_hold


@dataclass(frozen=True, slots=True)
class Pdb:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> Pdb:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _Pdb:
        """See Plugin."""
        return _Pdb(session.tasks.budgets_of)


@dataclass(frozen=True, slots=True)
class _Pdb:
    budgets: Mapping[str, tuple[DisruptionBudget, ...]]
    """by namespace"""

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return self._within(candidates)

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return self._within(candidates)

    def victim_tasks(self, running: Sequence[Pod]) -> list[Pod]:
        return self._within(running)

    def _within(self, candidates: Sequence[Pod]) -> list[Pod]:
        left: dict[str, int] = {}
        victims = []
        for pod in candidates:
            if not pod.labels:
                continue
            overdrawn = False
            for budget in self.budgets.get(pod.namespace, ()):
                if means(budget, pod) and pod.name not in budget.granted:
                    left[budget.key] = left.get(budget.key, budget.allowed) - 1
                    overdrawn = overdrawn or left[budget.key] < 0
            if not overdrawn:
                victims.append(pod)
        return victims


def means(budget: DisruptionBudget, pod: Pod) -> bool:
    """Does the budget guard the pod, which is of its namespace?"""
    return bool(budget.selector) and all_hold(budget.selector or (), dict(pod.labels))
