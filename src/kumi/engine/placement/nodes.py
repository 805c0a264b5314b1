"""Nodes: the table of what each node has, what is used of it, and which shapes may go there.

The rule:
    room(n, r)    = allocatable(n, r) - used(n, r)
    fits(n, s)    = min over what s asks for of room(n, r) // s(r), at least 0; 0 where the node doesn't take the shape
    used(n, r)    = pods that sit on the node, and places that are reserved there and not taken yet (../reservations.py)
Pods count    every pod uses one of the resource `pods`; a node that doesn't say how many it takes takes any number.
Unasked       a resource that the shape doesn't ask for is not looked at, so one that is over-used elsewhere never blocks.
Why           resource-major arrays: a gang of equal pods is one operation over all nodes.
Order and ties  by name (`by_name`), whatever the order in which nodes came.
Caches        label columns and masks hold for one `stamp`; a stamp stands for one content of the static side (labels,
              taints, readiness) and is never used twice, also where a trial is taken back. `changed` counts upwards; a row
              carries the count of the last change that gave it room, so who waits looks at those rows alone.
Versions      a row's version is a number that is never used twice for anything that what it has, is used or promised may be made
              of, also where a trial is taken back: who keeps something of rows looks at `versions` above what it saw.
Units         int64, base units.
Cost          O(resources asked x nodes) for fits; O(resources) for a pod that comes or goes.
Source        Kubernetes: allocatable of nodes.
Not here      which nodes take a shape: plugins/predicates.py; which is best: plugins/binpack.py, plugins/nodeorder.py; single
              devices: devices.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from operator import gt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.engine.journal import Journal
from kumi.engine.model import Node, NodeUsage, NumaTopology, Pod, PodShape, VolumeClaim, VolumeLimits
from kumi.engine.placement.devices import Devices
from kumi.engine.placement.residents import Residents
from kumi.engine.placement.volume_claims import VolumeClaims

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Scores: TypeAlias = NDArray[np.float64]
Requests: TypeAlias = tuple[tuple[str, int], ...]
Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""(line, amount)"""

PODS = "pods"
ONE_POD = 1000
NOWHERE = -1
HAS_AT_MOST = 2**53
ASKS_AT_MOST = 2**54
"""amounts are cut there, so that sums over the pods of a node stay in int64 and what asks for too much never fits"""
_FIRST_ROWS = 8


class _Wanted(NamedTuple):
    """What requests are as of that table: line by line, and the same as columns, of which `starts` are the lines' places in the
    table were it flat. `is_known`: nodes have had all of it."""

    stamp: int
    pairs: Pairs
    starts: Ints
    amounts: Ints
    is_known: bool


