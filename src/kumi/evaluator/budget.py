"""Budget: how much virtual and real time a run may take.

Units      virtual time in ms from the load's start, real time in seconds from when the run was made or resumed.
Why        a clock is an argument: a run without one never looks at real time, and is the same anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ALL_WAS_PLAYED = ""
VIRTUAL_TIME_SPENT = "The run's budget of virtual time was used up."
STOPPED = "It was stopped."
REAL_TIME_SPENT = "The run's budget of real time was used up."


@dataclass(frozen=True, slots=True)
class Budget:
    """None: no limit. `clock`: real time in seconds, from anywhere."""

    virtual_ms: int | None = None
    real_s: float | None = None
    clock: Callable[[], float] | None = None

    @property
    def is_limited(self) -> bool:
        """Can it be spent?"""
        return self.virtual_ms is not None or self.real_s is not None

    def now_s(self) -> float:
        """Real time; 0 where there is no clock."""
        return self.clock() if self.clock is not None else 0.0

    def spent_of_virtual(self, virtual_ms: int) -> str:
        """A sentence, where a run that comes to this time from its start has none left; "" else."""
        over = self.virtual_ms is not None and virtual_ms > self.virtual_ms
        return VIRTUAL_TIME_SPENT if over else ALL_WAS_PLAYED

    def spent_of_real(self, since_s: float) -> str:
        """The same of real time, for a run that began at `since_s`."""
        over = self.real_s is not None and self.now_s() - since_s > self.real_s
        return REAL_TIME_SPENT if over else ALL_WAS_PLAYED
