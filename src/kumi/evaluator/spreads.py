"""Spreads: lengths of time that chance gives, each with the mean that it really has.

    Fixed         always the same
    Uniform       anything between two
    Exponential   what is memoryless: half is below 0.7 of the mean
    LogNormal     most are short, some are long; cut off at `most_ms`, else at LONGEST_MS
    Pareto        a tail as heavy as can be, between `least_ms` and `most_ms`: density ~ x^-(shape + 1)

Units      milliseconds, as floats; whoever makes times of them rounds.
Why means  a load of so much percent needs an arrival rate, and that needs the mean, bounds and all.
Source     Feitelson: "Workload Modeling for Computer Systems Performance Evaluation" (tails, bounds).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, exp, inf, log, sqrt
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
        _positive("length", self.length_ms)

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

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        return (self.least_ms + self.most_ms) / 2

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        return rng.uniform(self.least_ms, self.most_ms, count)


@dataclass(frozen=True, slots=True)
class Exponential:
    """Memoryless."""

    mean: float

    def __post_init__(self) -> None:
        _positive("mean", self.mean)

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        return self.mean

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        return rng.exponential(self.mean, count)


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Its logarithm is normal: half is below the median; `sigma` 0 is no spread, 2 a very wide one."""

    median_ms: float
    sigma: float
    most_ms: float = inf

    def __post_init__(self) -> None:
        _positive("median", self.median_ms)
        _positive("sigma", self.sigma)
        if self.sigma > WIDEST:
            raise KumiError(f"the sigma of a spread must be {WIDEST:g} at most, not {self.sigma}: 2 is a very wide one")
        _bounds(self.median_ms, self.most_ms)

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        whole = self.median_ms * exp(self.sigma**2 / 2)
        if self.most_ms == inf:
            return whole
        at = (log(self.most_ms) - log(self.median_ms)) / self.sigma
        return whole * _below(at - self.sigma) + self.most_ms * (1 - _below(at))

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

    @property
    def mean_ms(self) -> float:
        """See Spread."""
        low, high, shape = self.least_ms, self.most_ms, self.shape
        if low == high:
            return low
        share = pow(low, shape) / (1 - pow(low / high, shape))
        if shape == 1:
            return float(share * log(high / low))
        return float(share * shape / (shape - 1) * (pow(low, 1 - shape) - pow(high, 1 - shape)))

    def draw(self, rng: np.random.Generator, count: int) -> Lengths:
        """See Spread."""
        tail = 1 - (self.least_ms / self.most_ms) ** self.shape
        drawn: Lengths = self.least_ms / (1 - rng.random(count) * tail) ** (1 / self.shape)
        return drawn.clip(self.least_ms, self.most_ms)


def _below(at: float) -> float:
    """Of a normal spread, the part below."""
    return (1 + erf(at / sqrt(2))) / 2


def _positive(what: str, value: float) -> None:
    if not 0 < value < inf:
        raise KumiError(f"the {what} of a spread must be above 0, not {value}")


def _bounds(least_ms: float, most_ms: float) -> None:
    if not 0 < least_ms <= most_ms:
        raise KumiError(f"a spread must have 0 < least <= most, not {least_ms} and {most_ms}")
