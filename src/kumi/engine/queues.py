"""Queues: the lines of pending workloads, a line a ClusterQueue.

The rule       a pending workload has one place in one line, by admission/order.py. Workloads of one kind (of which an attempt
               reads the same) stand together: a kind is ready, or it is parked with what its last attempt met; so can a
               single workload be, whatever its kind is.
Head           BestEffortFIFO: the first workload that is ready. StrictFIFO: the first of the line, if it is ready; one that
               isn't blocks the line, unless it is parked as one that keeps nobody waiting.
Lanes          where LocalQueues take turns by usage each has a lane, and the lane of the smallest usage has the head; where they
               take turns by what they hold (queueOrder: fair), of the lanes whose heads have the highest priority the one that
               holds the smallest share (admission/door_shares.py); else a line is one lane.
Sticky         one workload of a lane may go before all others of it: it waits for those it evicts, and nobody passes it.
Tried          a head that stays where it is after an attempt is tried again once something happened.
Why            equal workloads get equal answers, so one attempt speaks for all of a kind: an event costs as many attempts
               as there are kinds that it may help, however long the line is.
Back-off       a workload that may not be tried before a time is in no line, but in `later`.
Order and ties places are a total order; lanes of equal usage go by their heads' places.
Cost           O(log n) compares a workload that comes, goes, or asks for its position; a lane more a head.
Source         Kueue: queueing strategies, scheduling equivalence, admission fair sharing.
Not here       which events make a parked kind ready: admission/requeue.py; the attempt: admission/cycle.py.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kumi.engine.admission.order import Kind, Place
from kumi.engine.journal import Journal
from kumi.engine.model import PodSet, Strategy
from kumi.engine.reasons import Ahead, Considered, Reason, Tried


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a pending workload stands. `door`: its LocalQueue; `lane`: the door where doors take turns by usage, else ""."""

    queue: str
    place: Place
    kind: Kind
    door: str = ""
    lane: str = ""


