"""DRF: gangs with the smaller dominant share go first.

The rule   share(j) = max over the cluster's resources of allocated(j) / total
           gangs with the smaller share go first
           within a queue a task may evict another where its gang's share, with it, is smaller than the other gang's share without
           the tasks looked at before (those that were passed over too), or the same within one millionth
Hierarchy  with enableHierarchy queues are weighed against each other over their tree: hdrf.py.
Source     Ghodsi et al., Dominant Resource Fairness (2011); Volcano: drf plug-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.engine.gangs import Queue
from kumi.engine.model import Pod
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import Sums
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.plugins.hdrf import Hierarchy
from kumi.engine.placement.tasks import Job, request

SAME = 0.000001


@dataclass(frozen=True, slots=True)
class Drf:
    """`hierarchy`: queues are compared over their tree."""

    hierarchy: bool = False

    @classmethod
    def configured(cls, option: Option) -> Drf:
        """See Configured."""
        return cls("enableHierarchy" in option.switches)

    def open(self, session: Framework) -> _Drf:
        """See Plugin."""
        total = session.total()
        there = tuple((d, total[d]) for d in amounts.named(total))
        return _Hdrf(session, there, Hierarchy.of(session, total)) if self.hierarchy else _Drf(session, there)


@dataclass(frozen=True, slots=True)
class _Drf:
    session: Framework
    there: tuple[tuple[str, float], ...]
    """of what there is something in total"""

    def share(self, allocated: Sums) -> float:
        """The dominant one."""
        return max([amounts.share(allocated.get(d, 0), has) for d, has in self.there], default=0.0)

    def job_key(self, job: Job) -> float:
        return self.share(job.allocated)

    def preemptable(self, preemptor: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        mine = self.share(amounts.plus(self.session.job_of(preemptor).allocated, dict(request(preemptor))))
        left: dict[str, Sums] = {}
        victims = []
        for pod in candidates:
            key = pod.member.group
            left[key] = amounts.minus(left.get(key, self.session.job_of(pod).allocated), dict(request(pod)))
            theirs = self.share(left[key])
            if mine < theirs or abs(mine - theirs) <= SAME:
                victims.append(pod)
        return victims


@dataclass(frozen=True, slots=True)
class _Hdrf(_Drf):
    hierarchy: Hierarchy

    def queue_order(self, one: Queue, other: Queue) -> int:
        return self.hierarchy.compare(one, other)

    def reclaimable(self, reclaimer: Pod, candidates: Sequence[Pod]) -> list[Pod] | None:
        return [pod for pod in candidates if self.hierarchy.gives(reclaimer, pod)]
