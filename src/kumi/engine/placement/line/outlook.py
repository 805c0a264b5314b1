"""Outlook: at which times there may be room for an asker, found for all nodes at once.

The rule, for an asker that needs at least k pods, each of at least the amounts a, for d milliseconds:
    level(n, r, t)  what more is used then than at the beginning, as timeline.py adds it up (it falls below 0 as pods end)
    may(t)          the sum over nodes of min over r in a of (free(n, r) - most of level(n, r) in [t, t + d)) // a(r) reaches k
Why        a time at which may(t) is false needs no try; hundreds that wait times hundreds of times are too many tries.
Exact      no time that would do is left out; one that is named may still fail for what is no amount (ports, devices, spread), so
           it is tried.
Kept       one array of changes, ordered by node and time, with the level after each; what is kept for one more that waits, or
           given back, changes the part of its nodes alone.
Units      as in timeline.py; times are counted from `now` in here.
Cost       O(c log c) array steps a question, c changes on nodes; O(c) an entry.
Source     sparse tables for the least of a range: Bender, Farach-Colton, The LCA problem revisited (2000).
Not here   what is tried, and how: timeline.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kumi.engine.placement.nodes import NOWHERE, Ints, Mask

_SHIFT = 43
_NO: Mask = np.zeros(1, dtype=np.bool_)
_NONE: Ints = np.zeros(1, dtype=np.int64)
END = 2**_SHIFT - 1
"""no time from now on is later; rows stand above it in a key"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What one that waits needs at least: so many `pods`, each of these amounts, by line, on rows of the mask."""

    pods: int
    lines: Ints
    amounts: Ints
    mask: Mask


def needed(pods: int, asked: Sequence[Sequence[tuple[int, int]]], mask: Mask) -> Needs | None:
    """What so many pods need at least, each of which asks for one of these, by (line, amount); None where a line is of nothing
    that any node has: its tries are few."""
    least = dict(asked[0])
    for other in map(dict, asked[1:]):
        least = {line: min(amount, other[line]) for line, amount in least.items() if line in other}
    if NOWHERE in least:
        return None
    return Needs(pods, np.array(list(least)), np.array(list(least.values()), dtype=np.int64), mask)


