"""Priority: who matters more goes first, and may take from who matters less.

The rule   gangs by their priority, tasks by theirs, the higher first
           within a queue a task may evict tasks of other gangs of a lower priority than its own gang, and tasks of its own gang
           of a lower priority than its own
           a gang as a whole may evict those of gangs of a lower priority; across queues anybody: others have a say there
           a gang is starving while not all of its tasks are ready or promised a place
Source     Volcano: priority plug-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.engine.model import Pod
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import READY, Job, Status, task_priority


@dataclass(frozen=True, slots=True)
class Priority:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> Priority:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _Priority:
        """See Plugin."""
        return _Priority(session)


@dataclass(frozen=True, slots=True)
class _Priority:
    session: Framework

    def job_key(self, job: Job) -> int:
        return -self._of(job)

    def task_key(self, task: Pod) -> int:
        return -task_priority(task.member)

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        mine = self.session.job_of(preemptor)
        victims = []
        for pod in candidates:
            job = self.session.job_of(pod)
            if job is mine:
                lower = task_priority(pod.member) < task_priority(preemptor.member)
            else:
                lower = self._of(job) < self._of(mine)
            if lower:
                victims.append(pod)
        return victims

    def preempts_from(self, preemptor: Job, priority: int) -> bool:
        return priority < self._of(preemptor)

    def evictable(self, preemptor: Job, candidates: Sequence[Pod], reclaim: bool) -> list[Pod] | None:
        if reclaim:
            return list(candidates)
        return [pod for pod in candidates if self._of(self.session.job_of(pod)) < self._of(preemptor)]

    def evicts_from(self, preemptor: Job, job: Job, reclaim: bool) -> bool:
        return reclaim or self._of(job) < self._of(preemptor)

    def job_starving(self, job: Job) -> bool:
        return job.count(*READY, Status.PIPELINED) < len(job.tasks)

    def _of(self, job: Job) -> int:
        return self.session.tasks.priority(job)
