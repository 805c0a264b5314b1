"""Easy: backfill with one reservation, EASY.

The rule, for those that wait, in their order:
    start      as long as each finds room
    first      the first that finds none gets a reservation: the earliest time, its shadow time s, at which it finds room if
               what runs ends when it said (timeline.py), and its places then. It stays the first of its priority until it starts
    later      one behind it starts now if it finds room, and
                 now + said <= s, or
                 the first still finds room at s, with this one in place: beside the places that were kept, or at others
    no time    where the first finds room only when something ends of which nobody said when, there is no s, and nobody is held
               back
    hopeless   one that would find no room were nothing on the nodes gets none, and keeps nobody waiting; nor does one that
               something else holds back
Promise    if nothing runs longer than it said, and nothing of a higher priority comes, nobody starts later than at its
           reservation: at s the places are there, since whoever started meanwhile has ended or leaves them free; and the shadow
           time is found anew at each look, never later.
Why        the first is not starved, and what stands empty until its time is used by whom it doesn't cost anything.
Bound      `depth` are looked at behind the first. Of those of one kind none is tried at this instant after one that found no
           room, or after one that takes no longer and would have delayed the first.
Wakes      when something that was to end has not (Timeline.wake_ms).
Cost       a look forward for the first, and a try for each kind behind it.
Source     Lifka, The ANL/IBM SP scheduling system (1995); Mu'alem and Feitelson, Utilization, predictability, workloads and user
           runtime estimates in scheduling the IBM SP2 with backfilling (2001). The bound: Slurm, bf_max_job_test.
Not here   everybody's reservation: conservative.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kumi.engine.placement.line.asking import Asker, No, Reservation, Seen, Try
from kumi.engine.placement.line.timeline import Timeline


def run(askers: Iterable[Asker], timeline: Timeline, holder: Asker | None, depth: int) -> Seen:
    """One look at the line. `holder`: who has the reservation of the last look, if it still waits. Who isn't in what is seen, and
    waits, has `depth` others before it that stand behind the first."""
    look = _Look(timeline, holder.key if holder is not None else "")
    left = depth
    for asker in _holder_first(askers, holder):
        if look.first is not None:
            if not left:
                break
            left -= 1
        look.ask(asker)
    if look.first is not None and look.seen.first != look.first.key:
        # what room the first has is kept for others: nobody behind it takes room from others, to pass it
        look.seen.first = ""
    return look.seen


def _holder_first(askers: Iterable[Asker], holder: Asker | None) -> Iterator[Asker]:
    """The askers, with this one before all others of its priority."""
    waits = holder
    for asker in askers:
        if waits is not None and asker.priority <= waits.priority:
            yield waits
            waits = None
        if holder is None or asker.key != holder.key:
            yield asker
    if waits is not None:
        yield waits


_NO_ROOM = {Try.FULL: No.FULL, Try.KEPT: No.DELAYS}
"""what one is told that found none"""


@dataclass(slots=True)
class _Look:
    """One look at the line."""

    timeline: Timeline
    holder: str
    """who has the reservation of the last look"""
    seen: Seen = field(default_factory=Seen)
    first: Asker | None = None
    shadow: Reservation | None = None
    ahead: str = ""
    """for whom else room is kept, while the first has none"""
    refused: dict[object, tuple[No, float]] = field(default_factory=dict)
    """kinds that were tried: why not, and of how long it takes or longer"""

    def ask(self, asker: Asker) -> None:
        """Starts the asker, or says why not."""
        takes = math.inf if asker.said_ms is None else asker.said_ms
        self.ahead = self.timeline.next_name() if self.shadow is None else ""
        no, least = self.refused.get(asker.kind, (None, 0.0)) if asker.kind is not None else (None, 0.0)
        if no is None or takes < least:
            no = self._ahead(asker) if self.first is None else self._behind(asker)
            if no is not None:
                self.refused[asker.kind] = (no, takes if no is No.DELAYS else 0.0)
        if no is not None:
            self.seen.refuse(asker, no, self.ahead)

    def _ahead(self, asker: Asker) -> No | None:
        """Nobody waits before it."""
        tried = asker.start(self.timeline.raised(asker.said_ms))
        if tried not in _NO_ROOM:
            return self._after(asker, tried)
        shadow = None
        if asker.key == self.holder:  # it had room at the last look, and mostly has
            shadow = self.timeline.earliest(asker)
        if shadow is None:
            if not self.timeline.ever(asker):
                return No.ASIDE
            shadow = self.timeline.earliest(asker)
        self.first = asker
        self._keep(shadow)
        return _NO_ROOM[tried]

    def _behind(self, asker: Asker) -> No | None:
        """The first is not to be delayed."""
        if not asker.fits():
            return No.FULL
        tried = asker.start(self.timeline.raised(asker.said_ms))
        if tried not in _NO_ROOM or self.shadow is None:
            return self._after(asker, tried)
        places = asker.sketch()
        assert self.first is not None
        assert places is not None
        other = self.timeline.beside(places, asker.said_ms, self.first, self.shadow.at_ms)
        if other is None:
            return No.DELAYS
        self._keep(other)
        return self._after(asker, asker.start(None))

    def _keep(self, shadow: Reservation | None) -> None:
        """That is the first's reservation."""
        self.shadow = shadow
        if shadow is not None and self.first is not None:
            self.timeline.keep(shadow, self.first.said_ms)
            self.seen.reservations[shadow.key] = shadow

    def _after(self, asker: Asker, tried: Try) -> No | None:
        if tried in (Try.STARTED, Try.PROMISED) or asker.taken():
            self.timeline.run(asker.key, asker.taken(), asker.said_ms, later=tried is Try.PROMISED)
        if tried in _NO_ROOM:
            return _NO_ROOM[tried]
        return None if tried is Try.STARTED else No.ASIDE
