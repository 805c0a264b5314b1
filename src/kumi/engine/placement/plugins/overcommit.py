"""Overcommit: gangs are let in while what they need is within the cluster's resources times a factor.

The rule   let in   needs + inqueue is within factor * total - used, in what the gang needs
           inqueue  what the gangs need that were let in, of those that run the part that they haven't got; a gang that is let
                    in now adds what it needs. A gang that doesn't say what it needs is let in
           factor   overcommit-factor, 1.2; below 1 it is 1.2
Source     Volcano: overcommit plug-in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.engine.gangs import Phase
from kumi.engine.placement import amounts
from kumi.engine.placement.amounts import Shared
from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Vote
from kumi.engine.placement.plugins.queue_needs import needs, waiting_for
from kumi.engine.placement.tasks import HOLDING, Job
from kumi.engine.reasons import Code

DEFAULT = 1.2


@dataclass(frozen=True, slots=True)
class Overcommit:
    """See the module."""

    factor: float = DEFAULT

    @classmethod
    def configured(cls, option: Option) -> Overcommit:
        """See Configured."""
        factor = option.arguments.number("overcommit-factor", DEFAULT)
        return cls(factor if factor >= 1 else DEFAULT)

    def open(self, session: Framework) -> _Overcommit:
        """See Plugin."""
        nodes = session.nodes
        rows = nodes.by_name()
        total = session.total()
        used = {r: int(nodes.used[line, rows].sum()) for r, line in nodes.line_by_resource.items()}
        opened = _Overcommit({r: total[r] * self.factor - used[r] for r in total})
        for job in session.jobs():
            assert job.group is not None
            if job.group.phase is Phase.INQUEUE:
                opened.job_enqueued(job)
            elif job.group.phase is Phase.RUNNING and job.count(*HOLDING) >= job.group.least:
                opened.add(waiting_for(session, job))
        return opened


@dataclass(slots=True)
class _Overcommit:
    idle: Shared
    inqueue: Shared = field(default_factory=dict)

    def job_enqueueable(self, job: Job) -> Vote:
        assert job.group is not None
        if job.group.resources is None:
            return Vote.PERMIT
        wanted = needs(job)
        fits = amounts.within(amounts.plus(self.inqueue, wanted), self.idle, wanted.items())
        return Vote.PERMIT if fits else Vote.REJECT

    def turned_away(self, job: Job) -> Code:
        return Code.NODES_CLAIMED

    def job_enqueued(self, job: Job) -> None:
        self.add(needs(job))

    def add(self, more: Shared) -> None:
        """It is claimed."""
        self.inqueue = amounts.plus(self.inqueue, more)
