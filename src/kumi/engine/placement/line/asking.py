"""Asking: what a rule of the line sees of who waits, and what it says to whom.

    Asker         one that waits: a pod on its own, or a gang, whole
    Try           how a try to start one ended
    Reservation   the time at which one is to start at the latest, and where
    Seen          what a rule found out in one look: who was refused and why, and the reservations after it

The rules (strict.py, easy.py, conservative.py) are written once, over these.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, TypeAlias

from kumi.engine.ends import SOON_MS
from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.line.outlook import Needs
from kumi.engine.placement.nodes import Ints

Places: TypeAlias = tuple[tuple[str, PodShape, int], ...]
"""(node, shape, how many such pods)"""
Taken: TypeAlias = Sequence[tuple[str, Pod]]
"""(node, pod)"""
Raised: TypeAlias = AbstractContextManager[None]
"""inside, what is kept for others counts as used"""


class Try(Enum):
    """STARTED. FULL: there is no room now. KEPT: what room there is, is kept for others (who can't tell says FULL). ASIDE:
    something else holds it back, which the line knows nothing of (its queue has had its share), or it runs, and there is no room
    for all that it wants beyond that: it keeps nobody waiting. PROMISED: its places are kept until others have left, which are
    leaving."""

    STARTED = "started"
    FULL = "full"
    KEPT = "kept"
    ASIDE = "aside"
    PROMISED = "promised"


class Asker(Protocol):
    """One that waits. `key` is unique, `name` for people; of two with one `kind` neither has room where the other has none
    (None: nobody is like it). `said_ms`: how long it takes, by what is said; None: nobody says."""

    key: str
    name: str
    priority: int
    said_ms: int | None
    kind: Hashable

    def start(self, raised: Raised | None) -> Try:
        """Places it, for good, on the nodes as they are; `raised` is entered while room is looked for, None: nothing is kept for
        others. FULL, KEPT: everything is as it was; ASIDE: but for what it has `taken`."""
        ...

    def taken(self) -> Taken:
        """Its pods that were placed here, and their nodes, as far as the table of pods doesn't show them yet."""
        ...

    def fits(self) -> bool:
        """Has it room were the nodes as they are in the tables now? As `sketch`, and mostly quicker."""
        ...

    def sketch(self) -> Places | None:
        """Where it would go were the nodes as they are in the tables now; these are as before then. None: it has no room."""
        ...

    def helped(self, rows: Ints) -> bool:
        """May room on these rows be what it lacks?"""
        ...

    def needs(self) -> Needs | None:
        """With less than that it has no room; None: nothing is known."""
        ...


@dataclass(frozen=True, slots=True)
class Reservation:
    """The asker starts at `at_ms` at the latest, there. `priority`: its own. `devices`: of each of the places the single devices
    of its pods, where it matters which; () where nobody knows."""

    key: str
    name: str
    priority: int
    at_ms: int
    places: Places
    devices: tuple[tuple[int, ...], ...] = ()


Held: TypeAlias = tuple[Reservation, int | None]
"""a reservation, and how long its asker takes"""


class No(Enum):
    """Why one that waits doesn't start. FULL: there is no room. ASIDE: as Try says. BEHIND: it would pass one that may not be
    passed. DELAYS: it would delay one for whom room is kept."""

    FULL = "full"
    ASIDE = "aside"
    BEHIND = "behind"
    DELAYS = "delays"


@dataclass(slots=True)
class Seen:
    """See the module. `refused`: asker -> why, and (BEHIND, DELAYS) the name of who is ahead; `first`: the first that has no
    room, by key; `name`: the first that waits for room; `reservations`: by key."""

    refused: dict[str, tuple[No, str]] = field(default_factory=dict)
    first: str = ""
    name: str = ""
    reservations: dict[str, Reservation] = field(default_factory=dict)

    def wake_ms(self, now_ms: int, end_ms: int | None) -> int | None:
        """When to look again although nothing came: at the first of the next expected end (None: there is none) and the times at
        which somebody is to start, since what was to end there may have ended before. Who is to start in the next millisecond
        waits for what is overdue or leaving, which nobody knows the time of."""
        times = [kept.at_ms for kept in self.reservations.values() if kept.at_ms > now_ms + SOON_MS]
        times += [end_ms] if end_ms is not None else []
        return min(times, default=None) if self.refused else None

    def refuse(self, asker: Asker, why: No, ahead: str = "") -> None:
        """It doesn't start. `ahead`: whom it would delay; "": the first that waits."""
        if why is No.FULL:
            self.first = self.first or asker.key
        self.refused[asker.key] = (why, ahead or self.name)
        if why in (No.FULL, No.DELAYS):
            self.name = self.name or asker.name