class Nodes:
    """Rows by node, resources by line. Rows are reused; a row without a node is never feasible."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stamps = count(1)
        self._columns: dict[str, tuple[int, Ints, dict[str, int]]] = {}
        self._cache: dict[Any, tuple[int, Any]] = {}
        self._asked: dict[Requests, _Wanted] = {}
        self.node_by_name: dict[str, Node] = {}
        self.volume_claims = VolumeClaims(journal)
        self.row_by_name: dict[str, int] = {}
        self.line_by_resource: dict[str, int] = {PODS: 0}
        self.allocatable: Ints = np.zeros((1, _FIRST_ROWS), dtype=np.int64)
        self.used: Ints = np.zeros((1, _FIRST_ROWS), dtype=np.int64)
        self.releasing: Ints = np.zeros((1, _FIRST_ROWS), dtype=np.int64)
        """what of `used` is on its way out: it may be promised, and not used yet"""
        self.pipelined: Ints = np.zeros((1, _FIRST_ROWS), dtype=np.int64)
        """what is promised of it"""
        self.evicted: Ints = np.zeros((1, _FIRST_ROWS), dtype=np.int64)
        """what of `releasing` is so by this session: rules that look at pods don't see it any more"""
        self._moves = False
        """was anything ever promised, evicted, or leaving? Where not, what rules see is what is used"""
        self.inherited: Ints = np.zeros((1, _FIRST_ROWS), dtype=np.int64)
        """how far `used` is past `allocatable` for causes outside of the engine: what invariants.py lets pass"""
        self._inheriting: dict[int, None] = {}
        """the rows that are"""
        self.gained: Ints = np.zeros(_FIRST_ROWS, dtype=np.int64)
        """the value of `changed` when the row last gained room, labels, readiness"""
        self.versions: Ints = np.zeros(_FIRST_ROWS, dtype=np.int64)
        """what `version` was when anything of the row last changed, or was taken back: no part of what a trial takes back"""
        self.version = 0
        self.free_rows: list[int] = list(range(_FIRST_ROWS))
        self.changed = 0
        self.stamp = 0
        self.size_stamp = 0
        """of what nodes have in all (allocatable), as `stamp`: which shapes they take doesn't follow from it"""
        self.table_stamp = 0
        """of the arrays: trials and new resources put others in their place, which no row's version tells of"""
        self.image_stamp = 0
        """of what images nodes have, as `stamp`: they change often, and masks don't ask for them"""
        self.touched: dict[int, list[int]] = {}
        """rows that are being changed -> the room that they had before"""
        self.residents = Residents(journal, self)
        self.devices = Devices(journal, self)
        self.usage: dict[str, NodeUsage] = {}
        self.numa: dict[str, NumaTopology] = {}
        self.volume_limits: dict[str, VolumeLimits] = {}
        self.limit_stamp = 0
        """of these, as `stamp`"""

    def put(self, node: Node) -> bool:
        """There is such a node, or it changed. True where its row is new: its `used` is then zero and the caller fills it."""
        known = self.row_by_name.get(node.name)
        row = self._new_row(node.name) if known is None else known
        self.touch(row)
        lines = [self.line(resource) for resource, _ in node.allocatable]
        amounts = np.zeros(len(self.line_by_resource), dtype=np.int64)
        amounts[0] = HAS_AT_MOST
        for line, (_, amount) in zip(lines, node.allocatable, strict=True):
            amounts[line] = min(amount, HAS_AT_MOST)
        self.stir(row)
        self._journal.write(self.allocatable, (slice(None), row), amounts)
        self.devices.meet(row)
        before = self.node_by_name.get(node.name)
        self._journal.put(self.node_by_name, node.name, node)
        if (before.images if before is not None else ()) != node.images:
            self._journal.swap(self, "image_stamp", next(self._stamps))
        if before is None or before.allocatable != node.allocatable:
            self._journal.swap(self, "size_stamp", next(self._stamps))
        if before is None or _static(before) != _static(node):
            self._journal.swap(self, "stamp", next(self._stamps))
            self._gain(row)
        return known is None

    def remove(self, name: str) -> None:
        """The node is gone, and with it what was used of it. A domain that had too few pods, or one that kept others away, may
        be gone with it: that is news for the other nodes."""
        row = self.row_by_name.get(name)
        if row is None:
            return
        self._journal.drop_all(name, self.row_by_name, self.node_by_name)
        self.touched.pop(row, None)
        self.devices.clear(row)
        self.stir(row)
        for array in _ARRAYS:
            self._journal.write(getattr(self, array), (slice(None), row), 0)
        self._journal.drop(self._inheriting, row)
        self._journal.insert(self.free_rows, row)
        self._journal.swap(self, "stamp", next(self._stamps))
        self.gain_all()

    def use(self, name: str, requests: Requests, pods: int) -> None:
        """So many more pods with these requests are on the node (negative: fewer). A node that isn't there is passed over."""
        row = self.row_by_name.get(name)
        if row is None or not pods:
            return
        self.touch(row)
        self.stir(row)
        wanted = self._wanted(requests)
        if not wanted.is_known:
            for resource, _ in requests:
                self.line(resource)  # first: it may replace the array
            wanted = self._wanted(requests)
        for line, amount in wanted.pairs:
            self._journal.add(self.used, (line, row), amount * pods)

    def use_rows(self, rows: Ints, requests: Requests, pods: Ints) -> None:
        """The same for many different rows at once, inside a trial that is taken back, or where rows lose room: nothing is marked
        as gained."""
        self.stir(rows)
        for line, amount in self.asked(requests):
            self._journal.add(self.used, (line, rows), amount * pods)

    def line(self, resource: str) -> int:
        """The resource's line in the arrays; made where there is none."""
        known = self.line_by_resource.get(resource)
        if known is not None:
            return known
        line = len(self.line_by_resource)
        self._journal.put(self.line_by_resource, resource, line)
        self._journal.swap(self, "table_stamp", next(self._stamps))
        for name in _ARRAYS:
            old: Ints = getattr(self, name)
            self._journal.swap(self, name, np.vstack([old, np.zeros((1, old.shape[1]), dtype=np.int64)]))
        return line

    def asked(self, requests: Requests) -> Pairs:
        """(line, amount) of the pod itself and of each resource that is asked for, in the order of the requests; the line
        of a resource that no node has ever had is NOWHERE."""
        return self._wanted(requests).pairs

    def _wanted(self, requests: Requests) -> _Wanted:
        """The same, kept while the lines are what they are."""
        kept = self._asked.get(requests)
        if kept is None or kept.stamp != self.table_stamp:
            pairs = [(0, ONE_POD)]
            for resource, amount in requests:
                if amount > 0 and resource != PODS:
                    pairs.append((self.line_by_resource.get(resource, NOWHERE), min(amount, ASKS_AT_MOST)))
            lines, amounts = np.array(pairs, dtype=np.int64).T[:, :, None]
            starts = lines * self.used.shape[1]
            if len(self._asked) > _CACHED_AT_MOST:
                self._asked.clear()
            kept = _Wanted(self.table_stamp, tuple(pairs), starts, amounts, bool((lines != NOWHERE).all()))
            self._asked[requests] = kept
        return kept

    def release(self, name: str, requests: Requests, pods: int) -> None:
        """So many more of the pods that use the node are on their way out (negative: fewer)."""
        self._mark(self.releasing, name, requests, pods)

    def evict(self, name: str, requests: Requests, pods: int) -> None:
        """So many more pods are on their way out by this session's doing (negative: fewer)."""
        self._mark(self.releasing, name, requests, pods)
        self._mark(self.evicted, name, requests, pods)

    def seen(self, line: Any, rows: Any = slice(None)) -> Ints:
        """Of each of the rows, on one line or each of a column of lines, what the pods ask for that rules see there: those that
        use it or are promised it, and aren't evicted."""
        seen: Ints = self.used[line, rows]
        return seen + self.pipelined[line, rows] - self.evicted[line, rows] if self._moves else seen

    def seen_later(self, line: int) -> Ints:
        """Of each row, what will be used once those have left who are leaving, and those have come who were promised a place."""
        later: Ints = self.used[line] - self.releasing[line] + self.pipelined[line]
        return later

    def room_later(self, line: int, row: int) -> int:
        """Of one node, what will be free of one resource then."""
        later = int(self.used[line, row]) - int(self.releasing[line, row]) + int(self.pipelined[line, row])
        return int(self.allocatable[line, row]) - later

    def pipeline(self, name: str, requests: Requests, pods: int) -> None:
        """So many more pods are promised a place there that others are leaving (negative: fewer)."""
        self._mark(self.pipelined, name, requests, pods)

    def pipeline_rows(self, rows: int | Ints, requests: Requests, pods: int | Ints) -> None:
        """The same on a row, or on each of many different rows so many."""
        self._moves = True
        self.stir(rows)
        for line, amount in self.asked(requests):
            if line != NOWHERE:
                self._journal.add(self.pipelined, (line, rows), amount * pods)

    def _mark(self, array: Ints, name: str, requests: Requests, pods: int) -> None:
        row = self.row_by_name.get(name)
        if row is None:
            return
        self._moves = True
        self.stir(row)
        for line, amount in self.asked(requests):
            if line != NOWHERE:
                self._journal.add(array, (line, row), amount * pods)

    def future(self, requests: Requests, mask: Mask) -> Ints:
        """How many pods with these requests each row takes once what is on its way out is gone and what is promised is taken; 0
        outside of the mask."""
        return self._whole_pods(requests, mask, self.seen_later, slice(None))

    def room(self, line: int, row: int) -> int:
        """What is free of one resource on one node; negative where more is used than there is."""
        return int(self.allocatable[line, row]) - int(self.used[line, row])

    def fits(self, requests: Requests, mask: Mask, rows: Any = slice(None)) -> Ints:
        """How many pods with these requests each of the rows can still take; 0 outside of the mask (one a row of `rows`)."""
        return self._whole_pods(requests, mask, self.used.__getitem__, rows)

    def has(self, requests: Requests, rows: Ints) -> Mask:
        """Which of the rows have that much left of each resource."""
        _, _, starts, amounts, is_known = self._wanted(requests)
        if not is_known:
            return np.zeros(rows.size, dtype=np.bool_)
        at = starts + rows  # of few rows this is quicker than to ask for lines and rows
        has: Mask = np.logical_and.reduce(self.allocatable.take(at) - self.used.take(at) >= amounts)
        return has

    def takes(self, shape: PodShape, rows: Ints) -> Mask:
        """Which of the rows have room for one more pod of the shape, single devices included."""
        has = self.has(shape.requests, rows)
        return has & self.devices.takes(shape, rows) if self.devices.concern(shape) else has

    def largest(self, line: int) -> int:
        """The most of one resource that a node has."""
        key = ("largest", line, self.size_stamp)
        made: int = self.cached(key, lambda: int(self.allocatable[line].max(initial=0)))
        return made

    def fits_empty(self, requests: Requests, mask: Mask) -> Ints:
        """The same were nothing on the nodes."""
        nothing = np.zeros(self.used.shape[1], dtype=np.int64)
        return self._whole_pods(requests, mask, lambda line: nothing, slice(None))

    def places(self, shape: PodShape, mask: Mask, rows: Any = slice(None)) -> Ints:
        """How many pods of the shape each of the rows can still take, single devices included; 0 outside of the mask."""
        fits = self.fits(shape.requests, mask, rows)
        return np.minimum(fits, self.devices.room(shape, rows)) if self.devices.concern(shape) else fits

    def places_later(self, shape: PodShape, mask: Mask) -> Ints:
        """The same once what is on its way out is gone and what is promised is taken."""
        fits = self.future(shape.requests, mask)
        return np.minimum(fits, self.devices.room(shape, later=True)) if self.devices.concern(shape) else fits

    def places_empty(self, shape: PodShape, mask: Mask) -> Ints:
        """The same were nothing on the nodes."""
        fits = self.fits_empty(shape.requests, mask)
        return np.minimum(fits, self.devices.room_empty(shape)) if self.devices.concern(shape) else fits

    def vacate(self) -> None:
        """Nothing is on any node, inside a trial that is taken back."""
        self._journal.swap(self, "table_stamp", next(self._stamps))
        self._journal.swap(self, "used", np.zeros_like(self.used))
        self.devices.vacate()

    def by_name(self) -> Ints:
        """The rows that have a node, in the order of the nodes' names."""
        made: Ints = self.cached(
            "by_name", lambda: np.array([self.row_by_name[n] for n in self.names()], dtype=np.int64)
        )
        return made

    def names(self) -> list[str]:
        """The nodes' names, in order."""
        made: list[str] = self.cached("names", lambda: sorted(self.row_by_name))
        return made

    def name_by_row(self) -> dict[int, str]:
        """The node of each row that has one."""
        made: dict[int, str] = self.cached("name_by_row", lambda: {r: n for n, r in self.row_by_name.items()})
        return made

    def allocatable_of(self, name: str, resource: str) -> int:
        """What the node has of it; 0 where there is no such node."""
        row, line = self.row_by_name.get(name), self.line_by_resource.get(resource)
        return int(self.allocatable[line, row]) if row is not None and line is not None else 0

    def taking(self, name: str) -> bool:
        """Is this node there, and ready? Whether it is cordoned is the shape's affair (plugins/predicates.py)."""
        node = self.node_by_name.get(name)
        return node is not None and node.ready

    def column(self, key: str) -> tuple[Ints, dict[str, int]]:
        """Of a label's key: the code of each row's value (0: absent, or no node), and the codes by value."""
        cached = self._columns.get(key)
        if cached is None or cached[0] != self.stamp:
            codes = np.zeros(self.used.shape[1], dtype=np.int64)
            code_by_value: dict[str, int] = {}
            for name in self.names():
                value = dict(self.node_by_name[name].labels).get(key)
                if value is not None:
                    codes[self.row_by_name[name]] = code_by_value.setdefault(value, len(code_by_value) + 1)
            cached = (self.stamp, codes, code_by_value)
            self._columns[key] = cached
        return cached[1], cached[2]

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, kept under `key` while no node's static side changes."""
        kept = self._cache.get(key)
        if kept is None or kept[0] != self.stamp:
            if len(self._cache) > _CACHED_AT_MOST:
                self._cache.clear()
            kept = (self.stamp, make())
            self._cache[key] = kept
        return kept[1]

    def put_claim(self, claim: VolumeClaim) -> None:
        """There is such a claim, or it changed: every node may be one now for the pods that name it."""
        if self.volume_claims.put(claim):
            self.gain_all()

    def resettle(self, old: Pod | None, was: str, new: Pod | None, node: str) -> None:
        """What was known as `old`, on the node `was`, is `new` now, on `node` (None: nothing; "": nowhere). Where somebody looks
        at such pods, the nodes have changed for who waits."""
        if self.residents.move(old, was, new, node):
            self.gain(was)
            self.gain(node)

    def put_fact(self, fact: NodeUsage | NumaTopology | VolumeLimits) -> bool:
        """What else is known of a node, which need not be there. True where it is news."""
        table = self._facts(type(fact))
        if table.get(fact.node) == fact:
            return False
        self._journal.put(table, fact.node, fact)
        if isinstance(fact, VolumeLimits):
            self._limited(fact.node)
        return True

    def drop_fact(self, type_: type, node: str) -> None:
        """It isn't known any more."""
        self._journal.drop(self._facts(type_), node)
        if type_ is VolumeLimits:
            self._limited(node)

    def _limited(self, node: str) -> None:
        self._journal.swap(self, "limit_stamp", next(self._stamps))
        self.gain(node)

    def _facts(self, type_: type) -> dict[str, Any]:
        if type_ is VolumeLimits:
            return self.volume_limits
        return self.usage if type_ is NodeUsage else self.numa

    def stir(self, rows: Any) -> None:
        """Something of these rows changes. To be told by whoever changes amounts, or anything else that is kept by row and that
        room or scores are made of."""
        self._journal.tell(self._stirred, rows)

    def _stirred(self, rows: Any) -> None:
        self.version += 1
        self.versions[rows] = self.version
        if self.devices.is_watched:
            self.devices.stir(rows)

    def stirred_since(self, version: int) -> Ints:
        """The rows of which something changed after that version. `versions` may be longer than the table: a trial that is taken
        back takes its rows along."""
        return (self.versions[: self.used.shape[1]] > version).nonzero()[0]

    def gained_since(self, count: int) -> Ints:
        """The rows that gained something after `changed` was `count`."""
        return (self.gained > count).nonzero()[0] if self.changed > count else _NO_ROWS

    def gain(self, name: str) -> None:
        """The node has more to give than others were told."""
        row = self.row_by_name.get(name)
        if row is not None:
            self._gain(row)

    def gain_all(self) -> None:
        """Something changed that is no node's own, and for which any of them may take whom it didn't."""
        self._journal.swap(self, "changed", self.changed + 1)
        self._journal.write(self.gained, self.by_name(), self.changed)

    def inherit(self) -> None:
        """The change is whole, and came from outside of the engine: as `notice`; and what is past allocatable now, of the rows
        touched, is so for causes out there."""
        for row, before in self.touched.items():
            free = self.free_of(row)
            if min(free) < 0 or row in self._inheriting:
                self._inherit(row, [max(-room, 0) for room in free])
            self._notice(row, before, free)
        self.touched.clear()
        if self.devices.touched:
            self.devices.settle(inherit=True)

    def _inherit(self, row: int, over: list[int]) -> None:
        self._journal.write(self.inherited, (slice(None), row), over)
        if any(over):
            self._journal.put(self._inheriting, row, None)
        else:
            self._journal.drop(self._inheriting, row)

    def notice(self) -> None:
        """The change is whole: of the rows touched, those that have more room than before have gained something. A pod that
        takes the place that was kept for it gains nothing."""
        for row, before in self.touched.items():
            self._notice(row, before, self.free_of(row))
        self.touched.clear()
        if self.devices.touched:
            self.devices.settle(inherit=False)

    def _notice(self, row: int, before: list[int], free: list[int]) -> None:
        grew = len(free) > len(before) and max(free[len(before) :]) > 0
        if grew or any(map(gt, free, before)):
            self._gain(row)

    def is_in_motion(self) -> bool:
        """Is anything on its way out, or promised? Whatever is counts as a pod as well."""
        return bool(self.releasing[0].any() or self.pipelined[0].any())

    def _whole_pods(self, requests: Requests, mask: Mask, used: Callable[[int], Ints], rows: Any) -> Ints:
        """`used`: what is used of a line."""
        asked = self.asked(requests)
        if any(line == NOWHERE for line, _ in asked):
            return np.zeros(mask[rows].shape, dtype=np.int64)
        fits = np.full(mask[rows].shape, HAS_AT_MOST, dtype=np.int64)
        for line, amount in asked:
            np.minimum(fits, (self.allocatable[line][rows] - used(line)[rows]) // amount, out=fits)
        np.maximum(fits, 0, out=fits)
        fits *= mask[rows]
        return fits

    def touch(self, row: int) -> None:
        """Something of the row's room changes: what it has now is what counts when the change is whole (`notice`)."""
        if row not in self.touched:
            self.touched[row] = self.free_of(row)

    def free_of(self, row: int) -> list[int]:
        """What is free of each line on one row: a list, which is quicker than an array there."""
        free: list[int] = (self.allocatable[:, row] - self.used[:, row]).tolist()
        return free

    def _gain(self, row: int) -> None:
        self._journal.swap(self, "changed", self.changed + 1)
        self._journal.write(self.gained, row, self.changed)

    def _new_row(self, name: str) -> int:
        if not self.free_rows:
            self._grow()
        row = self.free_rows[0]
        self._journal.discard(self.free_rows, row)
        self._journal.put(self.row_by_name, name, row)
        return row

    def _grow(self) -> None:
        old = self.used.shape[1]
        for name in _ARRAYS:
            array: Ints = getattr(self, name)
            self._journal.swap(self, name, np.hstack([array, np.zeros_like(array)]))
        self._journal.swap(self, "table_stamp", next(self._stamps))
        self._journal.swap(self, "gained", np.concatenate([self.gained, np.zeros_like(self.gained)]))
        if self.versions.size < 2 * old:
            self.versions = np.concatenate([self.versions, np.zeros(2 * old - self.versions.size, dtype=np.int64)])
        for row in range(old, 2 * old):
            self._journal.insert(self.free_rows, row)


_CACHED_AT_MOST = 8192
_NO_ROWS: Ints = np.zeros(0, dtype=np.int64)
_ARRAYS = ("allocatable", "used", "releasing", "pipelined", "evicted", "inherited")


def _static(node: Node) -> tuple[object, ...]:
    return (node.labels, node.taints, node.unschedulable, node.ready)
