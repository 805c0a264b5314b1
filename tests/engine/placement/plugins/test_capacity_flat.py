"""Capacity, flat: real, deserved and shares of a list of queues."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.plugins.capacity_flat import Flat, Standing
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task

some = st.dictionaries(st.sampled_from(["cpu", "memory", "gpu"]), st.integers(0, 6), max_size=3)
queues = st.fixed_dictionaries({"capability": some, "deserved": some, "guarantee": st.just({}) | some})


def flat(**said: dict[str, Any]) -> Flat:
    scene = Scene(node("n", cpu=8, memory=8, gpu=4, pods=10), *(line(name, **fields) for name, fields in said.items()))
    return Flat.of(scene.open())


@given(queues, queues)
def test_deserved_lies_between_the_guarantee_and_what_may_be_had(a: dict[str, Any], b: dict[str, Any]) -> None:
    found = flat(a=a, b=b)
    for name in "ab":
        deserved, guarantee, real = found.deserved[name], found.guarantee[name], found.real[name]
        assert all(amount >= guarantee.get(d, 0) for d, amount in deserved.items())
        assert all(amount <= max(real[d], guarantee.get(d, 0)) for d, amount in deserved.items() if d in real)


@given(queues, queues)
def test_a_queue_never_gets_what_is_guaranteed_to_the_other(a: dict[str, Any], b: dict[str, Any]) -> None:
    found, total = flat(a=a, b=b), {"cpu": 8000, "memory": 8, "nvidia.com/gpu": 4000}
    for one, other in ("ab", "ba"):
        for d, amount in total.items():
            others = found.guarantee[other].get(d, 0)
            assert found.real[one].get(d, 0) <= max(amount - others, found.guarantee[one].get(d, 0))


@pytest.mark.parametrize(
    ("allocated", "deserved", "share"),
    [
        ({}, {}, 1.0),
        ({"cpu": 9}, {"cpu": 0, "pods": 5}, 1.0),
        ({}, {"cpu": 2}, 0.0),
        ({"cpu": 1, "memory": 3}, {"cpu": 2, "memory": 4}, 0.75),
        ({"gpu": 9, "cpu": 1}, {"cpu": 2}, 0.5),
    ],
)
def test_the_share_is_the_largest_part_of_what_is_deserved(
    allocated: dict[str, float], deserved: dict[str, float], share: float
) -> None:
    assert Standing.of(allocated, deserved).share == share


def test_among_equal_shares_who_deserves_something_goes_first() -> None:
    full, none = Standing.of({"cpu": 2}, {"cpu": 2}), Standing.of({}, {})
    assert full.compare(none) < 0 < none.compare(full)
    assert Standing.of({}, {"cpu": 2}).compare(full) < 0
    assert none.compare(Standing.of({"cpu": 9}, {})) == 0


def test_a_list_has_no_one_above_and_nothing_below() -> None:
    found = flat(a={}, b={})
    assert found.sound
    assert (found.path("a"), found.above("a", 9), found.whole("a")) == (("a",), (), ("a",))
    assert found.depth("a", "b") == 0


def test_shares_follow_what_is_placed() -> None:
    scene = Scene(node("n", cpu=8), line("a", deserved={"cpu": 2}), line("b", deserved={"cpu": 2}), gang("a", "a"))
    found = Flat.of(scene.open())
    assert found.compare(scene.queue("a"), scene.queue("b")) == 0
    scene.put(task("a-0", "a", cpu=1, node="n"))
    assert found.compare(scene.queue("a"), scene.queue("b")) > 0
