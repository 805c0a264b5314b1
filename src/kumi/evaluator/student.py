"""Student's t: how far from the mean of a few runs the true mean may be.

The rule, for T of v degrees of freedom and t = sqrt(v) tan(a), 0 <= a < pi/2:
    P(|T| < t) = 2/pi (a + sin a (cos a + 2/3 cos^3 a + ... + (2 4 .. v-3)/(1 3 .. v-2) cos^(v-2) a))     v odd
                 sin a (1 + 1/2 cos^2 a + ... + (1 3 .. v-3)/(2 4 .. v-2) cos^(v-2) a)                     v even
    quantile(c, v)  = the t for which that is c
    interval(x)     = mean(x) +- quantile(c, n - 1) s / sqrt(n), s the standard deviation of the sample

Why        a dozen seeds are few: the normal distribution's 1.96 is 12.7 for two runs, and 2.3 for ten.
Ties       values that are all equal have an interval of no width; one value alone has none (None).
Cost       O(v) a step, 60 steps, kept for each (c, v).
Source     Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
Not here   which difference is compared: compare.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, stdev

CONFIDENCE = 0.95
STEPS = 60
"""halvings of [0, pi/2]: 1e-18 of it, less than a float64 tells apart"""


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of `runs` values, and how far from it the true mean may be either way; None: one value doesn't tell."""

    mean: float
    half: float | None
    runs: int

    def without_zero(self) -> bool:
        """Whether zero is outside of it."""
        return self.half is not None and abs(self.mean) > self.half


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Of at least one value."""
    mean = fmean(values)
    if len(values) == 1:
        return Interval(mean, None, 1)
    spread = stdev(values) / math.sqrt(len(values))
    return Interval(mean, quantile(confidence, len(values) - 1) * spread, len(values))


@cache
def quantile(confidence: float, freedom: int) -> float:
    """The t that a share `confidence` (0 to 1) of the distribution lies within, on both sides of 0."""
    low, high = 0.0, math.pi / 2
    for _ in range(STEPS):
        angle = (low + high) / 2
        if _within(angle, freedom) < confidence:
            low = angle
        else:
            high = angle
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """P(|T| < sqrt(freedom) tan(angle))."""
    cosine, odd = math.cos(angle), freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for power in range(2 + odd, freedom - 1, 2):
        term *= (power - 1) / power * cosine * cosine
        total += term
    inner = math.sin(angle) * total
    return 2 / math.pi * (angle + inner) if odd else inner
