"""Devices: the single GPUs of each node, and who has which share of them.

The rule, for a node of n = allocatable // 1000 devices, numbered from 0:
    used(d)      thousandths of device d that pods with known devices have
    unknown      whole devices that pods have of which nobody knows which: what else is used of the resource, rounded up
    open         devices of which something is used, and not all
    free         devices of which nothing is used, less `unknown`
    a pod that shares one device with others (PodShape.share = s) fits so often:
                 the sum over open d of (1000 - used(d)) // s, plus free * (1000 // s)
    a pod that wants k whole devices fits so often: free // k
Which        a share goes to the fullest device that still has so much, the lowest number among equals; a free one is opened where
             no open one has; whole devices are the lowest numbers. A score may say otherwise (the hook `devices`).
Part of the state   a bind names the devices, they are written on the pod, and read back from it: a restart finds the same. Where
             nobody shares a GPU none are named, and nothing is looked at here; whole GPUs that pods had before somebody shared
             one stay `unknown`.
Views        now: what is used, also by who is leaving; later: once those have left, and those who are promised something came.
Moved        a place that is promised and not taken yet, and a share of which nobody knows where it is, may be thought of as on
             another device, so that a pod whose device is known has its own. The largest are laid out first.
Over         a device is past 1000 only by causes outside of the engine (a pod that came so, a node that lost devices):
             `inherited` has how far.
Units        thousandths of a device.
Cost         O(devices x rows) a question over rows; O(devices) a pod.
Source       Kumi's own; the amounts as in Alibaba's GPU sharing (gpu-milli, gpu-count).
Not here     the resource as a whole: nodes.py; what the pod's annotations say: kumi.bridge.into.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.engine.journal import Journal
from kumi.engine.model import Pod, PodShape

if TYPE_CHECKING:
    from kumi.engine.placement.nodes import Nodes

Ints: TypeAlias = NDArray[np.int64]

GPU = "nvidia.com/gpu"
WHOLE = 1000
AT_MOST = 1024
"""so many devices of a node can be shared"""


def lent_holder(uid: str) -> str:
    """Who has what is kept for a pod for as long as others look for room: no pod's uid either."""
    return f"\n{uid}"


class Seat(NamedTuple):
    """What a holder has: `each` thousandths of each of the devices. `fixed`: it is these, and not others; `promised`: it gets
    them once others have left."""

    row: int
    devices: tuple[int, ...]
    each: int
    fixed: bool
    promised: bool


def asked(shape: PodShape) -> int:
    """Thousandths of GPUs that such a pod asks for."""
    for resource, amount in shape.requests:
        if resource == GPU:
            return amount
    return 0


def place_holder(slots: tuple[str, str], node: str, number: int) -> str:
    """Who holds a promised place that no pod has taken: no pod's uid."""
    return "\n".join((*slots, node, str(number)))


