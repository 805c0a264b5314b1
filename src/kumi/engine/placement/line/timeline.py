"""Timeline: how full the nodes will be, as far as anybody has said when what runs ends, and with what is kept for who waits.

The rule, for a node n, a resource r and a time t >= now:
    used(n, r, t)  = used now - what those use who have ended by t + what reservations use that hold at t
    ends           of pods on nodes: ../../ends.py (nothing ever ends where nobody keeps them); who is leaving has left in the
                   next millisecond, and who was promised that room is there then; what was started in this look ends by what
                   it said
    holds          a reservation at [at, at + said), without end where nothing is said
    earliest(a)    the first t > now at which something ends, such that a goes there with every node as full as it is at its
                   fullest in [t, t + said(a))
    raised(d)      inside, every node is as full as it is at its fullest in [now, now + d): whoever finds room then delays nobody
                   that has a reservation
Why        a gang goes to nodes, not to a total: each moment is tried on the table of the nodes, by the same placing that starts
           it.
Exact      amounts, by node and resource. Single devices that pods share count as whole ones where a reservation needs them; who
           is on the nodes (ports, affinity, spread) counts as now. So one may be kept from starting that would have delayed
           nobody; and one whose time has come may find that a port is taken.
Trials     everything that is tried is taken back (journal.py).
Units      milliseconds since the epoch; amounts as in nodes.py.
Cost       a look forward for a pod with few others' reservations: O(nodes) once, O(what changes until then), and a try for each
           moment at which a node gains that may help; for a gang, or with more, what outlook.py costs, and a try for each moment
           that it names. raised: O(pods on the nodes on which a reservation begins meanwhile), with many O(what changes).
Source     Lifka, The ANL/IBM SP scheduling system (1995); Mu'alem and Feitelson (2001).
Not here   who gets a reservation: easy.py, conservative.py.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import merge
from itertools import chain, count, groupby
from typing import NamedTuple

import numpy as np

from kumi.engine.ends import SOON_MS
from kumi.engine.journal import Journal
from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.line.asking import Asker, Places, Raised, Reservation, Taken
from kumi.engine.placement.line.outlook import END, Needs, Outlook
from kumi.engine.placement.nodes import NOWHERE, Ints, Nodes
from kumi.engine.pods import Pods

NEVER = 2**62
"""later than any time"""


@dataclass(frozen=True, slots=True)
class Around:
    """What there is. `gone`: is that pod, by its uid, leaving anyway; `wanted`: what was promised to others of what is leaving,
    by (line, row), and isn't in `used`. `ended`: told of each pod that ends in a trial, and `emptied` that all have: for who
    keeps more of them than the nodes do."""

    nodes: Nodes
    pods: Pods
    journal: Journal
    now_ms: int
    gone: Callable[[str], bool]
    wanted: Callable[[], Ints]
    ended: Callable[[Pod], None] | None = None
    emptied: Callable[[], None] = lambda: None


class _Change(NamedTuple):
    """From `at_ms` on so many `more` pods are on the row (negative: fewer). `key`: whose; `pod`: which one, where it runs."""

    at_ms: int
    more: int
    row: int
    key: str
    number: int
    shape: PodShape
    pod: Pod | None = None


def _when(change: _Change) -> int:
    return change.at_ms


_FEW = 8
"""so many reservations are looked at one by one: arrays of all nodes cost more to make"""

_Turn = tuple[int, int, int, str, int]


def _turn(change: _Change) -> _Turn:
    """Their order; unique."""
    return change[:5]


def _place(reservation: Reservation) -> tuple[int, str, str]:
    return (reservation.at_ms, reservation.key, reservation.name)


class Timeline:
    """See the module; made in one look, for it."""

    def __init__(self, around: Around) -> None:
        self._around, self._nodes, self._journal = around, around.nodes, around.journal
        self._kept: dict[str, tuple[Reservation, int | None]] = {}
        self._changes: dict[str, list[_Change]] = {}
        """of what is kept, and of what was started in this look, by key"""
        self._own: list[_Change] = []
        """all of them, in their order"""
        self._own_on: dict[int, list[_Change]] = {}
        self._begins: list[tuple[int, int, str, int]] = []
        """(when, row, key, number) a reservation begins"""
        self._ends_on: dict[int, tuple[int, list[_Change]]] = {}
        """row -> how many pods there were, and how they end"""
        self._asked: dict[int, tuple[PodShape, Ints, Ints]] = {}
        """by the shape's id: equal ones are mostly one"""
        self._ends: list[_Change] | None = None
        """as far as anybody looked; `_later`: the rest"""
        self._later: Iterator[_Change] = iter(())
        self._turns: list[tuple[int, str, str]] = []
        """(when, key, name) of what is kept, in order"""
        self._outlook: Outlook | None = None

    @property
    def now_ms(self) -> int:
        """Of this look."""
        return self._around.now_ms

    # what is known

    def run(self, key: str, taken: Taken, said_ms: int | None, *, later: bool = False) -> None:
        """The pods of that one run from now on, and count as used already; `later`: once others have left. `taken`: those that
        the table of pods doesn't show on their nodes."""
        self._ends = None
        rows = self._nodes.row_by_name
        end = self._until(self.now_ms + (SOON_MS if later else 0), said_ms)
        if said_ms is not None and taken:
            ends = [_Change(end, -1, rows[node], key, n, pod.shape, pod) for n, (node, pod) in enumerate(taken)]
            self._enter(key, ends)
        elif said_ms is not None:
            self._outlook = None

    def keep(self, reservation: Reservation, said_ms: int | None) -> None:
        """Room is kept for one that waits. One whose node isn't there any more is passed over. One whose time has come begins in
        the next millisecond, and ends as if it began now."""
        self.drop(reservation.key)
        rows = self._nodes.row_by_name
        if any(node not in rows for node, _, _ in reservation.places):
            return
        self._kept[reservation.key] = (reservation, said_ms)
        insort(self._turns, _place(reservation))
        at_ms = max(reservation.at_ms, self.now_ms)
        begin, end = max(at_ms, self.now_ms + SOON_MS), self._until(at_ms, said_ms)
        changes = self._of_places(reservation.key, reservation.places, begin, 1)
        for change in changes:
            insort(self._begins, (begin, change.row, change.key, change.number))
        if end < NEVER:
            changes += self._of_places(reservation.key, reservation.places, max(end, begin + SOON_MS), -1)
        self._enter(reservation.key, changes)

    def drop(self, key: str) -> None:
        """None is kept for that one."""
        held = self._kept.pop(key, None)
        if held is not None:
            del self._turns[bisect_left(self._turns, _place(held[0]))]
            self._leave(key)

    def raised(self, said_ms: int | None) -> Raised | None:
        """See the module; None where nothing is kept."""
        return self._raised(said_ms) if self._kept else None

    @contextmanager
    def _raised(self, said_ms: int | None) -> Iterator[None]:
        until_ms = self._until(self.now_ms, said_ms)
        few = len(self._kept) <= _FEW
        added = self._excess(self.now_ms, until_ms) if few else self._excess_of_all(until_ms)
        self._add(added, 1)
        yield
        self._add(added, -1)

    def next_name(self) -> str:
        """Of those for whom room is kept, the one that starts first; "" for nobody."""
        return self._turns[0][2] if self._turns else ""

    # what is asked

    def earliest(self, asker: Asker, by_ms: int = NEVER, after_ms: int = 0) -> Reservation | None:
        """Its reservation, not before `after_ms`, at `by_ms` at the latest; None: there is no such time."""
        needs = asker.needs()
        if needs is not None and needs.pods == 1 and len(self._kept) <= _FEW:
            needs = None
        if needs is not None:
            return self._among(asker, needs, by_ms, after_ms)
        return self.earliest_one_by_one(asker, by_ms, after_ms)

    def earliest_one_by_one(self, asker: Asker, by_ms: int = NEVER, after_ms: int = 0) -> Reservation | None:
        """The same, by a look at each time at which something ends."""
        nodes, stale = self._nodes, dict[int, None]()
        with self._journal.trial():
            self._journal.swap(nodes, "used", nodes.used.copy())
            for at_ms, rows in self._moments(by_ms, after_ms, stale):
                if not asker.helped(rows):
                    continue
                nodes.stir(list(stale))
                stale.clear()
                with self._journal.trial():
                    self._add(self._excess(at_ms, self._until(at_ms, asker.said_ms)), 1)
                    places = asker.sketch()
                if places is not None:
                    return Reservation(asker.key, asker.name, asker.priority, at_ms, places)
        return None

    def beside(self, places: Places, said_ms: int | None, asker: Asker, by_ms: int) -> Reservation | None:
        """The asker's reservation, were those places taken from now on for so long; at `by_ms` at the latest."""
        held = self._kept.get(asker.key)
        self.drop(asker.key)
        if said_ms is not None:
            self._enter("", self._of_places("", places, self._until(self.now_ms, said_ms), -1))
        with self._journal.trial():
            self._journal.swap(self._nodes, "used", self._nodes.used.copy())
            for change in self._of_places("", places, self.now_ms, 1):
                self._nodes.stir(change.row)
                self._apply(change)
            found = self.earliest(asker, by_ms)
        self._leave("")
        if held is not None:
            self.keep(*held)
        return found

    def ever(self, asker: Asker) -> bool:
        """Would it find room were nothing on the nodes?"""
        nodes = self._nodes
        with self._journal.trial():
            nodes.stir(slice(None))
            nodes.vacate()
            for array in (nodes.releasing, nodes.pipelined):
                self._journal.write(array, slice(None), 0)
            self._around.emptied()
            return asker.sketch() is not None

    def _until(self, at_ms: int, said_ms: int | None) -> int:
        return NEVER if said_ms is None else at_ms + max(said_ms, SOON_MS)

    # how

    def _among(self, asker: Asker, needs: Needs, by_ms: int, after_ms: int) -> Reservation | None:
        """As `earliest`: of the times at which amounts allow it, the first at which it goes."""
        nodes, now_ms, stale = self._nodes, self.now_ms, dict[int, None]()
        with self._journal.trial():
            self._journal.swap(nodes, "used", nodes.used.copy())
            left = self._let_go()
            base, outlook = nodes.used.copy(), self._seen()
            takes = END if asker.said_ms is None else max(asker.said_ms, SOON_MS)
            changes = self._in_order()
            ahead: list[_Change] = []
            for at_ms in self._times(needs, takes, base, left, by_ms, after_ms):
                rows = self._gaining(at_ms, left, after_ms)
                if not rows.size:
                    continue
                self._pass(changes, ahead, at_ms, stale)
                self._fill(base + outlook.level(at_ms - now_ms), stale)
                if not asker.helped(rows):
                    continue
                with self._journal.trial():
                    self._journal.swap(nodes, "used", nodes.used.copy())
                    self._fill(base + outlook.most(at_ms - now_ms, min(at_ms - now_ms + takes, END)), stale)
                    self._journal.swap(nodes, "touched", {})
                    places = asker.sketch()
                if places is not None:
                    return Reservation(asker.key, asker.name, asker.priority, at_ms, places)
        return None

    def _times(self, needs: Needs, takes: int, base: Ints, left: list[int], by_ms: int, after_ms: int) -> list[int]:
        """The times at which something changes and amounts allow it."""
        nodes, now_ms, outlook = self._nodes, self.now_ms, self._seen()
        first, last = max(after_ms - now_ms, SOON_MS), by_ms - now_ms
        times = outlook.times(first, last)
        for at in ((after_ms - now_ms) if after_ms > now_ms else 0, SOON_MS if left else 0):
            place = int(np.searchsorted(times, at))
            if first <= at <= last and (place == times.size or times[place] != at):
                times = np.insert(times, place, at)
        allowed = outlook.may(needs, nodes.allocatable - base, takes, times)
        chosen: list[int] = (times[allowed] + now_ms).tolist()
        return chosen

    def _gaining(self, at_ms: int, left: list[int], after_ms: int) -> Ints:
        """The rows that gain then; all of them where `after_ms` is it."""
        if at_ms == after_ms:
            return self._nodes.by_name()
        gained = dict.fromkeys(left if at_ms == self.now_ms + SOON_MS else ())
        for line in (self._all_ends(), self._own):
            changes = line[bisect_left(line, at_ms, key=_when) : bisect_left(line, at_ms + 1, key=_when)]
            gained |= dict.fromkeys(change.row for change in changes if change.more < 0)
        return np.array(list(gained), dtype=np.int64)

    def _pass(self, changes: Iterator[_Change], ahead: list[_Change], at_ms: int, stale: dict[int, None]) -> None:
        """What isn't in `used` follows all that changes until then. `ahead`: the next change, taken from the others already."""
        if self._around.ended is None and not self._nodes.devices.shared:
            return
        for change in chain(list(ahead), changes):
            ahead.clear()
            if change.at_ms > at_ms:
                ahead.append(change)
                return
            self._follow(change)
            stale[change.row] = None

    def _fill(self, used: Ints, stale: dict[int, None]) -> None:
        """The nodes are as full as that, in this trial."""
        nodes = self._nodes
        rows = np.flatnonzero((nodes.used != used).any(axis=0))
        nodes.used[:, rows] = used[:, rows]
        nodes.stir(rows)
        if stale:
            nodes.stir(list(stale))
            stale.clear()

    def _seen(self) -> Outlook:
        """What changes from now on, as an array."""
        if self._outlook is None:
            lines, width = self._nodes.used.shape
            changes = [*self._all_ends(), *self._own]
            amounts = np.zeros((lines, len(changes)), dtype=np.int64)
            of: dict[int, list[int]] = {}
            for n, change in enumerate(changes):
                of.setdefault(id(change.shape), []).append(n)
            for places in of.values():
                _, asked, each = self._asks(changes[places[0]].shape)
                more = np.array([changes[n].more for n in places], dtype=np.int64)
                amounts[np.ix_(asked, np.array(places))] = each[:, None] * more
            rows = np.array([change.row for change in changes], dtype=np.int64)
            times = np.array([change.at_ms for change in changes], dtype=np.int64) - self.now_ms
            self._outlook = Outlook(rows, times, amounts, width)
        return self._outlook

    def _excess_of_all(self, until_ms: int) -> list[tuple[int, Ints]]:
        """As `_excess` from now on, of all rows at once."""
        most = self._seen().most(0, min(until_ms - self.now_ms, END))
        return [(row, most[:, row]) for row in np.flatnonzero(most.any(axis=0)).tolist()]

    def _moments(self, by_ms: int, after_ms: int, stale: dict[int, None]) -> Iterator[tuple[int, Ints]]:
        """Each time at which something ends, and the rows on which it does; `used` is as of then. None before `after_ms`: that
        is one itself, and stands for all rows. `stale`: gets the rows that changed."""
        soon, whole = self.now_ms + SOON_MS, after_ms > self.now_ms
        left = self._let_go()
        ends = groupby(self._in_order(), key=lambda change: change.at_ms)
        for at_ms, changes in chain(ends, [(NEVER + 1, iter(()))]):
            if left and at_ms > soon >= after_ms:
                yield soon, np.array(left)
            if whole and at_ms > after_ms:
                whole = False
                yield after_ms, self._nodes.by_name()
            if at_ms > by_ms:
                return
            gained = dict.fromkeys(left if at_ms == soon else ())
            left = []
            for change in changes:
                self._apply(change)
                stale[change.row] = None
                if change.more < 0:
                    gained[change.row] = None
            if at_ms == after_ms:
                whole = False
                yield at_ms, self._nodes.by_name()
            elif gained and at_ms > after_ms:
                yield at_ms, np.array(list(gained))

    def _in_order(self) -> Iterator[_Change]:
        """All that changes from now on, in the order of time."""
        return merge(self._ending(), self._own, key=_turn)

    def _ending(self) -> Iterator[_Change]:
        """How the pods on nodes end, in the order of time."""
        if self._ends is None:
            self._ends, self._later = [], self._to_end()
        ends, later = self._ends, self._later
        for n in count():
            if n == len(ends):
                change = next(later, None)
                if change is None:
                    return
                ends.append(change)
            yield ends[n]

    def _to_end(self) -> Iterator[_Change]:
        around, rows, known = self._around, self._nodes.row_by_name, self._around.pods.ends
        for at_ms, uid in () if known is None else known.in_order(self.now_ms):
            row = rows.get(around.pods.node_of[uid])
            if row is not None and not around.gone(uid):
                pod = around.pods.by_uid[uid]
                yield _Change(at_ms, -1, row, uid, 0, pod.shape, pod)

    def _all_ends(self) -> list[_Change]:
        if self._ends is None:
            self._ends, self._later = [], self._to_end()
        self._ends += self._later
        return self._ends

    def _of_places(self, key: str, places: Places, at_ms: int, times: int) -> list[_Change]:
        rows = self._nodes.row_by_name
        return [
            _Change(at_ms, times * count, rows[node], key, n, shape) for n, (node, shape, count) in enumerate(places)
        ]

    def _enter(self, key: str, changes: list[_Change]) -> None:
        self._changes[key] = changes
        if len(changes) > _FEW:
            self._outlook = None  # made anew it costs less
        for change in changes:
            insort(self._own, change, key=_turn)
            insort(self._own_on.setdefault(change.row, []), change, key=_turn)
            self._enter_outlook(change, 1)

    def _leave(self, key: str) -> None:
        changes = self._changes.pop(key, [])
        if len(changes) > _FEW:
            self._outlook = None
        for change in changes:
            self._enter_outlook(change, -1)
            for line in (self._own, self._own_on[change.row]):
                del line[bisect_left(line, _turn(change), key=_turn)]
            if change.more > 0:
                at = bisect_left(self._begins, begin := (change.at_ms, change.row, key, change.number))
                if at < len(self._begins) and self._begins[at] == begin:
                    del self._begins[at]

    def _enter_outlook(self, change: _Change, times: int) -> None:
        if self._outlook is not None:
            _, lines, amounts = self._asks(change.shape)
            self._outlook.enter(change.row, change.at_ms - self.now_ms, lines, amounts * (change.more * times))

    def _apply(self, change: _Change) -> None:
        """Changes `used`, which is this trial's own."""
        nodes = self._nodes
        _, lines, amounts = self._asks(change.shape)
        nodes.used[lines, change.row] += amounts * change.more
        self._follow(change)

    def _follow(self, change: _Change) -> None:
        """The same for what isn't in `used`."""
        nodes = self._nodes
        if nodes.devices.concern(change.shape):
            if change.pod is not None:
                nodes.devices.unseat_pod(change.pod)
            elif change.more > 0:
                nodes.devices.fill(change.shape, np.array([change.row]), np.array([change.more]))
        if change.pod is not None and self._around.ended is not None:
            self._around.ended(change.pod)

    def _asks(self, shape: PodShape) -> tuple[PodShape, Ints, Ints]:
        """The lines of what it asks for, and how much."""
        known = self._asked.get(id(shape))
        if known is None:
            asked = [(line, amount) for line, amount in self._nodes.asked(shape.requests) if line != NOWHERE]
            lines, amounts = zip(*asked, strict=True)
            known = (shape, np.array(lines), np.array(amounts, dtype=np.int64))
            self._asked[id(shape)] = known
        return known

    def _let_go(self) -> list[int]:
        """Who is leaving has left, and who was promised that room has it. The rows that gain."""
        nodes, journal = self._nodes, self._journal
        if not nodes.is_in_motion():
            return []
        change = self._around.wanted() - nodes.releasing
        rows = np.flatnonzero(change.any(axis=0))
        nodes.stir(rows)
        for row in rows.tolist():
            nodes.devices.gone(row)
        nodes.used[:, rows] += change[:, rows]
        journal.write(nodes.releasing, slice(None), 0)
        journal.write(nodes.pipelined, slice(None), 0)
        return [int(row) for row in rows if (change[:, row] < 0).any()]

    def _excess(self, at_ms: int, until_ms: int) -> list[tuple[int, Ints]]:
        """By row on which a reservation begins in (at, until): how much fuller it is at its fullest until then than at `at`."""
        after, until = (bisect_left(self._begins, (ms,)) for ms in (at_ms + 1, until_ms))
        rows = dict.fromkeys(begin[1] for begin in self._begins[after:until])
        found = []
        for row in rows:
            level = np.zeros(self._nodes.used.shape[0], dtype=np.int64)
            most = level.copy()
            for _, changes in groupby(self._on_row(row, at_ms, until_ms), key=lambda change: change.at_ms):
                for change in changes:
                    _, lines, amounts = self._asks(change.shape)
                    level[lines] += amounts * change.more
                np.maximum(most, level, out=most)
            if most.any():
                found.append((row, most))
        return found

    def _on_row(self, row: int, after_ms: int, until_ms: int) -> Iterator[_Change]:
        """What changes on the row in (after, until), in the order of time."""
        first, last = (after_ms + 1,), (until_ms,)
        lines = (self._ends_of(row), self._own_on.get(row, []))
        return merge(*(line[bisect_left(line, first) : bisect_left(line, last)] for line in lines), key=_turn)

    def _ends_of(self, row: int) -> list[_Change]:
        """How the pods on the row end, in the order of time."""
        around, pods = self._around, self._around.pods
        there = pods.on_node.get(self._nodes.name_by_row()[row], {})
        known = self._ends_on.get(row)
        if known is None or known[0] != len(there):
            ends = []
            for uid in there:
                end = None if pods.ends is None else pods.ends.of(uid, self.now_ms)
                if end is not None and not around.gone(uid):
                    ends.append(_Change(end, -1, row, uid, 0, pods.by_uid[uid].shape))
            known = (len(there), sorted(ends, key=_turn))
            self._ends_on[row] = known
        return known[1]

    def _add(self, added: list[tuple[int, Ints]], times: int) -> None:
        for row, amounts in added:
            nodes = self._nodes
            nodes.touch(row)  # what is kept is no loss of room
            nodes.stir(row)
            self._journal.add(nodes.used, (slice(0, amounts.size), row), amounts * times)
