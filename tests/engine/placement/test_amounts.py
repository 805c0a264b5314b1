"""Amounts: comparing and sharing out."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement import amounts

some = st.dictionaries(st.sampled_from(["cpu", "memory", "gpu", "pods"]), st.integers(0, 5_000), max_size=4)


@given(some, some)
def test_plus_and_minus_undo_each_other(a: dict[str, float], b: dict[str, float]) -> None:
    back = amounts.minus(amounts.plus(a, b), b)
    assert {d: v for d, v in back.items() if v} == {d: v for d, v in a.items() if v}


@given(some, some)
def test_what_is_beyond_and_what_both_have_make_up_the_whole(a: dict[str, float], b: dict[str, float]) -> None:
    assert amounts.plus(amounts.beyond(a, b), amounts.capped(a, {**dict.fromkeys(a, 0), **b})) == a


@given(some, some)
def test_most_covers_both(a: dict[str, float], b: dict[str, float]) -> None:
    most = amounts.most(a, b)
    assert amounts.covers(most, a)
    assert amounts.covers(most, b)
    assert amounts.same(most, amounts.most(b, a))


@given(some, some)
def test_capped_is_covered_by_the_limit_in_what_it_names(a: dict[str, float], b: dict[str, float]) -> None:
    capped = amounts.capped(a, b)
    assert all(capped[d] <= b[d] for d in b if d in a)
    assert all(capped[d] == a[d] for d in a if d not in b)


@given(st.lists(some, max_size=4))
def test_the_sum_of_parts_is_adding_them_one_by_one(parts: list[dict[str, float]]) -> None:
    total: dict[str, float] = {}
    for part in parts:
        total = amounts.plus(total, part)
    assert amounts.sum_of(parts) == total


@given(some, some)
def test_no_part_of_one_resource_is_larger_than_the_dominant_one(a: dict[str, float], total: dict[str, float]) -> None:
    dominant = amounts.dominant(a, total)
    parts = [a.get(d, 0) / total[d] for d in total if total[d] >= amounts.tenth(d)]
    assert dominant == max(parts, default=0.0)


def test_covers_lets_a_tenth_of_a_unit_pass() -> None:
    assert amounts.covers({"cpu": 1.0}, {"cpu": 1.05})
    assert not amounts.covers({"cpu": 1.0}, {"cpu": 1.2})
    assert amounts.covers({"pods": 1000}, {"pods": 1050})
    assert not amounts.covers({"pods": 1000}, {"pods": 1200})


def test_covers_asks_for_what_the_left_side_names() -> None:
    assert amounts.covers({}, {"gpu": 0})
    assert not amounts.covers({"cpu": 1}, {"gpu": 1})


def test_within_is_exact_and_looks_at_what_is_asked_for_alone() -> None:
    left, right = {"cpu": 1.05, "memory": 9, "pods": 9}, {"cpu": 1.0, "memory": 8, "pods": 1}
    assert not amounts.within(left, right, [("cpu", 1)])
    assert not amounts.within(left, right, [("memory", 1)])
    assert amounts.within(left, right, [("gpu", 1), ("cpu", 0), ("pods", 1)])
    assert not amounts.within({"gpu": 1}, {}, [("gpu", 1)])


@pytest.mark.parametrize(("left", "right", "share"), [(0, 0, 0.0), (1, 0, 1.0), (1, 2, 0.5), (3, 2, 1.5)])
def test_a_share_of_nothing_is_all_or_nothing(left: float, right: float, share: float) -> None:
    assert amounts.share(left, right) == share


def test_pods_alone_are_nothing_worth_naming() -> None:
    assert amounts.is_empty({"pods": 5000, "cpu": 0.01})
    assert not amounts.is_empty({"cpu": 1})
    assert amounts.named({"pods": 1000, "cpu": 0.01, "gpu": 1}) == ["pods", "gpu"]


def test_a_zero_limits_a_device_and_not_cpu_or_memory() -> None:
    assert amounts.limits([("cpu", 0), ("memory", 0), ("gpu", 0)]) == {"gpu": 0}
    assert amounts.limits([("cpu", 2), ("memory", math.inf)]) == {"cpu": 2, "memory": math.inf}
