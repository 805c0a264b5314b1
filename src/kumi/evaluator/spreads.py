"""Spreads: lengths of time that chance gives, each with the mean that it really has.

    Fixed         always the same
    Uniform       anything between two
    Exponential   what is memoryless: half is below 0.7 of the mean
    LogNormal     most are short, some are long; cut off at `most_ms`
    Pareto        a tail as heavy as can be, between `least_ms` and `most_ms`: density ~ x^-(shape + 1)
    Of all of them nothing is longer than LONGEST_MS: what has a tail is cut off there, and has its mean with that.

Units      milliseconds, as floats; whoever makes times of them rounds.
Why means  a load of so much percent needs an arrival rate, and that needs the mean, bounds and all.
Source     Feitelson: "Workload Modeling for Computer Systems Performance Evaluation" (tails, bounds).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, exp, expm1, inf, log, sqrt
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kumi.api.errors import KumiError

Lengths: TypeAlias = NDArray[np.float64]
WIDEST = 10.0
"""Of a log-normal spread: with it one of six is 20,000 times the median, or more."""
LONGEST_MS = 2.0**47
"""what is longer, some four thousand years, no calendar has the end of"""


class Spread(Protocol):
    """See the module."""

    @property
    def mean_ms(self) -> float:
        """What many of them come to, each."""
        ...

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """So many of them."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """Always `length_ms`."""

    length_ms: float

    def __post_init__(self) -> None:
        _length("length", self.length_ms)

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        return self.length_ms

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        return np.full(count, self.length_ms, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Uniform:
    """Between the two."""

    least_ms: float
    most_ms: float

    def __post_init__(self) -> None:
        _bounds(self.least_ms, self.most_ms)
        _length("most", self.most_ms)

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        return (self.least_ms + self.most_ms) / 2

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        return rng.uniform(self.least_ms, self.most_ms, count)


@dataclass(frozen=True, slots=True)
class Exponential:
    """Memoryless. `mean`: were it not cut off."""

    mean: float

    def __post_init__(self) -> None:
        _length("mean", self.mean)

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        return -self.mean * expm1(-LONGEST_MS / self.mean)

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        return np.minimum(rng.exponential(self.mean, count), LONGEST_MS)


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Its logarithm is normal: half is below the median; `sigma` 0 is no spread, 2 a very wide one."""

    median_ms: float
    sigma: float
    most_ms: float = inf

    def __post_init__(self) -> None:
        _length("median", self.median_ms)
        _positive("sigma", self.sigma)
        if self.sigma > WIDEST:
            raise KumiError(f"the sigma of a spread must be {WIDEST:g} at most, not {self.sigma}: 2 is a very wide one")
        if self.most_ms < self.median_ms:
            raise KumiError(f"the most of a spread must not be below its median: {_ms(self.most_ms, self.median_ms)}")

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        whole, most = self.median_ms * exp(self.sigma**2 / 2), min(self.most_ms, LONGEST_MS)
        at = (log(most) - log(self.median_ms)) / self.sigma
        return whole * _below(at - self.sigma) + most * (1 - _below(at))

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        return np.minimum(rng.lognormal(log(self.median_ms), self.sigma, count), min(self.most_ms, LONGEST_MS))


@dataclass(frozen=True, slots=True)
class Pareto:
    """Bounded: nothing is below the least or above the most. The smaller the shape, the heavier the tail."""

    least_ms: float
    most_ms: float
    shape: float = 1.1

    def __post_init__(self) -> None:
        _positive("shape", self.shape)
        _bounds(self.least_ms, self.most_ms)
        _length("least", self.least_ms)

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        wide, over = log(min(self.most_ms, LONGEST_MS) / self.least_ms), self.shape - 1
        if wide == 0:
            return self.least_ms
        part = -expm1(-over * wide) / over if over else wide  # exact also for a shape of nearly 1
        return self.least_ms * self.shape * part / -expm1(-self.shape * wide)

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        most = min(self.most_ms, LONGEST_MS)
        tail = 1 - (self.least_ms / most) ** self.shape
        drawn: Lengths = self.least_ms / (1 - rng.random(count) * tail) ** (1 / self.shape)
        return drawn.clip(self.least_ms, most)


def _below(at: float) -> float:
    """Of a normal spread, the part below."""
    return (1 + erf(at / sqrt(2))) / 2


def _positive(what: str, value: float) -> None:
    if not 0 < value < inf:
        raise KumiError(f"the {what} of a spread must be above 0, not {value}")


def _length(what: str, value: float) -> None:
    _positive(what, value)
    if value > LONGEST_MS:
        raise KumiError(f"the {what} of a spread must be {LONGEST_MS:g} ms at most, not {value:g}")


def _bounds(least_ms: float, most_ms: float) -> None:
    if not 0 < least_ms <= most_ms:
        raise KumiError(f"a spread must have 0 < least <= most, not {_ms(least_ms, most_ms)}")


def _ms(one: float, other: float) -> str:
    return f"{one:g} ms and {other:g} ms"