@dataclass(frozen=True, slots=True)
class Parked:
    """What the last attempt of a kind met: `reason` to tell, `others` the other noes, `holders` who holds what is wanted.

    `looked_for`: pod sets for which nodes were looked for; `open_ended`: not every combination of flavors was tried, so anything
    may help. `tried`: the flavors that were looked at; `considered`: who was considered for eviction. `evicting`: eviction was
    thought of, so that whoever frees or takes quota may help. `blocks`: it keeps its StrictFIFO line waiting."""

    reason: Reason
    others: tuple[Reason, ...] = ()
    holders: tuple[Ahead, ...] = ()
    looked_for: tuple[PodSet, ...] = ()
    open_ended: bool = False
    tried: tuple[Tried, ...] = ()
    considered: tuple[Considered, ...] = ()
    evicting: bool = False
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where a search for flavors ended (pod set -> resource -> index of the last flavor), in which cycle, with its queue at which
    generation; `been`: where it ended before, since it began."""

    tried: tuple[tuple[tuple[str, int], ...], ...]
    cycle: int
    generation: int
    been: tuple[tuple[tuple[tuple[str, int], ...], ...], ...] = ()


class Queues:
    """All lines. `usage`: the past usage of a LocalQueue, by which lanes take turns. `share`: what a LocalQueue holds of a
    ClusterQueue, by which lanes whose heads have one priority do, the higher one first; None: it makes no difference."""

    def __init__(
        self,
        journal: Journal,
        usage: Callable[[str], float] = lambda _: 0.0,
        share: Callable[[str, str], float] | None = None,
    ) -> None:
        self._journal, self._usage, self._share = journal, usage, share
        self.spot: dict[str, Spot] = {}
        self.lanes: dict[str, dict[str, None]] = {}
        """ClusterQueue -> its lanes; the lane of a queue that has just one is named as the queue is"""
        self.line: dict[str, list[Place]] = {}
        """by lane, as `members` and `ready` are"""
        self.members: dict[str, dict[Kind, list[Place]]] = {}
        """those that are not parked by themselves"""
        self.ready: dict[str, list[Place]] = {}
        """the first of every ready kind"""
        self.parked: dict[str, dict[Kind, Parked]] = {}
        self.alone: dict[str, dict[str, Parked]] = {}
        """ClusterQueue -> workloads that are parked by themselves"""
        self.woken: dict[str, dict[Kind, Parked]] = {}
        """kinds that were parked, and are ready because something may have helped them: what they met before"""
        self.sticky: dict[str, str] = {}
        """lane -> the workload that goes first in it"""
        self.tried: dict[str, dict[str, Parked]] = {}
        """ClusterQueue -> heads that stay where they are, and what they met"""
        self.later: list[tuple[int, str]] = []
        """(requeue_at_ms, workload)"""
        self.hot: dict[str, None] = {}
        """queues that may have a head"""
        self.freed: dict[str, None] = {}
        """queues in which quota was freed since parked kinds were last looked at"""
        self.nodes_seen = 0
        """the nodes' `changed` when parked kinds were last looked at"""
        self.resume: dict[str, Resumed] = {}
        """workloads whose last search for flavors left some to look at"""
        self.generation: dict[str, int] = {}
        """ClusterQueue -> how often it gave quota back or changed, since it has a line"""
        self.cycles = 0

    def enter(self, workload: str, spot: Spot) -> None:
        """The workload is in line. A kind that is parked stays so."""
        journal, lane = self._journal, lane_of(spot)
        if lane not in self.line:
            for table in (self.line, self.ready):
                journal.put(table, lane, [])
            journal.put(self.members, lane, {})
            if spot.queue not in self.lanes:
                journal.put(self.lanes, spot.queue, {})
            journal.put(self.lanes[spot.queue], lane, None)
        journal.put(self.spot, workload, spot)
        journal.insert(self.line[lane], spot.place)
        self._join(spot)
        journal.put(self.hot, spot.queue, None)

    def leave(self, workload: str) -> None:
        """The workload is in no line any more."""
        spot = self.spot.get(workload)
        if spot is None:
            return
        journal, queue, lane = self._journal, spot.queue, lane_of(spot)
        self.unstick(workload)
        journal.drop(self.resume, workload)
        journal.drop(self.tried.get(queue, {}), workload)
        journal.discard(self.line[lane], spot.place)
        if workload in self.alone.get(queue, ()):
            journal.drop(self.alone[queue], workload)
        else:
            self._part(spot)
        journal.drop(self.spot, workload)
        journal.put(self.hot, queue, None)
        if not self.line[lane]:
            self._drop_lane(queue, lane)

    def head(self, queue: str, strategy: Strategy) -> str | None:
        """Whose turn it is; None where nobody may be tried."""
        lanes = self.lanes.get(queue)
        if not lanes:
            return None
        if len(lanes) == 1:
            return self._head_of(queue, next(iter(lanes)), strategy)
        turns = []
        for lane in sorted(lanes):
            head = self._head_of(queue, lane, strategy)
            if head is not None:
                turns.append((*self._turn(self.spot[head]), self.spot[head].place, head))
        return min(turns)[-1] if turns else None

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

    def park_alone(self, workload: str, parked: Parked) -> None:
        """This one can't start now; what others of its kind may do is another thing."""
        spot = self.spot[workload]
        if spot.queue not in self.alone:
            self._journal.put(self.alone, spot.queue, {})
        if workload not in self.alone[spot.queue]:
            self._part(spot)
        self._journal.put(self.alone[spot.queue], workload, parked)
        self._journal.drop(self.tried.get(spot.queue, {}), workload)

    def wake_alone(self, workload: str) -> None:
        """This one stands with its kind again."""
        spot = self.spot[workload]
        if workload in self.alone.get(spot.queue, ()):
            self._journal.drop(self.alone[spot.queue], workload)
            self._join(spot)
            self._journal.put(self.hot, spot.queue, None)

    def wake_each(self, workloads: Iterable[str]) -> None:
        """The same for those of them that stand in line."""
        for workload in sorted(workloads):
            if workload in self.spot:
                self.wake_alone(workload)

    def wake_all(self, queue: str) -> None:
        """Everybody in the queue may be tried again, and what they met before is of no account."""
        for kind in list(self.parked.get(queue, {})):
            self._journal.drop(self.parked[queue], kind)
            self._ready(queue, kind)
        for workload in sorted(self.alone.get(queue, {})):
            self.wake_alone(workload)
        self._journal.drop_all(queue, self.woken, self.tried)
        if queue in self.lanes:
            self._journal.put(self.hot, queue, None)

    def try_later(self, workload: str, met: Parked) -> None:
        """It was tried and keeps its place; it is tried again once something happened (`stir`)."""
        queue = self.spot[workload].queue
        if queue not in self.tried:
            self._journal.put(self.tried, queue, {})
        self._journal.put(self.tried[queue], workload, met)

    def stir(self, queue: str) -> None:
        """Something happened: heads that were tried and stayed may be tried again."""
        if queue in self.tried:
            self._journal.drop(self.tried, queue)
            self._journal.put(self.hot, queue, None)

    def go_on(self, workload: str, tried: tuple[tuple[tuple[str, int], ...], ...] | None) -> None:
        """Where its next search for flavors goes on; None: at the first one. A search that ends where it has ended before goes on
        no more: where several groups are left at different flavors it would go round for ever."""
        before = self.resume[workload] if self.resumed(workload) is not None else None
        been = () if before is None else (*before.been, before.tried)
        if tried is None or tried in been:
            self._journal.drop(self.resume, workload)
            return
        generation = self.generation.get(self.spot[workload].queue, 0)
        self._journal.put(self.resume, workload, Resumed(tried, self.cycles, generation, been))

    def resumed(self, workload: str) -> tuple[tuple[tuple[str, int], ...], ...] | None:
        """Where its search for flavors goes on; None: at the first one. What was left longer ago than in the last cycle is stale
        where its queue changed meanwhile."""
        found = self.resume.get(workload)
        if found is None:
            return None
        changed = self.generation.get(self.spot[workload].queue, 0) > found.generation
        return None if changed and found.cycle < self.cycles - 1 else found.tried

    def renew(self, queue: str) -> None:
        """The queue gave quota back, or changed."""
        if queue in self.lanes:
            self._journal.put(self.generation, queue, self.generation.get(queue, 0) + 1)

    def stick(self, workload: str) -> None:
        """It goes before all others of its lane."""
        self._journal.put(self.sticky, lane_of(self.spot[workload]), workload)

    def unstick(self, workload: str) -> None:
        """Not any more."""
        lane = lane_of(self.spot[workload])
        if self.sticky.get(lane) == workload:
            self._journal.drop(self.sticky, lane)

    def is_parked(self, queue: str, kind: Kind) -> bool:
        """Was the kind set aside?"""
        return kind in self.parked.get(queue, ())

    def set_aside(self, workload: str) -> Parked | None:
        """What the workload, or its kind, was parked with; None: it is ready."""
        spot = self.spot[workload]
        alone = self.alone.get(spot.queue, {}).get(workload)
        return alone if alone is not None else self.parked.get(spot.queue, {}).get(spot.kind)

    def cool(self, queue: str) -> None:
        """Nobody in the queue may be tried until something changes."""
        self._journal.drop(self.hot, queue)

    def position(self, workload: str) -> int:
        """1 for the head of the line, 0 for one that is in no line."""
        spot = self.spot.get(workload)
        if spot is None:
            return 0
        own = bisect_left(self.line[lane_of(spot)], spot.place) + 1
        return own + sum(len(self.line[lane]) for lane in self._lanes_before(spot))

    def before(self, workload: str, at_most: int) -> list[str]:
        """Those who stand ahead, the head first."""
        spot = self.spot.get(workload)
        ahead: list[str] = []
        if spot is None:
            return ahead
        for lane in self._lanes_before(spot):
            ahead += [place[3] for place in self.line[lane][: at_most - len(ahead)]]
        line = self.line[lane_of(spot)]
        return ahead + [place[3] for place in line[: min(at_most - len(ahead), bisect_left(line, spot.place))]]

    def in_order(self, queue: str) -> Iterator[str]:
        """Everybody in the line of a ClusterQueue, the head first."""
        for lane in self._by_turn(queue):
            for place in self.line[lane]:
                yield place[3]

    def first(self, queue: str) -> str:
        """The first of a line that somebody stands in, whether it is ready or not."""
        return next(self.in_order(queue))

    def postpone(self, workload: str, until_ms: int) -> None:
        """It may not be tried before then."""
        self._journal.insert(self.later, (until_ms, workload))

    def unpostpone(self, workload: str, until_ms: int) -> None:
        """It doesn't wait for that time any more."""
        self._journal.discard(self.later, (until_ms, workload))

    def _by_turn(self, queue: str) -> list[str]:
        lanes = self.lanes.get(queue, {})
        if len(lanes) < 2:
            return list(lanes)
        turns = []
        for lane in lanes:
            first = self.line[lane][0]
            turns.append((*self._turn(self.spot[first[3]]), first, lane))
        return [turn[-1] for turn in sorted(turns)]

    def _turn(self, spot: Spot) -> tuple[int, float]:
        """By what the lane of this head takes turns with the others."""
        if self._share is not None:
            return (spot.place[0], self._share(spot.door, spot.queue))
        return (0, self._usage(spot.door))

    def _lanes_before(self, spot: Spot) -> list[str]:
        lanes = self._by_turn(spot.queue)
        return lanes[: lanes.index(lane_of(spot))]

    def _head_of(self, queue: str, lane: str, strategy: Strategy) -> str | None:
        sticky = self.sticky.get(lane)
        if sticky is not None and self.set_aside(sticky) is None:
            return sticky
        if strategy is not Strategy.STRICT:
            ready = self.ready[lane]
            return ready[0][3] if ready else None
        for place in self.line[lane]:
            aside = self.set_aside(place[3])
            if aside is None:
                return place[3]
            if aside.blocks:
                return None
        return None

    def _join(self, spot: Spot) -> None:
        """It stands with its kind."""
        lane = lane_of(spot)
        kinds = self.members[lane]
        if spot.kind not in kinds:
            self._journal.put(kinds, spot.kind, [])
        ready = not self.is_parked(spot.queue, spot.kind)
        if ready and kinds[spot.kind]:
            self._journal.discard(self.ready[lane], kinds[spot.kind][0])
        self._journal.insert(kinds[spot.kind], spot.place)
        if ready:
            self._journal.insert(self.ready[lane], kinds[spot.kind][0])

    def _part(self, spot: Spot) -> None:
        """It doesn't stand with its kind any more; a kind of which nobody is left is forgotten."""
        lane = lane_of(spot)
        kinds = self.members[lane]
        ready = not self.is_parked(spot.queue, spot.kind)
        if ready:
            self._journal.discard(self.ready[lane], kinds[spot.kind][0])
        self._journal.discard(kinds[spot.kind], spot.place)
        if kinds[spot.kind]:
            if ready:
                self._journal.insert(self.ready[lane], kinds[spot.kind][0])
            return
        self._journal.drop(kinds, spot.kind)
        if not any(spot.kind in self.members[other] for other in self.lanes[spot.queue]):
            self._journal.drop_all(spot.kind, self.parked.get(spot.queue, {}), self.woken.get(spot.queue, {}))

    def _ready(self, queue: str, kind: Kind) -> None:
        for lane in self.lanes[queue]:
            if kind in self.members[lane]:
                self._journal.insert(self.ready[lane], self.members[lane][kind][0])
        self._journal.put(self.hot, queue, None)

    def _unready(self, queue: str, kind: Kind) -> None:
        for lane in self.lanes[queue]:
            members = self.members[lane].get(kind)
            if members:
                self._journal.discard(self.ready[lane], members[0])

    def _drop_lane(self, queue: str, lane: str) -> None:
        self._journal.drop_all(lane, self.line, self.members, self.ready)
        self._journal.drop(self.lanes[queue], lane)
        if not self.lanes[queue]:
            self._journal.drop_all(queue, self.lanes, self.parked, self.alone, self.woken, self.tried, self.hot)
            self._journal.drop(self.generation, queue)


def lane_of(spot: Spot) -> str:
    """The name of the lane that the spot is in."""
    return f"{spot.queue} {spot.lane}" if spot.lane else spot.queue
