"""Crowd: shapes of which nobody finds room, and when they are looked for again.

The rule     a shape is full from when one pod of it found no room until a row changes that takes such a pod by then: its
             node, the room, the single devices. Where nodes become others, come or go, or have other amounts, nobody is full.
Said         why a shape is full is as of when it was first so since nodes are what they are, and again when a row has more
             than any had then of the resource that is short, if not enough: room that is taken again is no news. News until all
             who wait were gone through (`told`): some are looked at before gangs, and shapes are woken for them by themselves.
Only         where what takes such a pod follows from the row alone (Best.follows): elsewhere a look may end otherwise for
             other causes.
Trials       what is taken back changes the rows' versions as well (nodes.py), and what is noted here is no part of the state: it
             spares looks, and changes no answer.
Cost         O(rows that changed x shapes that wait), some 100 ns each: who waits isn't looked at one by one.
Source       Kumi's own.
Not here     who is asked for, and when: alone.py.
"""

from __future__ import annotations

from collections.abc import Collection

from kumi.engine.model import Pod
from kumi.engine.placement.best import Best
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins import Filter
from kumi.engine.reasons import Code
from kumi.engine.waiting import Alike

_ROWS_AT_MOST = 16
"""where more changed, everybody is looked for"""


class Crowd:
    """See the module."""

    def __init__(self, nodes: Nodes, filter: Filter, best: Best) -> None:
        self._nodes, self._filter, self._best = nodes, filter, best
        self._version = -1
        """the nodes' version that was looked at last"""
        self._wakes = 0
        self._rows: list[int] | None = None
        """those that had changed then; None: too many"""

    def wake(self, shapes: Collection[Alike]) -> None:
        """Those that may find room since this was last asked are full no more."""
        nodes = self._nodes
        before, self._version, self._wakes = self._version, nodes.version, self._wakes + 1
        if not any(alike.full for alike in shapes):
            self._rows = None
            return
        rows = nodes.stirred_since(before).tolist()
        of, self._rows = self._best.stands_for(), rows if len(rows) <= _ROWS_AT_MOST else None
        rooms = [(row, nodes.free_of(row)) for row in self._rows or ()]
        for alike in shapes:
            if alike.full and (
                self._rows is None or alike.of != of or self._finds(alike, rooms) or self._tells(alike, rooms)
            ):
                alike.full, alike.woken = False, self._wakes

    def told(self, shapes: Collection[Alike]) -> None:
        """All who wait were gone through, and heard what was new: why a shape is full is no news any more."""
        for alike in shapes:
            alike.news = False

    def is_full_again(self, alike: Alike) -> bool:
        """Was it full, and have others taken the room for which it isn't any more?"""
        if self._rows is None or not alike.refusals or alike.woken != self._wakes:
            return False
        if alike.of == self._best.stands_for():
            alike.full = not self._finds(alike, [(row, self._nodes.free_of(row)) for row in self._rows])
        return alike.full

    def refuse(self, alike: Alike, pod: Pod) -> bool:
        """None of them finds room, as this one of them didn't. False where that need not hold for the others."""
        if not self._best.follows(pod):
            return False
        nodes, of = self._nodes, self._best.stands_for()
        if alike.of != of or not alike.refusals:
            alike.refusals, alike.of, alike.news = self._filter.refusals(nodes, pod), of, True
            alike.asked = nodes.asked(pod.shape.requests)
            short = [r for r in alike.refusals if r.code is Code.NODES_FULL]
            alike.short = (nodes.line_by_resource[short[0].resource], short[0].have) if short else None
        alike.full = True
        return True

    def _finds(self, alike: Alike, rooms: list[tuple[int, list[int]]]) -> bool:
        """Does one of these rows take one?"""
        for row, free in rooms:
            for line, amount in alike.asked:
                if free[line] < amount:
                    break
            else:
                if self._best.takes(alike.shape, row):
                    return True
        return False

    def _tells(self, alike: Alike, rooms: list[tuple[int, list[int]]]) -> bool:
        """Has one of these rows more of what is short than any had? Then what they were told isn't true any more."""
        if alike.short is None:
            return False
        line, most = alike.short
        if any(free[line] > most and self._best.welcomes(alike.shape, row) for row, free in rooms):
            alike.refusals = ()
            return True
        return False
