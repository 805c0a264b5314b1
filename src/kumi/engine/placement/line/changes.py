"""Changes: what more or less is used of which nodes, and when, as far as that is known.

    ends     of pods on nodes, by parties (../../ends.py); who is leaving anyway isn't in it
    own      of what is kept for who waits, and of what was started in this look
A change is of one time and of pods of one shape, on any number of rows: what a gang of a thousand pods takes, or leaves, is one.
In order  at one time ends come first; then by key, and of one key pods on nodes before its own. A key has its own until it
          leaves.
On rows   what some rows get or lose: changes of few rows are kept by row, those of many are looked through, once for all rows.
Cost      O(1) a party that somebody looked at before and that is as it was; O(log n + rows) a change that comes or goes; on rows,
          O(what changes there), and for changes of many rows an array operation each.
Not here  what follows for the nodes: timeline.py; all rows at once: outlook.py.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import merge
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from kumi.engine.ends import Party
from kumi.engine.model import Pod, PodShape
from kumi.engine.placement.line.asking import Places, Taken
from kumi.engine.placement.nodes import Ints, Nodes
from kumi.engine.pods import Pods

FEW = 8
"""so many rows are looked at one by one: arrays of all nodes cost more to make"""


class Change(NamedTuple):
    """From `at_ms` on so many `more` pods are on each of the rows, all of which differ (negative: fewer). `key`: whose. Of pods
    that run: `like` is one of them, `pods` are all of them where it matters which (devices)."""

    at_ms: int
    begins: bool
    key: str
    number: int
    shape: PodShape
    rows: Ints
    more: Ints
    like: Pod | None = None
    pods: tuple[Pod, ...] = ()


class Step(NamedTuple):
    """What a change does on one row."""

    at_ms: int
    begins: bool
    key: str
    number: int
    shape: PodShape
    more: int
    pods: tuple[Pod, ...] = ()
    """as Change has them"""


_Turn = tuple[int, bool, str, int]
_Block = tuple[Pod, Ints, Ints, tuple[Pod, ...]]
"""of pods that run and are alike: one of them, their rows, how many on each, and all where it matters"""


def turn(change: Change) -> _Turn:
    """Their order; unique among the ends of pods on nodes, and among what is kept and was started."""
    return change[:4]


def when(change: Change) -> int:
    """For searches."""
    return change.at_ms


class Changes:
    """See the module; made in one look, for it. `gone`: the pods, by uid, that are leaving though the table of pods doesn't say
    so."""

    def __init__(self, nodes: Nodes, pods: Pods, now_ms: int, gone: Callable[[], Collection[str]]) -> None:
        self._nodes, self._pods, self._now_ms = nodes, pods, now_ms
        self._ask_gone = gone
        self._leaving: Collection[str] | None = None
        self._of: dict[str, list[Change]] = {}
        self._own: list[Change] = []
        """all of these, in order"""
        self._wide: list[Change] = []
        """those of many rows"""
        self._counts: dict[int, tuple[Places, list[tuple[PodShape, Ints, Ints]]]] = {}
        """by the id of places: these, and what they come to"""
        self._own_on: dict[int, list[Step]] = {}
        """what the others do, by row"""
        self._kept: list[Change] = []
        """those by which something that is kept begins"""
        self._ends: list[Change] | None = None
        """as far as anybody looked; `_later`: the rest"""
        self._later: Iterator[Change] = iter(())
        self._ends_on: dict[int, tuple[int, list[Step]]] = {}
        """row -> how many pods there were, and how they end"""

    # what comes and goes

    def of_places(self, key: str, places: Places, at_ms: int, times: int) -> list[Change]:
        """That these places are taken from then on (-1: are free); nothing where one of the nodes isn't there."""
        if id(places) not in self._counts:
            self._counts[id(places)] = (places, self._counted(places))
        _, taken = self._counts[id(places)]
        return [
            Change(at_ms, times > 0, key, n, shape, rows, more * times) for n, (shape, rows, more) in enumerate(taken)
        ]

    def _counted(self, places: Places) -> list[tuple[PodShape, Ints, Ints]]:
        """By shape the rows, and how many such pods on each."""
        rows = self._nodes.row_by_name
        if any(node not in rows for node, _, _ in places):
            return []
        counts: dict[int, tuple[PodShape, dict[int, int]]] = {}
        for node, shape, more in places:
            on = counts.setdefault(id(shape), (shape, {}))[1]
            on[rows[node]] = on.get(rows[node], 0) + more
        return [(shape, np.array(list(on)), np.array(list(on.values()))) for shape, on in counts.values()]

    def of_taken(self, key: str, taken: Taken, at_ms: int) -> list[Change]:
        """That these pods end then."""
        rows = self._nodes.row_by_name
        return self._of_blocks(at_ms, key, self._blocks([(rows[node], pod) for node, pod in taken]))

    def enter(self, key: str, changes: list[Change], kept: Sequence[Change] = ()) -> None:
        """The key has these. `kept`: those of them by which something begins that raises nodes for others."""
        self._of[key] = changes
        for change in changes:
            insort(self._own, change, key=turn)
            if change.rows.size > FEW:
                insort(self._wide, change, key=turn)
            else:
                for row, step in steps_of(change):
                    insort(self._own_on.setdefault(row, []), step, key=_turn_of_step)
        for change in kept:
            insort(self._kept, change, key=turn)

    def leave(self, key: str) -> list[Change]:
        """The key has none any more; those that it had."""
        changes = self._of.pop(key, [])
        for change in changes:
            _take_out(self._own, change)
            if change.begins:
                _take_out(self._kept, change)
            if change.rows.size > FEW:
                _take_out(self._wide, change)
            else:
                for row, step in steps_of(change):
                    on = self._own_on[row]
                    del on[bisect_left(on, step[:4], key=_turn_of_step)]
        return changes

    def look_again(self) -> None:
        """Pods have come to nodes."""
        self._ends = None

    # what is asked

    def in_order(self) -> Iterator[Change]:
        """All that changes from now on, in the order of time."""
        return merge(self._ending(), self._own, key=turn)

    def everything(self) -> list[Change]:
        """The same, in any order."""
        return [*self._all_ends(), *self._own]

    def at(self, at_ms: int) -> Iterator[Change]:
        """What changes then."""
        for line in (self._all_ends(), self._own):
            yield from line[bisect_left(line, at_ms, key=when) : bisect_left(line, at_ms + 1, key=when)]

    def beginning(self, after_ms: int, until_ms: int) -> dict[int, None]:
        """The rows on which something that is kept begins in (after, until)."""
        first, last = (bisect_left(self._kept, ms, key=when) for ms in (after_ms + 1, until_ms))
        return dict.fromkeys(chain.from_iterable(change.rows.tolist() for change in self._kept[first:last]))

    def on_rows(self, rows: Sequence[int], after_ms: int, until_ms: int) -> dict[int, list[Step]]:
        """What changes on each of the rows in (after, until), in the order of time."""
        if not rows:
            return {}
        first, last = (bisect_left(self._wide, ms, key=when) for ms in (after_ms + 1, until_ms))
        wide: dict[int, list[Step]] = {row: [] for row in rows}
        asked = np.zeros(self._nodes.used.shape[1], dtype=np.bool_)
        asked[rows] = True
        for change in self._wide[first:last]:
            for row, step in steps_of(change, np.flatnonzero(asked[change.rows])):
                wide[row].append(step)
        return {row: self._on_row(row, after_ms, until_ms, wide[row]) for row in rows}

    def _on_row(self, row: int, after_ms: int, until_ms: int, wide: list[Step]) -> list[Step]:
        """`wide`: what changes of many rows do."""
        own = [
            line[bisect_left(line, (after_ms + 1,)) : bisect_left(line, (until_ms,))]
            for line in (self._ends_of(row), self._own_on.get(row, []))
        ]
        return list(merge(*own, wide, key=_turn_of_step))

    # how pods end

    def _gone(self) -> Collection[str]:
        if self._leaving is None:
            self._leaving = self._ask_gone()
        return self._leaving

    def _ending(self) -> Iterator[Change]:
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

    def _all_ends(self) -> list[Change]:
        if self._ends is None:
            self._ends, self._later = [], self._to_end()
        self._ends += self._later
        return self._ends

    def _to_end(self) -> Iterator[Change]:
        ends = self._pods.ends
        if ends is None:
            return
        gone, before, number = self._gone(), (0, ""), 0
        for at_ms, (_, key, _), party in ends.in_order(self._now_ms):
            if (at_ms, key) != before:
                before, number = (at_ms, key), 0
            blocks = self._of_party(party, gone)
            yield from self._of_blocks(at_ms, key, blocks, number)
            number += len(blocks)

    def _of_party(self, party: Party, gone: Collection[str]) -> list[_Block]:
        node_of, rows = self._pods.node_of, self._nodes.row_by_name
        leaving = bool(gone) and not party.pods.keys().isdisjoint(gone)
        key = (party.stamp, self._nodes.stamp, self._nodes.devices.shared)
        if not leaving and party.known is not None and party.known[0] == key:
            known: list[_Block] = party.known[1]
            return known
        there = [
            (rows[node_of[uid]], pod) for uid, pod in party.pods.items() if node_of[uid] in rows and uid not in gone
        ]
        blocks = self._blocks(there)
        if not leaving:
            party.known = (key, blocks)
        return blocks

    def _blocks(self, there: Sequence[tuple[int, Pod]]) -> list[_Block]:
        """`there`: pods and their rows."""
        like: dict[tuple[int, str], Pod] = {}
        on: dict[tuple[int, str], dict[int, int]] = {}
        every: dict[tuple[int, str], list[Pod]] = {}
        for row, pod in there:
            key = (id(pod.shape), pod.workload)
            like.setdefault(key, pod)
            counts = on.setdefault(key, {})
            counts[row] = counts.get(row, 0) + 1
            if self._nodes.devices.concern(pod.shape):
                every.setdefault(key, []).append(pod)
        return [
            (pod, np.array(list(on[key])), np.array(list(on[key].values())), tuple(every.get(key, ())))
            for key, pod in like.items()
        ]

    def _of_blocks(self, at_ms: int, key: str, blocks: Sequence[_Block], first: int = 0) -> list[Change]:
        """`first`: the number of the first."""
        return [
            Change(at_ms, False, key, n, like.shape, rows, -counts, like, pods)
            for n, (like, rows, counts, pods) in enumerate(blocks, first)
        ]

    def _ends_of(self, row: int) -> list[Step]:
        """How the pods on the row end, in the order of time."""
        pods = self._pods
        there = pods.on_node.get(self._nodes.name_by_row()[row], {})
        known = self._ends_on.get(row)
        if known is None or known[0] != len(there):
            steps: list[Step] = []
            gone = self._gone()
            for uid in there:
                end = None if pods.ends is None else pods.ends.of(uid, self._now_ms)
                if end is not None and uid not in gone:
                    pod = pods.by_uid[uid]
                    steps.append(Step(end, False, uid, 0, pod.shape, -1, (pod,)))
            known = (len(there), sorted(steps, key=_turn_of_step))
            self._ends_on[row] = known
        return known[1]


def _turn_of_step(step: Step) -> _Turn:
    return step[:4]


def steps_of(change: Change, which: Any = slice(None)) -> Iterator[tuple[int, Step]]:
    """(row, what it does there), row by row; `which` of them."""
    for row, more in zip(change.rows[which].tolist(), change.more[which].tolist(), strict=True):
        yield row, Step(*change[:5], more, change.pods)


def _take_out(line: list[Change], change: Change) -> None:
    at = bisect_left(line, turn(change), key=turn)
    if at < len(line) and line[at] is change:
        del line[at]
