"""Queue needs: what a queue's gangs that were let in are still to get, and what they have past their need.

The rule, of the gangs of a queue:
    inqueue    sum of max(needs - allocated, 0) over those that are let in, or run with their minimum; what pods ask for that
               somebody else still holds back doesn't count. A gang that is let in now adds all it needs, less that
    elastic    sum of max(allocated - needs, 0)
Why        a gang that was let in and has no pods yet has a claim, or the next one would be let in on the same room.
Source     Volcano: proportion and capacity plug-ins.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.engine.gangs import Phase
from kumi.engine.placement.amounts import Shared, Sums, beyond, minus, plus
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import HOLDING, Job, Status, request


@dataclass(slots=True)
class Needs:
    """Of one session. Elastic amounts move with what is allocated; the rest is counted when the session opens."""

    session: Framework
    inqueue: dict[str, Shared] = field(default_factory=dict)
    _counted: bool = False

    def open(self) -> Needs:
        """Counts what is there now if gangs are let in in this session; else when somebody asks."""
        if "enqueue" in self.session.conf.actions:
            self._count()
        return self

    def _count(self) -> None:
        if self._counted:
            return
        self._counted = True
        for job in self.session.jobs():
            assert job.group is not None
            if job.group.phase is Phase.INQUEUE or (
                job.group.phase is Phase.RUNNING and job.count(*HOLDING) >= job.group.least
            ):
                self._add(job.group.queue, waiting_for(self.session, job))

    def of(self, queue: str) -> Sums:
        """The queue's inqueue."""
        self._count()
        return self.inqueue.get(queue, {})

    def let_in(self, job: Job) -> None:
        """A gang was let in."""
        self._count()
        assert job.group is not None
        self._add(job.group.queue, not_held_back(self.session, job, needs(job)))

    def elastic(self, queue: str) -> Shared:
        """The queue's elastic amounts."""
        total: Shared = {}
        for key in self.session.tasks.of_queue.get(queue, ()):
            job = self.session.tasks.jobs[key]
            total = plus(total, beyond(job.allocated, needs(job)))
        return total

    def _add(self, queue: str, amounts: Sums) -> None:
        self.inqueue[queue] = plus(self.inqueue.get(queue, {}), amounts)


def needs(job: Job) -> Shared:
    """What the gang says it needs in all."""
    assert job.group is not None
    return dict(job.group.resources or ())


def waiting_for(session: Framework, job: Job) -> Shared:
    """What of it isn't there yet."""
    return not_held_back(session, job, beyond(needs(job), job.allocated))


def not_held_back(session: Framework, job: Job, amounts: Sums) -> Shared:
    """Those amounts, less what the gang's pods ask for that somebody else still holds back."""
    pods = session.tasks.pods
    gated: Shared = {}
    for uid in job.by_status.get(Status.PENDING, ()):
        if pods[uid].gated:
            gated = plus(gated, dict(request(pods[uid])))
    return {d: max(amount, 0) for d, amount in minus(amounts, gated).items() if d in amounts}
