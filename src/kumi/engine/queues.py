"""Queues: the lines of pending workloads, a line a ClusterQueue.

The rule       a pending workload has one place in one line, by admission/order.py. Workloads of one kind (equal priority,
               equal pod sets) stand together: a kind is ready, or it is parked with the reasons of its last attempt.
Head           BestEffortFIFO: the first workload of a ready kind. StrictFIFO: the first of the line, if its kind is ready;
               a parked head blocks the line.
Why            equal workloads get equal answers, so one attempt speaks for all of a kind: an event costs as many attempts
               as there are kinds that it may help, however long the line is.
Back-off       a workload that may not be tried before a time is in no line, but in `later`.
Order and ties places are a total order.
Cost           O(log n) compares a workload that comes, goes, or asks for its position.
Source         Kueue: queueing strategies, scheduling equivalence.
Not here       which events make a parked kind ready: admission/requeue.py; the attempt: admission/cycle.py.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from kumi.engine.admission.order import Kind, Place
from kumi.engine.journal import Journal
from kumi.engine.model import PodSet, Strategy
from kumi.engine.reasons import Ahead, Reason


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a pending workload stands."""

    queue: str
    place: Place
    kind: Kind


@dataclass(frozen=True, slots=True)
class Parked:
    """What the last attempt of a kind met: `reason` to tell, `others` the other noes, `holders` who holds what is wanted.

    `looked_for`: pod sets for which nodes were looked for; `open_ended`: not every combination of flavors was tried, so anything
    may help."""

    reason: Reason
    others: tuple[Reason, ...] = ()
    holders: tuple[Ahead, ...] = ()
    looked_for: tuple[PodSet, ...] = ()
    open_ended: bool = False


class Queues:
    """All lines."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.spot: dict[str, Spot] = {}
        self.line: dict[str, list[Place]] = {}
        self.members: dict[str, dict[Kind, list[Place]]] = {}
        self.ready: dict[str, list[Place]] = {}
        """the first of every ready kind"""
        self.parked: dict[str, dict[Kind, Parked]] = {}
        self.woken: dict[str, dict[Kind, Parked]] = {}
        """kinds that were parked, and are ready because something may have helped them: what they met before"""
        self.later: list[tuple[int, str]] = []
        """(requeue_at_ms, workload)"""
        self.hot: dict[str, None] = {}
        """queues that may have a head"""
        self.freed: dict[str, None] = {}
        """queues in which quota was freed since parked kinds were last looked at"""
        self.nodes_seen = 0
        """the nodes' `changed` when parked kinds were last looked at"""

    def enter(self, workload: str, spot: Spot) -> None:
        """The workload is in line. A kind that is parked stays so."""
        journal, queue = self._journal, spot.queue
        if queue not in self.line:
            for table in (self.line, self.ready):
                journal.put(table, queue, [])
            journal.put(self.members, queue, {})
        journal.put(self.spot, workload, spot)
        journal.insert(self.line[queue], spot.place)
        kinds = self.members[queue]
        if spot.kind not in kinds:
            journal.put(kinds, spot.kind, [])
        if not self.is_parked(queue, spot.kind):
            self._unready(queue, spot.kind)
            journal.insert(kinds[spot.kind], spot.place)
            self._ready(queue, spot.kind)
        else:
            journal.insert(kinds[spot.kind], spot.place)
            journal.put(self.hot, queue, None)

    def leave(self, workload: str) -> None:
        """The workload is in no line any more."""
        spot = self.spot.get(workload)
        if spot is None:
            return
        journal, queue, kinds = self._journal, spot.queue, self.members[spot.queue]
        journal.drop(self.spot, workload)
        journal.discard(self.line[queue], spot.place)
        parked = self.is_parked(queue, spot.kind)
        if not parked:
            self._unready(queue, spot.kind)
        journal.discard(kinds[spot.kind], spot.place)
        if not kinds[spot.kind]:
            journal.drop(kinds, spot.kind)
            journal.drop_all(spot.kind, self.parked.get(queue, {}), self.woken.get(queue, {}))
        elif not parked:
            self._ready(queue, spot.kind)
        journal.put(self.hot, queue, None)
        if not self.line[queue]:
            self._drop_queue(queue)

    def head(self, queue: str, strategy: Strategy) -> str | None:
        """Whose turn it is; None where nobody may be tried."""
        if strategy is Strategy.STRICT:
            line = self.line.get(queue)
            if not line or self.is_parked(queue, self.spot[line[0][3]].kind):
                return None
            return line[0][3]
        ready = self.ready.get(queue)
        return ready[0][3] if ready else None

    def park(self, queue: str, kind: Kind, parked: Parked) -> None:
        """The kind can't start now."""
        if queue not in self.parked:
            self._journal.put(self.parked, queue, {})
        if kind not in self.parked[queue]:
            self._unready(queue, kind)
        self._journal.put(self.parked[queue], kind, parked)
        self._journal.drop(self.woken.get(queue, {}), kind)

    def wake(self, queue: str, kind: Kind) -> None:
        """The kind may be tried again: something may have helped it."""
        if queue not in self.woken:
            self._journal.put(self.woken, queue, {})
        self._journal.put(self.woken[queue], kind, self.parked[queue][kind])
        self._journal.drop(self.parked[queue], kind)
        self._ready(queue, kind)

    def wake_all(self, queue: str) -> None:
        """Every kind of the queue may be tried again, and what it met before is of no account."""
        for kind in list(self.parked.get(queue, {})):
            self._journal.drop(self.parked[queue], kind)
            self._ready(queue, kind)
        self._journal.drop(self.woken, queue)
        if queue in self.line:
            self._journal.put(self.hot, queue, None)

    def is_parked(self, queue: str, kind: Kind) -> bool:
        """Was the kind set aside?"""
        return kind in self.parked.get(queue, ())

    def cool(self, queue: str) -> None:
        """Nobody in the queue may be tried until something changes."""
        self._journal.drop(self.hot, queue)

    def position(self, workload: str) -> int:
        """1 for the head of the line, 0 for one that is in no line."""
        spot = self.spot.get(workload)
        return 0 if spot is None else bisect_left(self.line[spot.queue], spot.place) + 1

    def before(self, workload: str, at_most: int) -> list[str]:
        """Those who stand ahead, the head first."""
        position = self.position(workload)
        if position < 2:
            return []
        return [place[3] for place in self.line[self.spot[workload].queue][: min(at_most, position - 1)]]

    def postpone(self, workload: str, until_ms: int) -> None:
        """It may not be tried before then."""
        self._journal.insert(self.later, (until_ms, workload))

    def unpostpone(self, workload: str, until_ms: int) -> None:
        """It doesn't wait for that time any more."""
        self._journal.discard(self.later, (until_ms, workload))

    def _ready(self, queue: str, kind: Kind) -> None:
        self._journal.insert(self.ready[queue], self.members[queue][kind][0])
        self._journal.put(self.hot, queue, None)

    def _unready(self, queue: str, kind: Kind) -> None:
        members = self.members[queue].get(kind)
        if members:
            self._journal.discard(self.ready[queue], members[0])

    def _drop_queue(self, queue: str) -> None:
        self._journal.drop_all(queue, self.line, self.members, self.ready, self.parked, self.woken, self.hot)
