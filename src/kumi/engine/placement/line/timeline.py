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
Exact      amounts, by node and resource, and single devices that pods share (lent.py). Who is on the nodes (ports, affinity,
           spread) counts as now. So one may be kept from starting that would have delayed nobody; and one whose time has come
           may find that a port is taken.
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
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import Any

import numpy as np

from kumi.engine.ends import SOON_MS
from kumi.engine.journal import Journal
from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.devices import GPU
from kumi.engine.placement.line.asking import Asker, Places, Raised, Reservation, Taken
from kumi.engine.placement.line.changes import FEW, Change, Changes
from kumi.engine.placement.line.lent import Fullest, Lent
from kumi.engine.placement.line.outlook import END, Needs, Outlook
from kumi.engine.placement.nodes import NOWHERE, Ints, Nodes
from kumi.engine.pods import Pods

NEVER = 2**62
"""later than any time"""


@dataclass(frozen=True, slots=True)
class Around:
    """What there is. `gone`: the pods, by uid, that are leaving anyway, though the table of pods doesn't say so; `wanted`: what
    was promised to others of what is leaving, by (line, row), and isn't in `used`. `ended`: told of a pod that ends in a trial,
    and how many that are like it do, and `emptied` that all have: for who keeps more of them than the nodes do."""

    nodes: Nodes
    pods: Pods
    journal: Journal
    now_ms: int
    gone: Callable[[], Collection[str]]
    wanted: Callable[[], Ints]
    ended: Callable[[Pod, int], None] | None = None
    emptied: Callable[[], None] = lambda: None


_NO_ROWS: Ints = np.zeros(0, dtype=np.int64)


def _place(reservation: Reservation) -> tuple[int, str, str]:
    return (reservation.at_ms, reservation.key, reservation.name)


