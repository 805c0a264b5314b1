"""Shortest: the gang that takes the least time goes first.

The rule   the gang that says it takes less time; one of which nobody says goes last
Why        the mean wait is the least where short ones go first; long ones may wait for ever.
With time  nothing moves: the order changes only when something is said otherwise.
Units      milliseconds.
Cost       O(tasks) a gang a session.
Source     shortest job first.
Not here   what is said: gang_times.py; pods on their own: ../../waiting.py; workloads in a ClusterQueue: kumi.bridge.into.due.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.engine.placement.conf import Option
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.plugins.gang_times import execution_ms
from kumi.engine.placement.tasks import Job


@dataclass(frozen=True, slots=True)
class Shortest:
    """See the module; it has no arguments."""

    @classmethod
    def configured(cls, option: Option) -> Shortest:
        """See Configured."""
        return cls()

    def open(self, session: Framework) -> _Shortest:
        """See Plugin."""
        return _Shortest(session)


@dataclass(frozen=True, slots=True)
class _Shortest:
    session: Framework
    said: dict[str, int | None] = field(default_factory=dict)

    def job_key(self, job: Job) -> tuple[bool, int]:
        if job.key not in self.said:
            self.said[job.key] = execution_ms(self.session.tasks, job)
        said = self.said[job.key]
        return (said is None, said or 0)
