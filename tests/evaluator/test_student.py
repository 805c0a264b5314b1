"""Student's t against published tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.evaluator.student import Interval, interval, quantile

PUBLISHED = {
    # degrees of freedom: two-sided 90 %, 95 %, 99 % (any textbook's table)
    1: (6.314, 12.706, 63.657),
    2: (2.920, 4.303, 9.925),
    3: (2.353, 3.182, 5.841),
    4: (2.132, 2.776, 4.604),
    5: (2.015, 2.571, 4.032),
    9: (1.833, 2.262, 3.250),
    10: (1.812, 2.228, 3.169),
    29: (1.699, 2.045, 2.756),
    30: (1.697, 2.042, 2.750),
    120: (1.658, 1.980, 2.617),
}


@given(st.floats(0.01, 0.99), st.integers(1, 60))
def test_more_confidence_is_further_out_and_more_freedom_nearer(confidence: float, freedom: int) -> None:
    here = quantile(confidence, freedom)
    assert quantile(confidence + 0.005, freedom) > here
    assert quantile(confidence, freedom + 1) < here


@given(st.floats(0.01, 0.99))
def test_one_and_two_degrees_have_closed_forms(confidence: float) -> None:
    assert quantile(confidence, 1) == pytest.approx(math.tan(math.pi * confidence / 2))
    assert quantile(confidence, 2) == pytest.approx(confidence * math.sqrt(2 / (1 - confidence**2)))


@pytest.mark.parametrize("freedom", PUBLISHED)
def test_quantiles_are_those_of_the_published_table(freedom: int) -> None:
    found = tuple(round(quantile(confidence, freedom), 3) for confidence in (0.90, 0.95, 0.99))
    assert found == PUBLISHED[freedom]


def test_many_degrees_come_near_the_normal_distribution() -> None:
    assert quantile(0.95, 5_000) == pytest.approx(1.95996, abs=1e-3)


def test_the_interval_of_a_sample_worked_by_hand() -> None:
    found = interval([2.0, 4.0, 6.0])  # mean 4, standard deviation 2, t(2) = 4.303
    assert (found.mean, found.runs) == (4.0, 3)
    assert found.half == pytest.approx(4.303 * 2 / math.sqrt(3), abs=1e-3)


def test_one_value_has_a_mean_and_no_width_that_is_known() -> None:
    assert interval([7.0]) == Interval(7.0, None, 1)
    assert not interval([7.0]).without_zero()


def test_equal_values_have_no_width() -> None:
    assert interval([3.0, 3.0]) == Interval(3.0, 0.0, 2)
    assert interval([3.0, 3.0]).without_zero()
    assert not interval([0.0, 0.0]).without_zero()