class Timeline:
    """See the module; made in one look, for it."""

    def __init__(self, around: Around) -> None:
        self._around, self._nodes, self._journal = around, around.nodes, around.journal
        self._kept: dict[str, tuple[Reservation, int | None]] = {}
        self._changes = Changes(around.nodes, around.pods, around.now_ms, around.gone)
        self._single = Lent(around.nodes, around.journal)
        self._asked: dict[int, tuple[PodShape, Ints, Ints]] = {}
        """by the shape's id: equal ones are mostly one"""
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
        self._changes.look_again()
        end = self._until(self.now_ms + (SOON_MS if later else 0), said_ms)
        if said_ms is not None and taken:
            self._enter(key, self._changes.of_taken(key, taken, end))
        elif said_ms is not None:
            self._outlook = None

    def keep(self, reservation: Reservation, said_ms: int | None) -> None:
        """Room is kept for one that waits. One whose node isn't there any more is passed over. One whose time has come begins in
        the next millisecond, and ends as if it began now."""
        self.drop(reservation.key)
        at_ms = max(reservation.at_ms, self.now_ms)
        begin, end = max(at_ms, self.now_ms + SOON_MS), self._until(at_ms, said_ms)
        begins = self._changes.of_places(reservation.key, reservation.places, begin, 1)
        if reservation.places and not begins:
            return
        self._kept[reservation.key] = (reservation, said_ms)
        if any(shape.share for _, shape, _ in reservation.places):
            self._nodes.devices.share()
        if reservation.devices:
            self._single.keep(reservation)
        insort(self._turns, _place(reservation))
        changes = list(begins)
        if end < NEVER:
            end = max(end, begin + SOON_MS)
            changes += self._changes.of_places(reservation.key, reservation.places, end, -1)
        self._enter(reservation.key, changes, begins)

    def drop(self, key: str) -> None:
        """None is kept for that one."""
        held = self._kept.pop(key, None)
        if held is not None:
            del self._turns[bisect_left(self._turns, _place(held[0]))]
            self._single.drop(key)
            self._leave(key)

    def raised(self, said_ms: int | None) -> Raised | None:
        """See the module; None where nothing is kept."""
        return _Raising(partial(self._raise, self._until(self.now_ms, said_ms))) if self._kept else None

    def _raise(self, until_ms: int) -> Callable[[], None]:
        """The nodes are as full as at their fullest until then; what takes that back."""
        lent, added = self._lent(self.now_ms, until_ms), self._excess(self.now_ms, until_ms)
        self._add(added, 1)
        more = self._lend(lent)

        def lower() -> None:
            for array, rows, amounts in more:
                self._nodes.stir(rows[-1])
                self._journal.add(array, rows, -amounts)
            self._add(added, -1)

        return lower

    def next_name(self) -> str:
        """Of those for whom room is kept, the one that starts first; "" for nobody."""
        return self._turns[0][2] if self._turns else ""

    # what is asked

    def earliest(self, asker: Asker, by_ms: int = NEVER, after_ms: int = 0) -> Reservation | None:
        """Its reservation, not before `after_ms`, at `by_ms` at the latest; None: there is no such time."""
        needs = asker.needs()
        if needs is not None and needs.pods == 1 and len(self._kept) <= FEW:
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
                    until_ms = self._until(at_ms, asker.said_ms)
                    lent = self._lent(at_ms, until_ms)
                    self._add(self._excess(at_ms, until_ms), 1)
                    self._lend(lent)
                    found = self._sketched(asker, at_ms)
                if found is not None:
                    return found
        return None

    def beside(self, places: Places, said_ms: int | None, asker: Asker, by_ms: int) -> Reservation | None:
        """The asker's reservation, were those places taken from now on for so long; at `by_ms` at the latest."""
        held = self._kept.get(asker.key)
        self.drop(asker.key)
        if said_ms is not None:
            self._enter("", self._changes.of_places("", places, self._until(self.now_ms, said_ms), -1))
        with self._journal.trial():
            self._journal.swap(self._nodes, "used", self._nodes.used.copy())
            for change in self._changes.of_places("", places, self.now_ms, 1):
                self._nodes.stir(change.rows)
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
            return asker.fits()

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
            changes = self._changes.in_order()
            ahead: list[Change] = []
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
                    lent = self._lent(at_ms, at_ms + takes)
                    self._fill(base + outlook.most(at_ms - now_ms, min(at_ms - now_ms + takes, END)), stale)
                    self._lend(lent)
                    self._journal.swap(nodes, "touched", {})
                    found = self._sketched(asker, at_ms)
                if found is not None:
                    return found
        return None

    def _sketched(self, asker: Asker, at_ms: int) -> Reservation | None:
        """Its reservation at that time, were the nodes then as they are in the tables now."""
        places = asker.sketch()
        if places is None:
            return None
        devices = self._single.lay(places) if any(self._nodes.devices.concern(shape) for _, shape, _ in places) else ()
        return Reservation(asker.key, asker.name, asker.priority, at_ms, places, devices)

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
        for change in self._changes.at(at_ms):
            gained |= dict.fromkeys(change.rows[change.more < 0].tolist())
        return np.array(list(gained), dtype=np.int64)

    def _pass(self, changes: Iterator[Change], ahead: list[Change], at_ms: int, stale: dict[int, None]) -> None:
        """What isn't in `used` follows all that changes until then. `ahead`: the next change, taken from the others already."""
        if self._around.ended is None and not self._nodes.devices.shared:
            return
        for change in chain(list(ahead), changes):
            ahead.clear()
            if change.at_ms > at_ms:
                ahead.append(change)
                return
            self._follow(change)
            stale.update(dict.fromkeys(change.rows.tolist()))

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
            changes = self._changes.everything()
            sizes = [change.rows.size for change in changes]
            begins = np.cumsum([0, *sizes])
            amounts = np.zeros((lines, int(begins[-1])), dtype=np.int64)
            of: dict[int, list[int]] = {}
            for n, change in enumerate(changes):
                of.setdefault(id(change.shape), []).append(n)
            for places in of.values():
                _, asked, each = self._asks(changes[places[0]].shape)
                at = np.concatenate([np.arange(begins[n], begins[n + 1]) for n in places])
                more = np.concatenate([changes[n].more for n in places])
                amounts[np.ix_(asked, at)] = each[:, None] * more
            rows = np.concatenate([_NO_ROWS, *(change.rows for change in changes)])
            times = np.repeat(np.array([change.at_ms for change in changes], dtype=np.int64), sizes) - self.now_ms
            self._outlook = Outlook(rows, times, amounts, width)
        return self._outlook

    def _moments(self, by_ms: int, after_ms: int, stale: dict[int, None]) -> Iterator[tuple[int, Ints]]:
        """Each time at which something ends, and the rows on which it does; `used` is as of then. None before `after_ms`: that
        is one itself, and stands for all rows. `stale`: gets the rows that changed."""
        soon, whole = self.now_ms + SOON_MS, after_ms > self.now_ms
        left = self._let_go()
        ends = groupby(self._changes.in_order(), key=lambda change: change.at_ms)
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
                stale.update(dict.fromkeys(change.rows.tolist()))
                gained |= dict.fromkeys(change.rows[change.more < 0].tolist())
            if at_ms == after_ms:
                whole = False
                yield at_ms, self._nodes.by_name()
            elif gained and at_ms > after_ms:
                yield at_ms, np.array(list(gained))

    def _enter(self, key: str, changes: list[Change], kept: Sequence[Change] = ()) -> None:
        self._changes.enter(key, changes, kept)
        self._enter_outlook(changes, 1)

    def _leave(self, key: str) -> None:
        self._enter_outlook(self._changes.leave(key), -1)

    def _enter_outlook(self, changes: list[Change], times: int) -> None:
        """So many times these, in what is seen of all nodes at once."""
        if self._outlook is None:
            return
        if sum(change.rows.size for change in changes) > FEW:
            self._outlook = None  # made anew it costs less
            return
        for change in changes:
            _, lines, amounts = self._asks(change.shape)
            for row, more in zip(change.rows.tolist(), change.more.tolist(), strict=True):
                self._outlook.enter(row, change.at_ms - self.now_ms, lines, amounts * (more * times))

    def _apply(self, change: Change) -> None:
        """Changes `used`, which is this trial's own."""
        nodes = self._nodes
        _, lines, amounts = self._asks(change.shape)
        nodes.used[lines[:, None], change.rows] += amounts[:, None] * change.more
        self._follow(change)

    def _follow(self, change: Change) -> None:
        """The same for what isn't in `used`."""
        nodes = self._nodes
        if nodes.devices.concern(change.shape):
            self._single.follow(change)
        if change.like is not None and self._around.ended is not None:
            self._around.ended(change.like, -int(change.more.sum()))

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

    def _excess(self, at_ms: int, until_ms: int) -> tuple[Ints, Ints]:
        """The rows on which a reservation begins in (at, until) that are fuller then, and by line and row how much fuller each is
        at its fullest until then than at `at`."""
        rows = self._changes.beginning(at_ms, until_ms)
        if len(rows) > FEW:
            return self._excess_of_all(at_ms, until_ms)
        found: dict[int, Ints] = {}
        for row, steps in self._changes.on_rows(list(rows), at_ms, until_ms).items():
            level = np.zeros(self._nodes.used.shape[0], dtype=np.int64)
            most = level.copy()
            for _, at_once in groupby(steps, key=lambda step: step.at_ms):
                for step in at_once:
                    _, lines, amounts = self._asks(step.shape)
                    level[lines] += amounts * step.more
                np.maximum(most, level, out=most)
            if most.any():
                found[row] = most
        return np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=np.int64).T

    def _excess_of_all(self, at_ms: int, until_ms: int) -> tuple[Ints, Ints]:
        """The same, of all rows at once."""
        begin, end, outlook = at_ms - self.now_ms, min(until_ms - self.now_ms, END), self._seen()
        most = outlook.most(begin, end) - outlook.level(begin)
        rows = np.flatnonzero(most.any(axis=0))
        return rows, most[:, rows]

    def _add(self, added: tuple[Ints, Ints], times: int) -> None:
        nodes, (rows, amounts) = self._nodes, added
        if not rows.size:
            return
        for row in rows.tolist():
            nodes.touch(row)  # what is kept is no loss of room
        nodes.stir(rows)
        self._journal.add(nodes.used, (slice(0, amounts.shape[0]), rows), amounts * times)

    def _lent(self, at_ms: int, until_ms: int) -> list[Fullest]:
        """The rows on which a reservation begins in (at, until) and single devices matter, at their fullest until then; the nodes
        are as at `at`."""
        nodes, changes = self._nodes, self._changes
        if not nodes.devices.shared:
            return []
        steps = changes.on_rows(list(changes.beginning(at_ms, until_ms)), at_ms, until_ms)
        concerned = {row: there for row, there in steps.items() if any(nodes.devices.concern(s.shape) for s in there)}
        return [self._single.fullest(row, there) for row, there in concerned.items()]

    def _lend(self, lent: list[Fullest]) -> list[tuple[Ints, Any, Any]]:
        """The devices are as full as that; to which array what was added where."""
        nodes, added = self._nodes, list[tuple[Ints, Any, Any]]()
        for row, used, total in lent:
            nodes.touch(row)
            nodes.stir(row)
            of, line = (slice(0, used.size), row), nodes.line_by_resource[GPU]
            by_now, _ = nodes.devices.fullness(row)
            added.append((nodes.devices.used, of, used - by_now))
            added.append((nodes.used, (line, row), total - int(nodes.used[line, row])))
        for array, rows, amounts in added:
            self._journal.add(array, rows, amounts)
        return added


class _Raising(AbstractContextManager[None]):
    """See Timeline.raised. It may be entered again while nothing else has changed."""

    def __init__(self, enter: Callable[[], Callable[[], None]]) -> None:
        self._enter, self._leave = enter, _nothing

    def __enter__(self) -> None:
        self._leave = self._enter()

    def __exit__(self, *_: object) -> None:
        self._leave()


def _nothing() -> None:
    """Nothing to take back."""
