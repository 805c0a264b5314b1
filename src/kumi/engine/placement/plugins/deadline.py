"""Deadline: the gang that must be done first goes first.

The rule   the gang with the earlier deadline; one without a deadline goes last
Why        where all deadlines can be met one after the other, this order meets them. It doesn't know who can afford to wait:
           least_slack.py.
With time  nothing moves: the order changes only when something is said otherwise.
Units      milliseconds.
Cost       O(tasks) a gang a session.
Source     earliest deadline first (Jackson 1955).
Not here   what is said: gang_times.py; pods on their own: ../../waiting.py; workloads in a ClusterQueue: kumi.bridge.into.due.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.plugins.gang_times import deadline_ms
from kumi.engine.placement.tasks import Job


@dataclass(frozen=True, slots=True)
class Deadline:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> Deadline:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _Deadline:
        """See Plugin."""
        return _Deadline(session)


@dataclass(frozen=True, slots=True)
class _Deadline:
    session: Framework
    said: dict[str, int | None] = field(default_factory=dict)

    def job_key(self, job: Job) -> tuple[bool, int]:
        if job.key not in self.said:
            self.said[job.key] = deadline_ms(self.session.tasks, job)
        said = self.said[job.key]
        return (said is None, said or 0)