class Devices:
    """By node row; kept for pods that share devices, and for all that have devices since somebody shares one."""

    def __init__(self, journal: Journal, nodes: Nodes) -> None:
        self._journal, self._nodes = journal, nodes
        self.shared = False
        """somebody shares a device, or has, or room is kept for it: also who says which devices are its own was bound then"""
        self.used: Ints = np.zeros((0, 0), dtype=np.int64)
        self.releasing: Ints = np.zeros((0, 0), dtype=np.int64)
        self.promised: Ints = np.zeros((0, 0), dtype=np.int64)
        self.inherited: dict[int, int] = {}
        """row -> how far it is over, for causes outside of the engine"""
        self.seats: dict[str, Seat] = {}
        self.mix: dict[PodShape, int] | None = None
        """what the unfinished pods that are known are like, each so many times; None: nobody asked for it to be kept"""
        self._lines = 0
        """the most devices that a node has, or had"""
        self._on_row: dict[int, dict[str, None]] = {}
        self.touched: dict[int, None] = {}
        """rows that are being changed"""
        self._empty: Ints = np.zeros(0, dtype=np.int64)
        """of each row, how many whole devices are free"""
        self._most: Ints = np.zeros(0, dtype=np.int64)
        """of each row, the most that is free of one device"""
        self.is_watched = False
        """something is kept: rows that are stirred are to be told of"""
        self._as_of: Ints | None = None
        """the table that these two are made of, but for the rows in `_stirred`; no part of what a trial takes back"""
        self._stirred: dict[int, None] = {}
        self._rows_of: Ints | None = None
        self._rows: dict[int, tuple[list[int], int, int]] = {}
        """row -> what `_by_now` says of it, made of that table; no part of what a trial takes back"""

    # questions

    def concern(self, shape: PodShape) -> bool:
        """Does it matter to such a pod which devices are free?"""
        return bool(shape.share) or (self.shared and asked(shape) > 0)

    def of(self, holder: str) -> tuple[int, ...]:
        """The devices that the holder has; () where nobody knows, or it has none."""
        seat = self.seats.get(holder)
        return seat.devices if seat is not None and not seat.promised else ()

    def known(self, holder: str) -> tuple[int, ...]:
        """Those that it has and no others; () where that isn't known."""
        seat = self.seats.get(holder)
        return seat.devices if seat is not None and seat.fixed and not seat.promised else ()

    def free(self, rows: Any = slice(None)) -> tuple[Ints, Ints]:
        """(devices, rows): thousandths that are free of each device now, 0 of one that isn't there; and of each row, whole
        devices among them that pods of unknown devices have."""
        used, unknown, there = self._view(rows, later=False)
        return np.where(there, np.maximum(WHOLE - used, 0), 0), unknown

    def room(self, shape: PodShape, rows: Any = slice(None), *, later: bool = False) -> Ints:
        """How many such pods the devices of each of the rows take."""
        used, unknown, there = self._view(rows, later=later)
        opened = there & (used > 0)
        free = np.maximum(there.sum(axis=0) - opened.sum(axis=0) - unknown, 0)
        if not shape.share:
            whole: Ints = free // max(-(-asked(shape) // WHOLE), 1)
            return whole
        left = np.where(opened, np.maximum(WHOLE - used, 0) // shape.share, 0)
        answer: Ints = left.sum(axis=0) + free * (WHOLE // shape.share)
        return answer

    def takes(self, shape: PodShape, rows: Ints) -> NDArray[np.bool_]:
        """Whether the devices of each of the rows take one such pod."""
        self._refresh()
        if shape.share:
            takes: NDArray[np.bool_] = self._most[rows] >= shape.share
            return takes
        answer: NDArray[np.bool_] = self._empty[rows] >= max(-(-asked(shape) // WHOLE), 1)
        return answer

    def room_empty(self, shape: PodShape) -> Ints:
        """The same were nothing on the nodes."""
        there = self._count(slice(None))
        return there * (WHOLE // shape.share) if shape.share else there // max(-(-asked(shape) // WHOLE), 1)

    def goes(self, shape: PodShape, row: int, without: Iterable[Pod] = ()) -> bool:
        """Would such a pod fit on the row later, were these pods gone as well?"""
        if not self.concern(shape):
            return True
        gone = list(without)
        rows = np.array([row])
        used, _, there = self._view(rows, later=True)
        total = int(self._total(rows, later=True)[0]) - sum(asked(pod.shape) for pod in gone)
        for pod in gone:
            seat = self.seats.get(pod.uid)
            if seat is not None and seat.row == row:
                used[list(seat.devices), 0] -= seat.each
        unknown = max(-(-(total - int(used.sum())) // WHOLE), 0)
        return bool(self._choose(shape, np.where(there, used, -1)[:, 0].tolist(), unknown))

    def most_free(self, shape: PodShape, rows: Ints) -> int:
        """Of the rows, the most that a pod like this can have: of one device, or whole devices of one row, in thousandths."""
        free, unknown = self.free(rows)
        if shape.share:
            opened = np.where(free < WHOLE, free, 0).max(initial=0)
            return WHOLE if ((free == WHOLE).sum(axis=0) > unknown).any() else int(opened)
        return int(np.maximum((free == WHOLE).sum(axis=0) - unknown, 0).max(initial=0)) * WHOLE

    def choose(self, shape: PodShape, row: int, *, later: bool = False) -> tuple[int, ...]:
        """The devices for such a pod on the row; () where none will do, or it doesn't matter."""
        if not self.concern(shape):
            return ()
        used, unknown, there = self._of_row(row, later=later) if later else self._by_now(row)
        known = used[:there] + [-1] * (len(used) - there)
        return self._choose(shape, known, unknown if shape.share else 0)

    def fullness(self, row: int) -> tuple[Ints, int]:
        """Of one row: thousandths that are used of each device, and whole devices of which nobody knows which are."""
        used, unknown, _ = self._of_row(row, later=False)
        return np.array(used, dtype=np.int64), unknown

    def there(self, row: int) -> int:
        """How many devices the row has, of those that can be shared."""
        line = self._nodes.line_by_resource.get(GPU)
        return 0 if line is None else min(int(self._nodes.allocatable[line, row]) // WHOLE, AT_MOST)

    def over(self, row: int, *, later: bool = False) -> int:
        """How far the row's devices are over, all together."""
        return _over(*(self._of_row(row, later=True) if later else self._by_now(row)))

    # changes

    def share(self) -> None:
        """Somebody shares a device, or will: from now on it matters who has which."""
        if not self.shared:
            self._journal.swap(self, "shared", True)

    def stir(self, rows: Any) -> None:
        """Something of these rows changes, or is taken back; see Nodes.stir."""
        for row in (rows,) if type(rows) is int else np.arange(self._nodes.used.shape[1])[rows].ravel().tolist():
            self._stirred[row] = None
            self._rows.pop(row, None)

    def seat(
        self, holder: str, shape: PodShape, row: int, devices: Sequence[int] = (), *, promised: bool = False
    ) -> None:
        """The holder has its devices on the row: these where they are said and can be, else the rule's. Whole devices that nobody
        names stay unknown."""
        if not self.concern(shape) and not (devices and asked(shape)):
            return
        self.share()
        self._reach()
        each = shape.share or WHOLE
        wanted, there = 1 if shape.share else -(-asked(shape) // WHOLE), self.there(row)
        fixed = len(set(devices)) == wanted and 0 <= min(devices, default=0) <= max(devices, default=0) < there
        if not fixed:
            devices = self._laid(shape, row, later=promised) if shape.share else ()
        self.touched[row] = None
        if devices:
            self._add(holder, Seat(row, tuple(devices), each, fixed, promised))

    def unseat(self, holder: str) -> None:
        """It has none any more."""
        seat = self.seats.get(holder)
        if seat is not None:
            self.touched[seat.row] = None
            self._add(holder, seat, -1)

    def unseat_pod(self, pod: Pod) -> None:
        """The pod has none any more, leaving or not."""
        if pod.terminating:
            self.leave(pod.uid, -1)
        self.unseat(pod.uid)

    def leave(self, holder: str, times: int) -> None:
        """It is on its way out (-1: it stays after all)."""
        seat = self.seats.get(holder)
        if seat is not None:
            self._nodes.stir(seat.row)
            self._journal.add(self.releasing, (list(seat.devices), seat.row), seat.each * times)

    def fill(self, shape: PodShape, rows: Ints, pods: Ints) -> list[tuple[int, ...]]:
        """So many such pods, which count as used already, are on those rows, inside a trial that is taken back. Of each row the
        devices of one after the other; of whole ones that aren't there nobody knows which."""
        if not self.concern(shape):
            return [() for _ in rows]
        return [
            tuple(device for _ in range(count) for device in self._fill(shape, row))
            for row, count in zip(rows.tolist(), pods.tolist(), strict=True)
        ]

    def give(self, row: int, devices: Iterable[int], each: int) -> None:
        """Inside a trial that is taken back: so much more of each of these devices is used (negative: less)."""
        self._reach()
        self._nodes.stir(row)
        for device in devices:
            self._journal.add(self.used, (device, row), each)

    def gone(self, row: int) -> None:
        """Who is leaving the row has left, inside a trial that is taken back."""
        if row < self.used.shape[1]:
            self._nodes.stir(row)
            self._journal.add(self.used, (slice(None), row), -self.releasing[:, row])
            self._journal.write(self.releasing, (slice(None), row), 0)

    def vacate(self) -> None:
        """Nothing is on any node, inside a trial that is taken back."""
        for name in ("used", "releasing", "promised"):
            self._journal.swap(self, name, np.zeros_like(getattr(self, name)))

    def clear(self, row: int) -> None:
        """The row goes, and all who have something there have it no longer."""
        for holder in sorted(self._on_row.get(row, ())):
            self._add(holder, self.seats[holder], -1)
        if row < self.releasing.shape[1]:
            self._journal.write(self.releasing, (slice(None), row), 0)
        self._journal.drop(self.inherited, row)
        self.touched.pop(row, None)

    def meet(self, row: int) -> None:
        """The row's devices may be others now."""
        if (count := self.there(row)) > self._lines:
            self._journal.swap(self, "_lines", count)
        if self.shared:
            self.touched[row] = None

    def count(self, old: Pod | None, new: Pod | None) -> None:
        """What was known as the old pod is the new one now (None: nothing)."""
        if self.mix is None:
            return
        for pod, times in ((old, -1), (new, 1)):
            if pod is not None and not pod.finished:
                self._journal.put(self.mix, pod.shape, self.mix.get(pod.shape, 0) + times)

    def settle(self, *, inherit: bool) -> None:
        """The change is whole: what may move makes room for what is fixed. `inherit`: what is over then is so for causes outside
        of the engine."""
        for row in self.touched:
            now = self._by_now(row)
            if over := _over(*now):
                self._lay_out(row)
                over = self.over(row)
            elif self._as_of is self.used:
                self._see(row, *now)
            if inherit and over != self.inherited.get(row, 0):
                self._journal.put(self.inherited, row, over)
        self.touched.clear()

    # how

    def _choose(self, shape: PodShape, used: list[int], unknown: int) -> tuple[int, ...]:
        """`used`: of each device, -1 of one that isn't there."""
        empty = [d for d, amount in enumerate(used) if amount == 0]
        if not shape.share:
            count = -(-asked(shape) // WHOLE)
            return tuple(empty[:count]) if len(empty) - unknown >= count else ()
        fitting = [(-amount, d) for d, amount in enumerate(used) if 0 < amount <= WHOLE - shape.share]
        if fitting:
            return (min(fitting)[1],)
        return (empty[0],) if len(empty) > unknown else ()

    def _laid(self, shape: PodShape, row: int, *, later: bool = False) -> tuple[int, ...]:
        """Where a share is thought of: the rule's device, and where none has so much, the one with the most."""
        found = self.choose(shape, row, later=later)
        if found or not self.there(row):
            return found
        used, _, there = self._of_row(row, later=later)
        return (used.index(min(used[:there])),)

    def _fill(self, shape: PodShape, row: int) -> tuple[int, ...]:
        """One more pod is where it is thought of; the next one is to see it there."""
        self._reach()
        devices = self._laid(shape, row) if shape.share else self.choose(shape, row)
        self.give(row, devices, shape.share or WHOLE)
        return devices

    def _lay_out(self, row: int) -> None:
        """All that may move is laid out anew: the largest first, then by holder."""
        moving = [(h, self.seats[h]) for h in self._on_row.get(row, ()) if not self.seats[h].fixed]
        moving = [(h, seat) for h, seat in moving if not seat.promised and not self.releasing[seat.devices[0], row]]
        for holder, seat in moving:
            self._add(holder, seat, -1)
        for holder, seat in sorted(moving, key=lambda one: (-one[1].each, one[0])):
            devices = self._laid(PodShape((), share=seat.each), row)
            self._add(holder, seat._replace(devices=devices or seat.devices))

    def _add(self, holder: str, seat: Seat, times: int = 1) -> None:
        array = self.promised if seat.promised else self.used
        self._nodes.stir(seat.row)
        devices = seat.devices[0] if len(seat.devices) == 1 else list(seat.devices)  # one alone: much the quicker
        self._journal.add(array, (devices, seat.row), seat.each * times)
        if times > 0:
            self._journal.put(self.seats, holder, seat)
            if seat.row not in self._on_row:
                self._journal.put(self._on_row, seat.row, {})
            self._journal.put(self._on_row[seat.row], holder, None)
            return
        self._journal.drop(self.seats, holder)
        self._journal.drop(self._on_row[seat.row], holder)
        if not self._on_row[seat.row]:
            self._journal.drop(self._on_row, seat.row)

    def _view(self, rows: Any, *, later: bool) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """(devices, rows) what is used of each; of each row the unknown; (devices, rows) which are there."""
        self._reach()
        used = self.used[:, rows]
        used = used - self.releasing[:, rows] + self.promised[:, rows] if later else used.copy()
        total = self._total(rows, later=later)
        unknown = np.maximum(-((np.add.reduce(used) - total) // WHOLE), 0)
        there = np.arange(used.shape[0])[:, None] < self._count(rows)
        return used, unknown, there

    def _refresh(self) -> None:
        """Makes `_empty` and `_most` as of now."""
        self._reach()
        if self._as_of is not self.used:
            used, unknown, there = self._view(slice(None), later=False)
            self._empty = np.add.reduce(there & (used == 0)) - unknown
            opened = np.max(np.where(there & (used > 0), WHOLE - used, 0), axis=0, initial=0)
            self._most = np.where(self._empty > 0, WHOLE, opened)
            self._as_of, self.is_watched = self.used, True
        else:
            for row in [row for row in self._stirred if row < self.used.shape[1]]:  # others went with a trial
                self._see(row, *self._by_now(row))
        self._stirred.clear()

    def _see(self, row: int, used: list[int], unknown: int, there: int) -> None:
        """What a row has free is this, by now."""
        self._stirred.pop(row, None)
        empty = used[:there].count(0) - unknown
        self._empty[row] = empty
        self._most[row] = WHOLE if empty > 0 else WHOLE - min(filter(None, used[:there]), default=WHOLE)

    def _by_now(self, row: int) -> tuple[list[int], int, int]:
        """`_of_row` as of now, not to be changed."""
        self._reach()
        if self._rows_of is not self.used:
            self._rows.clear()
            self._rows_of, self.is_watched = self.used, True
        kept = self._rows.get(row)
        if kept is None:
            kept = self._rows[row] = self._of_row(row, later=False)
        return kept

    def _of_row(self, row: int, *, later: bool) -> tuple[list[int], int, int]:
        """The same of one row, where lists are quicker than arrays; the devices that are there come first, so many are they."""
        self._reach()
        nodes, line = self._nodes, self._nodes.line_by_resource.get(GPU)
        used: list[int] = self.used[:, row].tolist()
        total = 0 if line is None else int(nodes.used[line, row])
        if later:
            left, kept = self.releasing[:, row].tolist(), self.promised[:, row].tolist()
            used = [amount - less + more for amount, less, more in zip(used, left, kept, strict=True)]
            if line is not None:
                total += int(nodes.pipelined[line, row]) - int(nodes.releasing[line, row])
        return used, max(-(-(total - sum(used)) // WHOLE), 0), min(self.there(row), len(used))

    def _total(self, rows: Any, *, later: bool) -> Ints:
        nodes, line = self._nodes, self._nodes.line_by_resource.get(GPU)
        if line is None:
            return _nothing(nodes.used.shape[1], rows)
        total: Ints = nodes.seen_later(line)[rows] if later else nodes.used[line][rows]
        return total

    def _count(self, rows: Any) -> Ints:
        """`there` of each row."""
        line = self._nodes.line_by_resource.get(GPU)
        if line is None:
            return _nothing(self._nodes.used.shape[1], rows)
        count: Ints = np.minimum(self._nodes.allocatable[line][rows] // WHOLE, AT_MOST)
        return count

    def _reach(self) -> None:
        """The arrays reach over all rows and devices."""
        shape = (self._lines, self._nodes.used.shape[1])
        if self.used.shape == shape:
            return
        for name in ("used", "releasing", "promised"):
            old: Ints = getattr(self, name)
            grown = np.zeros(shape, dtype=np.int64)
            grown[: old.shape[0], : old.shape[1]] = old
            self._journal.swap(self, name, grown)


def _over(used: list[int], unknown: int, there: int) -> int:
    """How far a row's devices are over: see Devices._of_row."""
    past = sum(used[there:]) if there < len(used) else 0
    if used and max(used) > WHOLE:
        past += sum(amount - WHOLE for amount in used[:there] if amount > WHOLE)
    return past + max(unknown - used[:there].count(0), 0) * WHOLE if unknown else past


def _nothing(size: int, rows: Any) -> Ints:
    nothing: Ints = np.zeros(size, dtype=np.int64)[rows]
    return nothing