class Outlook:
    """See the module. `rows`, `times`, `levels`: of each change, in any order, the row, the time from now (> 0), and what more is
    used of each line from then on (lines x changes); `width`: how many rows there are."""

    def __init__(self, rows: Ints, times: Ints, changes: Ints, width: int) -> None:
        begins = np.arange(width, dtype=np.int64) << _SHIFT
        keys = (rows << _SHIFT) + np.minimum(times, END)
        order = np.argsort(keys, kind="stable")
        at = np.searchsorted(keys[order], begins)
        self._width = width
        self._keys: Ints = np.insert(keys[order], at, begins)
        self._times: Ints = np.unique(times)
        run = np.cumsum(np.insert(changes[:, order], at, 0, axis=1), axis=1)
        firsts = np.searchsorted(self._keys, begins)
        of = self._keys >> _SHIFT
        last = np.append(self._keys[1:] != self._keys[:-1], True)  # of all that changes at once, what comes of it
        self._levels: Ints = (run - run[:, firsts][:, of])[:, last]
        self._keys = self._keys[last]

    def enter(self, row: int, at: int, lines: Ints, amounts: Ints) -> None:
        """So much more is used on the row from then on."""
        if at < END:
            first = self._cut(row, at)
            last = int(np.searchsorted(self._keys, (row + 1) << _SHIFT))
            self._levels[lines, first:last] += amounts[:, None]

    def _cut(self, row: int, at: int) -> int:
        """Where the changes of the row from that time on begin; there is one at that time."""
        key = (row << _SHIFT) + at
        place = int(np.searchsorted(self._keys, key))
        if place == self._keys.size or self._keys[place] != key:
            self._keys = np.insert(self._keys, place, key)
            self._levels = np.insert(self._levels, place, self._levels[:, place - 1], axis=1)
            among = int(np.searchsorted(self._times, at))
            if among == self._times.size or self._times[among] != at:
                self._times = np.insert(self._times, among, at)
        return place

    def most(self, begin: int, end: int) -> Ints:
        """Of each line and row, the highest level in [begin, end)."""
        first = self._at(np.full(self._width, begin, dtype=np.int64), np.arange(self._width)) - 1
        last = self._after(end)
        bounds = np.empty(2 * self._width, dtype=np.int64)
        bounds[::2], bounds[1::2] = first, np.maximum(last, first + 1)
        padded = np.concatenate([self._levels, self._levels[:, -1:]], axis=1)
        most: Ints = np.maximum.reduceat(padded, bounds, axis=1)[:, ::2]
        return most

    def times(self, first: int, last: int) -> Ints:
        """When anything changes, in order, in [first, last]."""
        begin, end = np.searchsorted(self._times, (first, last + 1))
        return self._times[begin:end]

    def level(self, at: int) -> Ints:
        """Of each line and row, the level then."""
        level: Ints = self._levels[:, self._at(np.full(self._width, at, dtype=np.int64), np.arange(self._width)) - 1]
        return level

    def _at(self, times: Ints, rows: Ints) -> Ints:
        """One past the last change on the row at the time or before."""
        at: Ints = np.searchsorted(self._keys, (rows << _SHIFT) + np.minimum(times, END), side="right")
        return at

    def _after(self, end: int) -> Ints:
        """One past the last change on each row before that time."""
        rows = np.arange(self._width, dtype=np.int64)
        at: Ints = np.searchsorted(self._keys, (rows << _SHIFT) + min(end, END))
        return at

    def may(self, needs: Needs, free: Ints, takes: int, moments: Ints) -> Mask:
        """At which of the moments, in order, may there be room for so long? `free`: of each line and row at the beginning."""
        of = self._keys >> _SHIFT
        fits = self._fits(needs, free, of)
        some = fits > 0
        if not some.any():
            return np.zeros(moments.size, dtype=np.bool_)
        if needs.pods == 1:
            return self._may_one(some, takes, moments)
        # only rows that ever have room
        keep = np.zeros(self._width, dtype=np.bool_)
        keep[of[some]] = True
        chosen = keep[of]
        keys, fits, of = self._keys[chosen], fits[chosen], of[chosen]
        times = keys & END
        # what fits for so long changes where a change leaves the window behind or comes into it
        latest = times[times > 0]
        owner = of[times > 0]
        enter = latest - takes + 1 if takes < END else latest
        keyed = np.concatenate([keys, (owner << _SHIFT) + np.maximum(enter, 0)])
        keyed.sort(kind="stable")  # both halves are in order but for ends that are past
        row, at = keyed >> _SHIFT, keyed & END
        first = np.searchsorted(keys, keyed, side="right") - 1
        last = np.searchsorted(keys, (row << _SHIFT) + np.minimum(at + takes, END))
        least = _least(fits, first, np.maximum(last, first + 1))
        before = np.empty_like(least)
        before[0], before[1:] = 0, np.where(row[1:] == row[:-1], least[:-1], 0)
        more = least - before
        steps = np.flatnonzero(more)
        at, more = at[steps], more[steps]
        order = np.argsort(at)
        total = np.concatenate([_NONE, np.cumsum(more[order])])
        reached: Mask = total[np.searchsorted(at[order], moments, side="right")] >= needs.pods
        return reached

    def _may_one(self, some: Mask, takes: int, moments: Ints) -> Mask:
        """As `may` for one pod: is the moment in a stretch of time without a change to no room, and so long before its end?"""
        turns = np.flatnonzero(np.concatenate([_NO, some[:-1] != some[1:]]) | (self._keys & END == 0))
        last = np.append(self._keys[turns[1:]], self._width << _SHIFT)
        good = some[turns]
        begins, ends = self._keys[turns[good]], last[good]
        same = ends >> _SHIFT == begins >> _SHIFT
        begins &= END
        latest = np.where(same, (ends & END) - takes, END)
        there = latest >= begins
        began = np.searchsorted(np.sort(begins[there]), moments, side="right")
        reached: Mask = began > np.searchsorted(np.sort(latest[there]), moments)
        return reached

    def _fits(self, needs: Needs, free: Ints, of: Ints) -> Ints:
        """After each change, how many such pods the row takes, no more than are needed."""
        fits = np.full(of.size, needs.pods, dtype=np.int64)
        for line, amount in zip(needs.lines.tolist(), needs.amounts.tolist(), strict=True):
            np.minimum(fits, (free[line][of] - self._levels[line]) // amount, out=fits)
        np.maximum(fits, 0, out=fits)
        fits *= needs.mask[of]
        return fits


def _least(values: Ints, first: Ints, last: Ints) -> Ints:
    """The least of values[first:last], for many such ranges, none of which is empty."""
    length = last - first
    step = np.frexp(length)[1] - 1  # the largest power of two within
    tables: list[Ints] = [values]
    for power in range(int(step.max(initial=0))):
        below, half = tables[-1], 1 << power
        tables.append(np.minimum(below[:-half], below[half:]))
    found = np.empty(first.size, dtype=np.int64)
    for power, table in enumerate(tables):
        those = np.flatnonzero(step == power)
        found[those] = np.minimum(table[first[those]], table[last[those] - (1 << power)])
    return found
