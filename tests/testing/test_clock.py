"""The virtual clock."""

from __future__ import annotations

import asyncio

import pytest

from kumi.testing.clock import START_MS, VirtualClock


async def test_sleepers_wake_in_order_of_time_and_then_of_arrival_each_at_its_own_time() -> None:
    clock = VirtualClock()
    woken = []

    async def sleeper(name: str, ms: int) -> None:
        await clock.sleep_ms(ms)
        woken.append((name, clock.now_ms() - START_MS))

    tasks = [asyncio.ensure_future(sleeper(n, ms)) for n, ms in (("a", 20), ("b", 10), ("c", 20), ("d", 50))]
    await clock.advance(30)
    assert woken == [("b", 10), ("a", 20), ("c", 20)]
    assert clock.now_ms() == START_MS + 30
    assert clock.next_ms == START_MS + 50
    await clock.advance(20)
    assert [name for name, _ in woken] == ["b", "a", "c", "d"]
    await asyncio.gather(*tasks)


async def test_who_sleeps_again_wakes_again_within_one_advance() -> None:
    clock = VirtualClock()
    ticks = []

    async def ticker() -> None:
        while True:
            await clock.sleep_ms(10)
            ticks.append(clock.now_ms() - START_MS)

    task = asyncio.ensure_future(ticker())
    await clock.advance(35)
    assert ticks == [10, 20, 30]
    task.cancel()
    await clock.advance(100)
    assert ticks == [10, 20, 30]


async def test_running_until_something_is_reached_stops_there_and_not_later() -> None:
    clock = VirtualClock()
    task = asyncio.ensure_future(clock.sleep_ms(5_000))
    await clock.run_until(task.done)
    assert clock.now_ms() == START_MS + 5_000
    with pytest.raises(AssertionError, match="nothing can happen"):
        await clock.run_until(lambda: False)


async def test_what_takes_too_long_is_not_waited_for() -> None:
    clock = VirtualClock()
    task = asyncio.ensure_future(clock.sleep_ms(5_000))
    with pytest.raises(AssertionError, match="not reached in 100 ms"):
        await clock.run_until(task.done, limit_ms=100)
    task.cancel()
