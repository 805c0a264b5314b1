"""Measures: numbers that parts of the system tell of themselves, as plain values.

A part counts in plain fields, at the cost of an addition, and says what it has as Families when somebody asks (a scrape). It
knows nothing of who asks or in which format: that is the edge's (kumi.apiserver.metrics). So a loop that may use neither clock
nor threads can be measured like anything else.

    Sample      one number with the values of its family's labels
    Family      a name, what it means, its labels, all of its samples
    Histogram   how often a value fell at or under each bound; `observe` is a bisection
Units      as names say: `_seconds`, `_bytes`, `_total` (counted since the start).
Names      those that Kubernetes and Kueue use, where they have one; `kumi_` before all others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

FamilyKind: TypeAlias = Literal["counter", "gauge", "histogram"]


class Histogram:
    """Observations by bound. `bounds` rise; what is over the last one is counted, too."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        """observations that fell into each interval, the last one open to the right"""
        self.total = 0.0
        """the sum of what was observed"""

    def observe(self, value: float) -> None:
        """One more."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        """How many were observed."""
        return sum(self.counts)

    def cumulative(self) -> list[tuple[float, int]]:
        """For each bound (the last is infinite) how many were at or under it."""
        found, so_far = [], 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            so_far += count
            found.append((bound, so_far))
        return found


class Sample(NamedTuple):
    """A number, or a histogram; `labels` are the values, in the order of the family's names."""

    labels: tuple[str, ...]
    value: float | Histogram


@dataclass(frozen=True)
class Family:
    """All that is known under one name."""

    name: str
    help: str
    kind: FamilyKind
    labels: tuple[str, ...] = ()
    samples: Sequence[Sample] = field(default=())


@runtime_checkable
class Measured(Protocol):
    """A part that has measures; a decider of kumi.controllers may be one."""

    def measures(self) -> Iterable[Family]:
        """What it has now. Families of one name that several parts tell are told together."""
        ...


def one(name: str, help: str, kind: FamilyKind, value: float | Histogram) -> Family:
    """A family of a single sample without labels."""
    return Family(name, help, kind, (), (Sample((), value),))


def merged(families: Iterable[Family]) -> list[Family]:
    """One family a name, in order of name; the samples of equal names in the order in which they were told."""
    found: dict[str, Family] = {}
    for family in families:
        there = found.get(family.name)
        samples = (*there.samples, *family.samples) if there is not None else tuple(family.samples)
        found[family.name] = Family(family.name, family.help, family.kind, family.labels, samples)
    return [found[name] for name in sorted(found)]
