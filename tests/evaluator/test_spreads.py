"""Spreads of lengths."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.evaluator.spreads import LONGEST_MS, WIDEST, Exponential, Fixed, LogNormal, Pareto, Spread, Uniform

DRAWN = 200_000


@pytest.mark.parametrize(
    "spread",
    [
        Fixed(7),
        Uniform(2, 10),
        Exponential(40),
        LogNormal(60, 1.0),
        LogNormal(60, 1.5, 500),
        LogNormal(3_600_000, 5.0),
        LogNormal(60_000, 8.0, 2 * LONGEST_MS),
        Exponential(LONGEST_MS / 2),
        Pareto(LONGEST_MS / 4, 4 * LONGEST_MS, 0.5),
        Pareto(1, 1000, 1.1),
        Pareto(1, 1000, 1),
        Pareto(1, 1000, 0.5),
        Pareto(5, 5),
    ],
    ids=repr,
)
def test_the_mean_is_what_many_come_to(spread: Spread) -> None:
    drawn = spread.draw(np.random.default_rng(11), DRAWN)
    assert len(drawn) == DRAWN
    assert abs(drawn.mean() - spread.mean_ms) <= 5 * drawn.std() / sqrt(DRAWN) + 1e-9


@given(st.floats(0.1, 100), st.floats(1, 1000), st.floats(0.2, 3))
@example(64.0, 1000.0, 1.0 + 2**-51)
@example(64.0, 1.0 + 2**-51, 1.1)
def test_nothing_is_outside_of_the_bounds(least: float, more: float, shape: float) -> None:
    most = least * more
    rng = np.random.default_rng(1)
    for spread in (Pareto(least, most, shape), Uniform(least, most)):
        drawn = spread.draw(rng, 100)
        assert drawn.min() >= least * (1 - 1e-9)
        assert drawn.max() <= most * (1 + 1e-9)
        assert least * (1 - 1e-9) <= spread.mean_ms <= most * (1 + 1e-9)
    assert LogNormal(least, shape, most).draw(rng, 100).max() <= most


def test_equal_seeds_draw_alike() -> None:
    one, other = (Exponential(5).draw(np.random.default_rng(3), 10).tolist() for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    "spread",
    [LogNormal(3_600_000, WIDEST), Exponential(LONGEST_MS), Pareto(LONGEST_MS / 2, 2 * LONGEST_MS, 0.1)],
    ids=repr,
)
def test_the_widest_spreads_have_lengths_that_can_be_counted_with(spread: Spread) -> None:
    drawn = spread.draw(np.random.default_rng(0), 10_000)
    assert LONGEST_MS * 0.99 < drawn.max() <= LONGEST_MS


@pytest.mark.parametrize(
    "make",
    [
        lambda: Fixed(0),
        lambda: Exponential(-1),
        lambda: Uniform(5, 4),
        lambda: Uniform(5, 2 * LONGEST_MS),
        lambda: Fixed(2 * LONGEST_MS),
        lambda: Exponential(2 * LONGEST_MS),
        lambda: Pareto(2 * LONGEST_MS, 4 * LONGEST_MS),
        lambda: LogNormal(2 * LONGEST_MS, 1),
        lambda: Pareto(0, 4),
        lambda: Pareto(1, 4, 0),
        lambda: LogNormal(10, 0),
        lambda: LogNormal(10, 1, 5),
        lambda: LogNormal(10, 11),
    ],
)
def test_a_spread_that_can_not_be_is_told(make: object) -> None:
    with pytest.raises(KumiError):
        make()  # type: ignore[operator]
