"""One step of a rollout: the bounds hold, whatever the sets are like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.apps import RollingUpdate
from kumi.controllers.rollout import Bounds, Size, bounds, grown, shared, shrunk


@st.composite
def sizes(draw: st.DrawFn) -> list[Size]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        replicas = draw(st.integers(0, 12))
        found.append(Size(f"s{number}", replicas, draw(st.integers(0, replicas)), draw(st.integers(0, 20))))
    return found


@st.composite
def limits(draw: st.DrawFn) -> Bounds:
    wanted = draw(st.integers(0, 12))
    asked = RollingUpdate(
        max_surge=draw(st.integers(0, 5) | st.sampled_from(["0%", "25%", "100%"])),
        max_unavailable=draw(st.integers(0, 5) | st.sampled_from(["0%", "25%", "100%"])),
    )
    return bounds(wanted, asked)


@given(limits(), sizes())
def test_a_step_up_stays_under_what_may_be_there(found: Bounds, sets: list[Size]) -> None:
    new, *old = sets
    size = grown(found, new, old)
    total = size + sum(each.replicas for each in old)
    assert 0 <= size <= found.wanted
    assert size <= new.replicas or total <= found.wanted + found.surge


@given(limits(), sizes())
def test_a_step_down_leaves_enough_that_are_available(found: Bounds, sets: list[Size]) -> None:
    new, *old = sets
    after = shrunk(found, new, old)
    left = {each.name: after.get(each.name, each.replicas) for each in old}
    assert all(0 <= left[each.name] <= each.replicas for each in old)
    before = new.available + sum(each.available for each in old)
    ready = new.available + sum(min(each.available, left[each.name]) for each in old)
    assert ready >= min(before, found.least)


@given(limits(), sizes())
def test_sharing_gives_exactly_the_room_there_is(found: Bounds, sets: list[Size]) -> None:
    after = shared(found, sets)
    active = [each for each in sets if each.replicas]
    total = sum(after.get(each.name, each.replicas) for each in active)
    assert all(size >= 0 for size in after.values())
    assert total == (found.most if active else 0)


@given(st.integers(1, 12), st.integers(0, 4), st.integers(0, 4))
def test_steps_end_where_all_pods_are_new(wanted: int, surge: int, missing: int) -> None:
    found = bounds(wanted, RollingUpdate(max_surge=surge, max_unavailable=missing))
    new, old = Size("new", 0, 0), Size("old", wanted, wanted)
    for _ in range(4 * wanted + 4):
        up = grown(found, new, [old])
        new = Size("new", up, up)
        down = shrunk(found, new, [old]).get("old", old.replicas)
        old = Size("old", down, down)
        assert new.replicas + old.replicas <= wanted + found.surge
        assert new.available + old.available >= wanted - found.missing
    assert (new.replicas, old.replicas) == (wanted, 0)


@pytest.mark.parametrize(
    ("wanted", "surge", "missing", "least", "most"),
    [(4, "25%", "25%", 3, 5), (1, "25%", "25%", 1, 2), (3, 0, 0, 2, 3), (10, "33%", "33%", 7, 14), (2, 0, 5, 0, 2)],
)
def test_shares_round_to_the_safe_side(
    wanted: int, surge: int | str, missing: int | str, least: int, most: int
) -> None:
    found = bounds(wanted, RollingUpdate(max_surge=surge, max_unavailable=missing))
    assert (found.least, found.most) == (least, most)


def test_pods_that_are_not_available_go_first_and_the_oldest_set_before_the_younger() -> None:
    found = Bounds(wanted=4, surge=0, missing=1)
    old = [Size("older", 2, 0), Size("old", 2, 2)]
    assert shrunk(found, Size("new", 1, 1), old) == {"older": 0}
    assert shrunk(found, Size("new", 4, 4), [Size("older", 1, 1), Size("old", 1, 1)]) == {"older": 0, "old": 0}


def test_what_is_scaled_in_the_middle_is_shared_in_proportion() -> None:
    found = Bounds(wanted=20, surge=0, missing=5)
    assert shared(found, [Size("new", 3, 0, 10), Size("old", 7, 7, 10)]) == {"new": 6, "old": 14}
    assert shared(Bounds(0, 0, 0), [Size("new", 3, 0, 10), Size("old", 7, 7, 10)]) == {"new": 0, "old": 0}
