"""Outlook: when there may be room, against a look at every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.line.outlook import END, Needs, Outlook, needed
from kumi.engine.placement.nodes import NOWHERE, Ints

Change = tuple[int, int, int, int]
"""row, time, line, more"""

CHANGES = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 9), st.integers(0, 1), st.integers(-2, 2)), max_size=12)


def outlook(changes: list[Change]) -> Outlook:
    amounts = np.zeros((2, len(changes)), dtype=np.int64)
    for n, (_, _, line, more) in enumerate(changes):
        amounts[line, n] = more
    return Outlook(ints([c[0] for c in changes]), ints([c[1] for c in changes]), amounts, 3)


def ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def plain_level(changes: list[Change], at: int) -> Ints:
    level = np.zeros((2, 3), dtype=np.int64)
    for row, when, line, more in changes:
        if when <= at:
            level[line, row] += more
    return level


def plain_most(changes: list[Change], begin: int, end: int) -> Ints:
    most: Ints = np.max([plain_level(changes, at) for at in range(begin, min(end, 12))], axis=0)
    return most


@given(CHANGES, CHANGES, st.integers(0, 10), st.sampled_from((1, 2, 5, END)))
def test_levels_are_those_of_every_change_until_then(
    first: list[Change], later: list[Change], at: int, takes: int
) -> None:
    made = outlook(first)
    for row, when, line, more in later:
        made.enter(row, when, ints([line]), ints([more]))
    assert (made.level(at) == plain_level(first + later, at)).all()
    assert (made.most(at, min(at + takes, END)) == plain_most(first + later, at, at + takes)).all()
    times = {when for _, when, _, _ in first + later if 2 <= when <= 7}
    assert made.times(2, 7).tolist() == sorted(times)


@given(CHANGES, CHANGES, st.sampled_from((1, 1, 2, 4)), st.sampled_from((1, 2, 3, 5, END)), st.integers(0, 3))
def test_there_may_be_room_when_the_nodes_at_their_fullest_take_so_many(
    first: list[Change], later: list[Change], pods: int, takes: int, more_free: int
) -> None:
    made, changes = outlook(first), first + later
    for row, when, line, more in later:
        made.enter(row, when, ints([line]), ints([more]))
    free = ints([[0, 1, 2], [more_free, 0, 1]])  # type: ignore[list-item]
    needs = Needs(pods, ints([0, 1]), ints([1, 2]), np.array([True, True, more_free != 1]))
    wanted = []
    for at in range(11):
        room = free - plain_most(changes, at, at + takes)
        fits = np.maximum(np.minimum(room[0], room[1] // 2), 0) * needs.mask
        wanted.append(int(fits.sum()) >= pods)
    assert made.may(needs, free, takes, np.arange(11)).tolist() == wanted


def test_what_ends_as_another_begins_leaves_no_moment_between() -> None:
    made = outlook([(0, 5, 0, 1), (0, 5, 0, -1)])
    assert made.most(0, 9)[0, 0] == 0


@pytest.mark.parametrize(
    ("asked", "wanted"), [([[(0, 2), (1, 3)], [(0, 1)]], {0: 1}), ([[(0, 2), (NOWHERE, 1)]], None)]
)
def test_pods_that_differ_need_at_least_what_each_of_them_asks_for(
    asked: list[list[tuple[int, int]]], wanted: dict[int, int] | None
) -> None:
    needs = needed(3, asked, np.ones(1, dtype=np.bool_))
    found = None if needs is None else dict(zip(needs.lines.tolist(), needs.amounts.tolist(), strict=True))
    assert found == wanted
