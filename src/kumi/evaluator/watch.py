"""Watch: how a run tells how far it is, and is told to stop.

    Progress    how far a run is
    Watch       who is told, and who says when to stop
    Silent      nobody is, and nothing stops it
    Slips       a folder through which runs in other processes tell their progress and are stopped

Rule        a slip is written beside its place and renamed: who reads it sees a whole one or the one before. `stop()` leaves a
            file that every run looks for whenever it tells.
Elsewhere   on a cluster of other machines that don't share the folder there is no progress and no stopping: nothing fails.
Units       milliseconds.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Progress:
    """Of the run `number`: ends and events of the load that were played, of about so many that are `expected` (None: nobody
    knows); virtual time since its start; real time since it was begun, or taken up again with `from_played` played."""

    number: int
    name: str
    played: int
    from_played: int
    expected: int | None
    virtual_ms: int
    real_ms: int

    @property
    def events_per_s(self) -> float:
        """How fast it goes."""
        return 1000 * (self.played - self.from_played) / self.real_ms if self.real_ms else 0.0

    @property
    def part(self) -> float | None:
        """How much of it is played, 0 to 1. None: nobody knows."""
        return min(1.0, self.played / self.expected) if self.expected else None

    @property
    def left_ms(self) -> int | None:
        """How long it still takes, if it goes on as fast."""
        part, begun = self.part, self.from_played / self.expected if self.expected else 0.0
        if part is None or part <= begun:
            return None
        return round(self.real_ms * (1 - part) / (part - begun))


class Watch(Protocol):
    """Is asked now and then by each run."""

    def told(self, progress: Progress) -> None:
        """A run is so far."""
        ...

    def stopped(self) -> bool:
        """Whether runs are to be closed as they are."""
        ...


class Silent:
    """Nobody looks."""

    def told(self, progress: Progress) -> None:
        """Is forgotten."""

    def stopped(self) -> bool:
        """Never."""
        return False


class Slips:
    """See the module. Picklable."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def told(self, progress: Progress) -> None:
        """Writes the run's slip."""
        aside = self._folder / f"{progress.number}.{os.getpid()}.new"
        with suppress(OSError):
            aside.write_text(json.dumps(asdict(progress)), "utf-8")
            aside.replace(self._folder / f"{progress.number}.json")

    def stopped(self) -> bool:
        """See Watch."""
        return (self._folder / "stop").exists()

    def stop(self) -> None:
        """All runs are to stop."""
        with suppress(OSError):
            (self._folder / "stop").touch()

    def read(self) -> list[Progress]:
        """What was told last, by the number of the run."""
        found = []
        for slip in self._folder.glob("*.json"):
            with suppress(OSError):
                found.append(Progress(**json.loads(slip.read_text("utf-8"))))
        return sorted(found, key=lambda progress: progress.number)
