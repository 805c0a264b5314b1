"""Disruption budgets: nobody goes for others against one.

The rule   of the candidates, in the given order, each goes where every budget that guards it has one left (../budgets.py), and
           costs each of these one; what the session evicted before counts
           one that doesn't go costs nothing; one that no budget guards goes
           without budgets no opinion
Differs    from pdb.py, which is Volcano's: there one that doesn't go costs its budgets all the same, a pod without labels never
           goes, whole gangs are evicted whatever budgets say, and two evictions of a session don't know of each other.
Leaves     who has to leave whoever waits (the action shuffle) leaves.
Cost       O(budgets of the namespace) a candidate; nothing where there are no budgets.
Source     Kumi's own; Kubernetes: disruption budgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kumi.engine.model import Pod
from kumi.engine.placement.budgets import guarding, left
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import Job, Status


@dataclass(frozen=True, slots=True)
class DisruptionBudgets:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> DisruptionBudgets:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _DisruptionBudgets:
        """See Plugin."""
        return _DisruptionBudgets(session, left(session.tasks))


@dataclass(frozen=True, slots=True)
class _DisruptionBudgets:
    session: Framework
    left: dict[str, int]
    spent: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """whom the session evicts -> the budgets that it costs one"""

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return self._within(candidates)

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return self._within(candidates)

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        return self._within(candidates)

    def seated(self, task: Pod, row: int, times: int) -> None:
        """See hooks.Seated: one that leaves, or stays after all."""
        if times < 0 and self.left and self.session.tasks.status[task.uid] is Status.RELEASING:
            keys = self._guarding(task)
            self.session.journal.put(self.spent, task.uid, keys)
            self._change(keys, -1)
        elif times > 0 and task.uid in self.spent:
            self._change(self.spent[task.uid], 1)
            self.session.journal.drop(self.spent, task.uid)

    def seated_run(self, tasks: Sequence[Pod], rows: Sequence[int]) -> None:
        """See hooks.SeatedRun: those that come cost nothing."""

    def _change(self, keys: Sequence[str], by: int) -> None:
        for key in keys:
            self.session.journal.put(self.left, key, self.left[key] + by)

    def _guarding(self, pod: Pod) -> tuple[str, ...]:
        return tuple(budget.key for budget in guarding(self.session.tasks, pod))

    def _within(self, candidates: Sequence[Pod]) -> list[Pod] | None:
        if not self.left:
            return None
        remaining: dict[str, int] = {}
        victims = []
        for pod in candidates:
            keys = () if pod.uid in self.spent else self._guarding(pod)
            if all(remaining.get(key, self.left[key]) > 0 for key in keys):
                victims.append(pod)
                remaining.update((key, remaining.get(key, self.left[key]) - 1) for key in keys)
        return victims
