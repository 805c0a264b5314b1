"""Which queues have queues below them, asked again and again while queues come, change and go."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.scheme import Scheme, load
from kumi.api.volcano import Queue
from kumi.registry import parents
from kumi.registry.objects import Objects
from kumi.registry.parents import Parents, parent_of
from tests.registry.world import World

NAMES = ("a", "b", "c")
STEP = st.tuples(st.sampled_from(NAMES), st.sampled_from(["", *NAMES, "gone"])).filter(lambda step: step[0] != step[1])
STEPS = st.lists(STEP, max_size=12)


def test_a_queue_says_whom_it_is_below() -> None:
    assert [parent_of(queue) for queue in ({}, {"spec": None}, {"spec": {"parent": "a"}})] == ["", "", "a"]


@given(STEPS, st.sets(st.integers(0, 11)))
@settings(max_examples=60, deadline=None)
def test_whoever_is_a_parent_now_has_children(steps: list[tuple[str, str]], asked: set[int]) -> None:
    async def play() -> None:
        world = World(load())
        known, there = Parents(Objects(world.store), world.scheme.of(Queue)), dict[str, str]()
        for n, (name, parent) in enumerate(steps):
            if name in there:
                await world.delete("Queue", name)
                del there[name]
            if parent != "gone":
                await world.create("Queue", {"metadata": {"name": name}, "spec": {"parent": parent}})
                there[name] = parent
            if n in asked:
                assert [known.has_children(one) for one in NAMES] == [one in there.values() for one in NAMES]
        assert [known.has_children(one) for one in NAMES] == [one in there.values() for one in NAMES]

    asyncio.run(play())


async def test_a_queue_that_changes_is_below_another(scheme: Scheme) -> None:
    world = World(scheme)
    known = Parents(Objects(world.store), scheme.of(Queue))
    await world.create("Queue", {"metadata": {"name": "x"}, "spec": {"parent": "a"}})
    assert known.has_children("a")
    await world.patch("Queue", "x", {"spec": {"parent": "b"}})
    assert [known.has_children(name) for name in "ab"] == [False, True]


async def test_after_more_writes_than_a_watch_keeps_all_are_read_again(scheme: Scheme) -> None:
    world = World(scheme, bound=2)
    known = Parents(Objects(world.store), scheme.of(Queue))
    assert not known.has_children("a")
    for n in range(4):
        await world.create("Queue", {"metadata": {"name": f"q{n}"}, "spec": {"parent": "a"}})
    assert known.has_children("a")
    for n in range(4):
        await world.patch("Queue", f"q{n}", {"spec": {"parent": "b"}})
    assert [known.has_children(name) for name in "ab"] == [False, True]


async def test_only_what_was_written_since_is_read_again(scheme: Scheme, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(scheme)
    known = Parents(Objects(world.store), scheme.of(Queue))
    for n in range(20):
        await world.create("Queue", {"metadata": {"name": f"q{n}"}, "spec": {"parent": "a"}})
    assert known.has_children("a")
    read: list[object] = []
    monkeypatch.setattr(parents, "parent_of", lambda queue: read.append(queue["metadata"]["name"]) or "b")
    for weight in (2, 3):
        await world.patch("Queue", "q7", {"spec": {"weight": weight}})
    assert known.has_children("b")
    assert known.has_children("b")
    assert read == ["q7"]
