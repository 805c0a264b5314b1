"""Writes whose answer was lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from kumi.api.errors import ApiError, conflict
from kumi.runtime.doubts import Doubts, in_doubt
from kumi.runtime.expectations import HOLD_MS, Expected

from .kinds import THINGS, Thing, thing
from .world import World


class Doubting(World):
    """A world with things, and doubts about them."""

    def __init__(self) -> None:
        super().__init__()
        self.woken = 0
        self.doubts: Doubts[str] = Doubts(self.informers, self.clock, self.wake)
        self.informers.subscribe(
            [Thing], lambda type_, old, new: self.doubts.changed(type_, (new or old).key), self.doubts.progressed
        )  # type: ignore[union-attr]

    def wake(self) -> None:
        self.woken += 1

    def doubt(self, about: str, name: str, before: str = "") -> None:
        self.doubts.add(about, Expected(Thing, f"default/{name}", before), 10)


@pytest.fixture
async def world() -> AsyncIterator[Doubting]:
    world = Doubting()
    await world.client.create(thing("a"))
    await world.start()
    yield world
    world.doubts.close()
    await world.stop()


def test_only_a_clear_refusal_leaves_no_doubt() -> None:
    assert [in_doubt(e) for e in (ConnectionError(), TimeoutError(), RuntimeError(), ApiError(504, "Timeout", ""))] == [
        True
    ] * 4
    assert [in_doubt(e) for e in (conflict("x", "x"), ApiError(429, "TooManyRequests", ""))] == [False] * 2


async def test_a_view_that_is_as_new_as_the_server_clears_the_doubt_once(world: Doubting) -> None:
    world.doubt("write", "a", "2")
    assert world.doubts.cleared() == []
    await world.clock.advance(10)
    assert world.woken == 1
    assert world.doubts.cleared() == ["write"]
    assert world.doubts.cleared() == []
    assert len(world.doubts) == 0


async def test_a_view_that_is_behind_has_to_catch_up_first(world: Doubting) -> None:
    world.client.hold()
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 9}})
    world.doubt("write", "a", "2")
    await world.clock.advance(1_000)
    assert world.doubts.cleared() == []
    world.client.deliver()
    await world.clock.advance()
    assert world.doubts.cleared() == ["write"]


async def test_what_was_not_made_clears_and_what_was_made_has_to_show(world: Doubting) -> None:
    world.client.hold()
    await world.client.create(thing("made"))
    world.doubt("made", "made")
    world.doubt("not made", "none")
    await world.clock.advance(10)
    assert world.doubts.cleared() == ["not made"]
    world.client.deliver()
    await world.clock.advance()
    assert world.doubts.cleared() == ["made"]


async def test_what_is_gone_has_to_be_gone_from_the_view(world: Doubting) -> None:
    world.client.hold()
    await world.client.delete(THINGS, "default", "a")
    world.doubt("write", "a", "2")
    await world.clock.advance(10)
    assert world.doubts.cleared() == []
    world.client.deliver()
    await world.clock.advance()
    assert world.doubts.cleared() == ["write"]


async def test_a_server_out_of_reach_is_asked_again_less_and_less_often(world: Doubting) -> None:
    asked: list[int] = []
    start, get = world.clock.now_ms(), world.client.get

    async def unreachable(*args: object) -> dict[str, object]:
        asked.append(world.clock.now_ms() - start)
        if len(asked) < 5:
            raise ConnectionError("no route") if len(asked) % 2 else ApiError(503, "ServiceUnavailable", "")
        return await get(*args)  # type: ignore[arg-type]

    world.client.get = unreachable  # type: ignore[method-assign]
    world.doubt("write", "a", "2")
    await world.clock.advance(1_000)
    assert asked == [10, 30, 70, 150, 310]
    assert world.doubts.cleared() == ["write"]


async def test_a_view_that_never_catches_up_is_waited_for_a_bounded_time(world: Doubting) -> None:
    world.client.hold()
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 9}})
    world.doubt("write", "a", "2")
    assert world.doubts.until_ms is None
    await world.clock.advance(10)
    assert world.doubts.until_ms == world.clock.monotonic_ms() + HOLD_MS
    await world.clock.advance(HOLD_MS - 1)
    assert world.doubts.cleared() == []
    await world.clock.advance(1)
    assert world.doubts.cleared() == ["write"]


async def test_what_came_and_went_unseen_is_cleared_by_the_next_list(world: Doubting) -> None:
    world.client.hold()
    await world.client.create(thing("made"))
    world.doubt("write", "made")
    await world.clock.advance(10)
    assert world.doubts.cleared() == []
    await world.client.delete(THINGS, "default", "made")
    world.client.compact()
    world.client.cut(ConnectionError("reset"))
    woken = world.woken
    await world.clock.advance(1_000)
    assert world.woken == woken + 1
    assert world.doubts.cleared() == ["write"]


async def test_closing_ends_the_reading(world: Doubting) -> None:
    world.doubt("write", "a", "2")
    await asyncio.sleep(0)
    world.doubts.close()
    await world.clock.advance(1_000)
    assert world.doubts.cleared() == []
    assert world.woken == 0
