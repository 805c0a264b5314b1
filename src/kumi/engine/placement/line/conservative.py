"""Conservative: backfill that delays nobody who waits.

The rule, for those that wait, in their order:
    now        one starts if it finds room for as long as it takes, with what is kept for all who have a reservation (timeline.py)
    else       it gets a reservation: the earliest time at which it finds such room, and its places then. With it, its old one is
               given back first: the new one is never later, as the old places are among those that it is tried on
    lower      what is kept for those of a lower priority isn't heeded: they find another time when it is their turn
    places     a reservation is of its nodes: it isn't moved to others so that one behind it may start (easy.py does that)
    no time    one that finds room only when something ends of which nobody said when gets none; nor does one that would find none
               were nothing on the nodes, nor one that something else holds back
Promise    if nothing runs longer than it said, and nothing of a higher priority comes, nobody starts later than at its first
           reservation. Who comes later and goes first in its order (shortest, fair) heeds what is kept for the others.
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

from kumi.engine.placement.line.asking import Asker, Held, No, Seen, Try
from kumi.engine.placement.line.timeline import NEVER, Timeline


def run(askers: Iterable[Asker], timeline: Timeline, kept: Mapping[str, Held], depth: int) -> Seen:
    """One look at the line. `kept`: the reservations of the last look, of those that still wait. Who isn't in what is seen, and
    waits, has more than `depth` others before it."""
    look = _Look(timeline, kept)
    lower = sorted(kept.values(), key=lambda held: (held[0].priority, held[0].key))
    for asker in askers:
        while lower and lower[-1][0].priority >= asker.priority:
            timeline.keep(*lower.pop())
        if look.tried > depth:
            break
        look.ask(asker)
    passed = {key: held[0] for key, held in kept.items() if key not in look.seen.refused and key not in look.started}
    look.seen.reservations.update(passed)
    return look.seen


@dataclass(slots=True)
class _Look:
    """One look at the line."""

    timeline: Timeline
    kept: Mapping[str, Held]
    seen: Seen = field(default_factory=Seen)
    started: dict[str, None] = field(default_factory=dict)
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
        timeline = self.timeline
        timeline.drop(asker.key)
        after_ms = self._after(asker)
        tried = asker.start(timeline.raised(asker.said_ms)) if after_ms <= timeline.now_ms else Try.FULL
        if tried is Try.FULL:
            self._keep(asker, after_ms)
            return
        if tried in (Try.STARTED, Try.PROMISED) or asker.taken():
            self.full.clear()
            timeline.run(asker.key, asker.taken(), asker.said_ms, later=tried is Try.PROMISED)
        if tried is Try.STARTED:
            self.started[asker.key] = None
        else:
            self.seen.refuse(asker, No.ASIDE)

    def _after(self, asker: Asker) -> int:
        """Before then it can't start: one of its kind that takes no longer, asked before it, couldn't. But where its own old
        place was what kept that one out, which is given back now, nothing is known."""
        takes = _takes(asker)
        asked = self.since.get(asker.kind, ()) if asker.kind is not None else ()
        since = max((at_ms for took, at_ms in asked if took <= takes), default=0)
        held = self.kept.get(asker.key)
        return since if held is None else int(max(min(since, held[0].at_ms - takes + 1), 0))

    def _keep(self, asker: Asker, after_ms: int) -> None:
        timeline = self.timeline
        found = timeline.earliest(asker, after_ms=after_ms) if after_ms < NEVER else None
        if found is None and after_ms < NEVER and not timeline.ever(asker):
            self.hopeless[asker.kind] = None
            self.seen.refuse(asker, No.ASIDE)
            return
        self.tried += 1
        self.seen.refuse(asker, No.FULL if self._is_full(asker) else No.DELAYS, timeline.next_name())
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
