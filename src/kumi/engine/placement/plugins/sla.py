"""SLA: a gang that has waited as long as it may goes first, and is let in whatever the others say.

The rule   limit      the gang's own sla-waiting-time, else the plug-in's argument; none: it may wait for ever
           deadline   creation + limit
           first      the earlier deadline; one that has none goes last
           from then  it is let in, and kept on nodes that others are leaving; before, no opinion
Units      milliseconds.
Source     Volcano: sla plug-in.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.engine.gangs import Phase
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Vote
from kumi.engine.placement.tasks import Job

WAITING = (Phase.NEW, Phase.PENDING, Phase.INQUEUE)


@dataclass(frozen=True, slots=True)
class Sla:
    """`limit_ms` None: no limit but those that gangs have of their own."""

    limit_ms: int | None = None

    @classmethod
    def configured(cls, option: Option) -> Sla:
        """See Configured."""
        return cls(option.arguments.length_ms("sla-waiting-time"))

    def open(self, session: Framework) -> _Sla:
        """See Plugin."""
        return _Sla(session, session.around.now_ms, self.limit_ms)


@dataclass(frozen=True, slots=True)
class _Sla:
    session: Framework
    now_ms: int
    limit_ms: int | None

    def deadline_ms(self, job: Job) -> int | None:
        """When it has waited long enough."""
        assert job.group is not None
        limit = self.limit_ms if job.group.waiting_ms is None else job.group.waiting_ms
        return None if limit is None else job.group.created_ms + limit

    def job_key(self, job: Job) -> tuple[bool, int]:
        deadline = self.deadline_ms(job)
        return (deadline is None, deadline or 0)

    def job_enqueueable(self, job: Job) -> Vote:
        return self._vote(job)

    def job_pipelined(self, job: Job) -> Vote:
        return self._vote(job)

    def wake_ms(self) -> int | None:
        deadlines = (self.deadline_ms(job) for job in self.session.outside())
        return min((ms for ms in deadlines if ms is not None and ms > self.now_ms), default=None)

    def _vote(self, job: Job) -> Vote:
        deadline = self.deadline_ms(job)
        return Vote.PERMIT if deadline is not None and self.now_ms >= deadline else Vote.ABSTAIN
