"""Steps: a figure that holds from one instant to the next, its areas, its peak, and how it looks on a grid of times.

The rule:
    steps(at, change)    value after instant t = the sum of every change at or before t; one value an instant
    area(x)              the sum of value * time from the beginning to x
    mean over [a, b]     (area(b) - area(a)) / (b - a); where b = a, the value once that instant is over
    peak over [a, b]     the greatest value once an instant is over; what comes and goes within one instant is none
Thinning   a series has at most POINTS buckets of equal width, whole milliseconds: the first begins at `begin`, the width is
           (end - begin) / POINTS rounded up, the last ends at `end`. Each has the exact mean of the bucket and its peak; so
           a short spike is in the peak, and the means of the buckets, weighted with their widths, are the mean of the whole.
Units      times int64 ms; values int64; areas float64, exact up to 2^53 (sums that must be exact are made in metrics.py).
Cost       O(n log n) once for n changes, O(n + buckets) a series.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.evaluator.facts import NONE, Ints

Floats: TypeAlias = NDArray[np.float64]

POINTS = 600
"""buckets of a series, at most"""


@dataclass(frozen=True, slots=True)
class Steps:
    """`value[i]` holds from `at[i]` until `at[i + 1]`, the last one for ever; before the first it is 0."""

    at: Ints
    value: Ints

    def on(self, times: Ints) -> Ints:
        """The values at these times, once the instant is over."""
        if not len(self.at):
            return np.zeros(len(times), dtype=np.int64)
        index = np.searchsorted(self.at, times, side="right") - 1
        return np.where(index >= 0, self.value[np.maximum(index, 0)], 0)

    def peak(self) -> int:
        """The greatest value there ever is; 0 where it never rises."""
        return int(self.value.max(initial=0))

    def mean(self, begin: int, end: int) -> float:
        """Over this time."""
        return float(self.means(np.array([begin, end], dtype=np.int64))[0])

    def means(self, edges: Ints) -> Floats:
        """Over each of the times between two edges, which rise or stay."""
        area, width = self._areas(edges), np.diff(edges)
        flat = self.on(edges[1:]).astype(np.float64)
        return np.divide(np.diff(area), width, out=flat, where=width > 0)

    def peaks(self, edges: Ints) -> Ints:
        """The greatest value in each bucket [edge, next edge), that at its start included; of the last one also at its end."""
        best = self.on(edges[:-1])
        inside = np.searchsorted(edges, self.at, side="right") - 1
        inside[self.at == edges[-1]] = len(edges) - 2
        mine = (inside >= 0) & (inside < len(best))
        np.maximum.at(best, inside[mine], self.value[mine])
        return best

    def _areas(self, times: Ints) -> Floats:
        """From the first step to these times."""
        if not len(self.at):
            return np.zeros(len(times))
        until = np.concatenate(([0.0], np.cumsum(self.value[:-1].astype(np.float64) * np.diff(self.at))))
        index = np.searchsorted(self.at, times, side="right") - 1
        known = np.maximum(index, 0)
        found = until[known] + self.value[known].astype(np.float64) * (times - self.at[known])
        return np.where(index >= 0, found, 0.0)


def steps(at: Ints, change: Ints) -> Steps:
    """Of changes in any order."""
    order = np.argsort(at, kind="stable")
    times, value = at[order], np.cumsum(change[order], dtype=np.int64)
    last = np.append(times[1:] != times[:-1], True) if len(times) else np.empty(0, dtype=np.bool_)
    return Steps(times[last], value[last])


def instants(*times: Ints) -> Ints:
    """All of these times once each, in order."""
    found = np.sort(np.concatenate(times), kind="stable")
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def held(at: Ints, to: Ints, amount: Ints) -> Steps:
    """Of amounts that are held from `at` until `to` (NONE: for ever)."""
    over = to != NONE
    return steps(np.concatenate((at, to[over])), np.concatenate((amount, -amount[over])))


def grid(begin: int, end: int, points: int = POINTS) -> Ints:
    """The edges of the buckets of a series: at least one bucket, which has no width where nothing takes time."""
    width = -(-(end - begin) // points)
    if width == 0:
        return np.array([begin, end], dtype=np.int64)
    return np.append(np.arange(begin, end, width, dtype=np.int64), np.int64(end))
