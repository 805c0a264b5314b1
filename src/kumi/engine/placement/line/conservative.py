"""Conservative: backfill that delays nobody who waits.

The rule, for those that wait, in their order:
    now        one starts if it finds room for as long as it takes, with what is kept for all who have a reservation (timeline.py)
    else       it gets a reservation: the earliest time at which it finds such room, and its places then. With it, its old one is
               given back first: the new one is never later, as the old places are among those that it is tried on
    lower      what is kept for those of a lower priority isn't heeded: they find another time when it is their turn
    late       nor, by one that would start later than at its last reservation, what is kept for those behind it in the order: it
               is tried anew without, and they find another time, all of them, when it is their turn. So it is where something
               runs longer than it said, or came and went first: the places behind the first were laid out as if it had not,
               and beside them it would find none as long as any come. With true times nobody is late
    places     a reservation is of its nodes: it isn't moved to others so that one behind it may start (easy.py does that)
    no time    one that finds room only when something ends of which nobody said when gets none; nor does one that would find none
               were nothing on the nodes, nor one that something else holds back
Promise    if nothing runs longer than it said, and nothing of a higher priority comes, nobody starts later than at its first
           reservation. Who comes later and goes first in its order (shortest, fair) heeds what is kept for the others.
           Whatever was said: nobody who has had a reservation starts later than it would were nobody behind it in the order,
           as things stand at each look
Why        everybody knows when it starts at the latest; less is filled than with one reservation (easy.py).
Bound      `depth` get a reservation; who is behind them waits.
Kept       between looks, with the state.
Wakes      when something that was to end has not, and when somebody's time has come.
Cost       a look forward for each. Of one kind each begins at the latest time that one found which takes no longer.
Source     Mu'alem and Feitelson, Utilization, predictability, workloads and user runtime estimates in scheduling the IBM SP2 with
           backfilling (2001). The bound: Slurm, bf_max_job_test.
Not here   one reservation alone: easy.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kumi.engine.placement.line.asking import Asker, Held, No, Reservation, Seen, Try
from kumi.engine.placement.line.timeline import NEVER, Timeline


def run(askers: Iterable[Asker], timeline: Timeline, kept: Mapping[str, Held], depth: int) -> Seen:
    """One look at the line. `kept`: the reservations of the last look, of those that still wait. Who isn't in what is seen, and
    waits, has more than `depth` others before it."""
    look = _Look(timeline, dict(kept))
    lower = sorted(kept.values(), key=lambda held: (held[0].priority, held[0].key))
    for asker in askers:
        while lower and lower[-1][0].priority >= asker.priority:
            reservation, said_ms = lower.pop()
            if reservation.key in look.behind:
                timeline.keep(reservation, said_ms)
        if look.tried > depth:
            break
        look.ask(asker)
    look.seen.reservations.update({key: reservation for key, (reservation, _) in look.behind.items()})
    return look.seen


_NO_ROOM = (Try.FULL, Try.KEPT)


@dataclass(slots=True)
class _Look:
    """One look at the line."""

    timeline: Timeline
    behind: dict[str, Held]
    """the reservations of the last look, of those that were not asked yet"""
    seen: Seen = field(default_factory=Seen)
    tried: int = 0
    """those that wait, but for whom nothing helps"""
    hopeless: dict[object, None] = field(default_factory=dict)
    full: dict[object, bool] = field(default_factory=dict)
    """of each kind, since the last one started: has it no room were nothing kept?"""
    since: dict[object, list[tuple[float, int]]] = field(default_factory=dict)
    """of each kind: (how long one took that was asked, when it starts at the latest)"""

    def ask(self, asker: Asker) -> None:
        """Starts the asker, or keeps room for it."""
        if asker.kind is not None and asker.kind in self.hopeless:
            self.seen.refuse(asker, No.ASIDE)
            return
        self.timeline.drop(asker.key)
        held = self.behind.pop(asker.key, None)
        after_ms = self._after(asker, held)
        tried, found = self._try(asker, after_ms)
        if held is not None and self.behind and tried in _NO_ROOM and (found is None or found.at_ms > held[0].at_ms):
            for key in self.behind:
                self.timeline.drop(key)
            self.behind = {}
            after_ms = self._after(asker, held)
            tried, found = self._try(asker, after_ms)
        if tried in _NO_ROOM:
            self._keep(asker, tried, found, hopes=after_ms < NEVER)
            return
        if tried in (Try.STARTED, Try.PROMISED) or asker.taken():
            self.full.clear()
            self.timeline.run(asker.key, asker.taken(), asker.said_ms, later=tried is Try.PROMISED)
        if tried is not Try.STARTED:
            self.seen.refuse(asker, No.ASIDE)

    def _after(self, asker: Asker, held: Held | None) -> int:
        """Before then it can't start: one of its kind that takes no longer, asked before it, couldn't. But where its own old
        place was what kept that one out, which is given back now, nothing is known."""
        takes = _takes(asker)
        asked = self.since.get(asker.kind, ()) if asker.kind is not None else ()
        since = max((at_ms for took, at_ms in asked if took <= takes), default=0)
        return since if held is None else int(max(min(since, held[0].at_ms - takes + 1), 0))

    def _try(self, asker: Asker, after_ms: int) -> tuple[Try, Reservation | None]:
        """Starts it, or finds its time."""
        timeline, tried = self.timeline, Try.FULL
        if after_ms <= timeline.now_ms:
            tried = asker.start(timeline.raised(asker.said_ms))
        if tried not in _NO_ROOM or after_ms >= NEVER:
            return tried, None
        return tried, timeline.earliest(asker, after_ms=after_ms)

    def _keep(self, asker: Asker, tried: Try, found: Reservation | None, *, hopes: bool) -> None:
        """Room is kept for it, if there is any at any time. `hopes`: it isn't one of a kind of which none finds a time."""
        timeline = self.timeline
        if found is None and hopes and not timeline.ever(asker):
            self.hopeless[asker.kind] = None
            self.seen.refuse(asker, No.ASIDE)
            return
        self.tried += 1
        full = tried is not Try.KEPT and self._is_full(asker)
        self.seen.refuse(asker, No.FULL if full else No.DELAYS, self.seen.name or timeline.next_name())
        self.since.setdefault(asker.kind, []).append((_takes(asker), NEVER if found is None else found.at_ms))
        if found is not None:
            timeline.keep(found, asker.said_ms)
            self.seen.reservations[found.key] = found

    def _is_full(self, asker: Asker) -> bool:
        """Has it no room were nothing kept?"""
        if asker.kind is None:
            return not asker.fits()
        if asker.kind not in self.full:
            self.full[asker.kind] = not asker.fits()
        return self.full[asker.kind]


def _takes(asker: Asker) -> float:
    return math.inf if asker.said_ms is None else asker.said_ms
