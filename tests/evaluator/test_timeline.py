"""Steps are integrals: a grid of any width has the same area, and peaks are those of instants that are over."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.evaluator.facts import NONE
from kumi.evaluator.timeline import grid, held, steps


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


changes = st.lists(st.tuples(st.integers(0, 1000), st.integers(-5, 5)), min_size=1, max_size=40)


def value_at(told: list[tuple[int, int]], time: int) -> int:
    return sum(change for at, change in told if at <= time)


@given(changes, st.integers(0, 500), st.integers(1, 700), st.integers(1, 50))
def test_means_times_widths_are_the_area_whatever_the_grid(
    told: list[tuple[int, int]], begin: int, long: int, points: int
) -> None:
    of = steps(ints(*(at for at, _ in told)), ints(*(change for _, change in told)))
    edges = grid(begin, begin + long, points)
    area = sum(value_at(told, time) for time in range(begin, begin + long))
    assert float((of.means(edges) * np.diff(edges)).sum()) == pytest.approx(area)
    assert of.mean(begin, begin + long) == pytest.approx(area / long)


@given(changes, st.integers(0, 500), st.integers(1, 700), st.integers(1, 50))
def test_the_peak_of_a_bucket_is_the_greatest_value_in_it(
    told: list[tuple[int, int]], begin: int, long: int, points: int
) -> None:
    of = steps(ints(*(at for at, _ in told)), ints(*(change for _, change in told)))
    edges = grid(begin, begin + long, points)
    ends = [*edges[1:-1].tolist(), int(edges[-1]) + 1]
    expected = [max(value_at(told, t) for t in range(a, b)) for a, b in zip(edges[:-1].tolist(), ends, strict=True)]
    assert of.peaks(edges).tolist() == expected


@given(st.integers(0, 10**13), st.integers(0, 10**11), st.integers(1, 1000))
def test_a_grid_covers_the_whole_and_has_no_more_buckets_than_asked_for(begin: int, long: int, points: int) -> None:
    edges = grid(begin, begin + long, points)
    assert (int(edges[0]), int(edges[-1])) == (begin, begin + long)
    assert 1 <= len(edges) - 1 <= points
    assert len(set(np.diff(edges)[:-1].tolist())) <= 1


def test_what_ends_and_starts_at_one_instant_is_never_counted_twice() -> None:
    of = held(ints(0, 10), ints(10, 20), ints(8, 8))
    assert of.peak() == 8


def test_what_comes_and_goes_within_an_instant_is_no_peak() -> None:
    assert held(ints(5), ints(5), ints(100)).peak() == 0


def test_what_never_ends_is_held_for_ever() -> None:
    of = held(ints(5), ints(NONE), ints(3))
    assert of.on(ints(4, 5, 10**12)).tolist() == [0, 3, 3]


def test_where_no_time_passes_the_mean_is_how_things_stand() -> None:
    assert held(ints(7), ints(NONE), ints(3)).mean(7, 7) == 3


def test_nothing_ever_is_zero_everywhere() -> None:
    of = steps(ints(), ints())
    assert (of.peak(), of.mean(0, 10), of.on(ints(3)).tolist()) == (0, 0.0, [0])
