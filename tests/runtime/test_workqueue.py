"""The work queue."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from kumi.api.measures import Sample
from kumi.runtime.workqueue import WorkQueue, measures
from kumi.testing.clock import START_MS, VirtualClock, idle


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def queue(clock: VirtualClock) -> AsyncIterator[WorkQueue]:
    queue = WorkQueue(clock)
    timers = asyncio.ensure_future(queue.run())
    await idle()
    yield queue
    timers.cancel()
    await asyncio.gather(timers, return_exceptions=True)


async def drain(queue: WorkQueue) -> list[str]:
    """Everything that waits now, in order."""
    keys = []
    while len(queue):
        keys.append(await queue.get())
        queue.done(keys[-1])
    return keys


async def test_keys_come_out_once_each_in_the_order_in_which_they_came_in(queue: WorkQueue) -> None:
    for key in "abacb":
        queue.add(key)
    assert await drain(queue) == ["a", "b", "c"]


async def test_a_key_that_is_added_while_in_a_hand_comes_again_after_it_and_behind_the_others(queue: WorkQueue) -> None:
    queue.add("a")
    held = await queue.get()
    queue.add("a")
    queue.add("b")
    queue.add("a")
    assert len(queue) == 1
    queue.done(held)
    assert await drain(queue) == ["b", "a"]


async def test_who_waits_gets_the_next_key(queue: WorkQueue) -> None:
    waiting = asyncio.ensure_future(queue.get())
    await idle()
    queue.add("a")
    assert await waiting == "a"
    assert not queue.idle
    queue.done("a")
    assert queue.idle


async def test_a_getter_that_is_cancelled_loses_no_key(queue: WorkQueue) -> None:
    waiting = asyncio.ensure_future(queue.get())
    await idle()
    queue.add("a")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await drain(queue) == ["a"]


async def test_failures_in_a_row_wait_twice_as_long_each_up_to_a_bound(queue: WorkQueue, clock: VirtualClock) -> None:
    waits = []
    for _ in range(15):
        start = clock.now_ms()
        queue.back_off("a")
        await clock.run_until(lambda: len(queue) == 1)
        waits.append(clock.now_ms() - start)
        await drain(queue)
    assert waits == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 30000, 30000]
    assert queue.failures("a") == 15
    queue.forget("a")
    queue.back_off("a")
    await clock.advance(5)
    assert await drain(queue) == ["a"]


async def test_a_back_off_can_be_asked_to_be_longer(queue: WorkQueue, clock: VirtualClock) -> None:
    queue.back_off("a", 2_000)
    await clock.advance(1_999)
    assert len(queue) == 0
    await clock.advance(1)
    assert await drain(queue) == ["a"]


async def test_a_key_that_backs_off_is_looked_at_at_once_when_something_changes(queue: WorkQueue) -> None:
    queue.back_off("a", 2_000)
    queue.add("a")
    assert await drain(queue) == ["a"]


async def test_a_key_wakes_at_its_time(queue: WorkQueue, clock: VirtualClock) -> None:
    queue.wake("b", START_MS + 20)
    queue.wake("a", START_MS + 10)
    queue.wake("now", START_MS - 5)
    await idle()
    assert await drain(queue) == ["now"]
    await clock.advance(10)
    assert await drain(queue) == ["a"]
    await clock.advance(10)
    assert await drain(queue) == ["b"]


@pytest.mark.parametrize(("wish", "times"), [(50, [50]), (5, [5]), (None, [])])
async def test_a_later_wish_takes_the_place_of_an_earlier_one(
    queue: WorkQueue, clock: VirtualClock, wish: int | None, times: list[int]
) -> None:
    queue.wake("a", START_MS + 10)
    await idle()
    queue.wake("a", None if wish is None else START_MS + wish)
    woken = []
    for _ in range(60):
        await clock.advance(1)
        woken += [clock.now_ms() - START_MS for _ in await drain(queue)]
    assert woken == times


async def test_wishes_that_are_replaced_over_and_over_do_not_pile_up(queue: WorkQueue, clock: VirtualClock) -> None:
    queue.wake("b", START_MS + 7_000)
    for later in range(10_000):
        queue.wake("a", START_MS + 3_600_000 - later)
    assert len(queue._heap) < 200
    await clock.advance(7_000)
    assert await drain(queue) == ["b"]
    await clock.advance(3_600_000 - 9_999 - 7_000)
    assert await drain(queue) == ["a"]


async def test_a_back_off_does_not_put_off_an_earlier_wish(queue: WorkQueue, clock: VirtualClock) -> None:
    queue.wake("a", START_MS + 10)
    queue.back_off("a", 1_000)
    await clock.advance(10)
    assert await drain(queue) == ["a"]


async def test_a_wake_survives_a_clock_that_is_set_back(clock: VirtualClock) -> None:
    class SetBack(VirtualClock):
        def now_ms(self) -> int:
            return super().now_ms() - self.back

        back = 0

    set_back = SetBack()
    queue = WorkQueue(set_back)
    timers = asyncio.ensure_future(queue.run())
    queue.wake("a", set_back.now_ms() + 100)
    set_back.back = 3_600_000
    await set_back.advance(100)
    assert await drain(queue) == ["a"]
    timers.cancel()


async def test_a_held_key_is_kept_back_until_it_is_released(queue: WorkQueue) -> None:
    queue.add("a")
    queue.hold(await queue.get(), 1_000)
    queue.add("a")
    queue.done("a")
    queue.add("a")
    assert len(queue) == 0
    queue.release("a")
    assert await drain(queue) == ["a"]
    queue.release("a")
    assert await drain(queue) == []


async def test_a_key_that_is_released_in_a_hand_stays_in_that_one_hand(queue: WorkQueue) -> None:
    queue.add("a")
    queue.hold(await queue.get(), 1_000)
    queue.add("a")
    queue.release("a")
    assert len(queue) == 0
    queue.done("a")
    assert await drain(queue) == ["a"]


async def test_a_held_key_that_nobody_wanted_does_not_come_by_itself(queue: WorkQueue, clock: VirtualClock) -> None:
    queue.add("a")
    queue.hold(await queue.get(), 1_000)
    queue.done("a")
    queue.release("a")
    await clock.advance(2_000)
    assert await drain(queue) == []
    queue.add("a")
    assert await drain(queue) == ["a"]


async def test_a_hold_ends_by_itself_in_the_end(queue: WorkQueue, clock: VirtualClock) -> None:
    queue.add("a")
    queue.hold(await queue.get(), 1_000)
    queue.done("a")
    queue.add("a")
    await clock.advance(999)
    assert len(queue) == 0
    await clock.advance(1)
    assert await drain(queue) == ["a"]


@pytest.mark.parametrize("seed", range(10))
async def test_no_key_is_in_two_hands_and_none_that_was_added_is_lost(
    queue: WorkQueue, clock: VirtualClock, seed: int
) -> None:
    chance = random.Random(seed)
    in_hand: set[str] = set()
    asked: dict[str, int] = {}
    looked: dict[str, int] = {}

    async def worker() -> None:
        while True:
            key = await queue.get()
            assert key not in in_hand
            in_hand.add(key)
            looked[key] = asked.get(key, 0)
            await clock.sleep_ms(chance.randint(0, 5))
            if chance.random() < 0.2:
                queue.hold(key, chance.randint(1, 20))
            if chance.random() < 0.3:
                queue.back_off(key)
            else:
                queue.forget(key)
            in_hand.discard(key)
            queue.done(key)

    workers = [asyncio.ensure_future(worker()) for _ in range(3)]
    for count in range(1, 201):
        key = chance.choice("abcde")
        asked[key] = count
        queue.add(key)
        if chance.random() < 0.1:
            queue.release(chance.choice("abcde"))
        await clock.advance(chance.randint(0, 3))
    await clock.advance(60_000)
    assert looked == asked
    assert queue.idle
    for task in workers:
        task.cancel()
    done = await asyncio.gather(*workers, return_exceptions=True)
    assert {type(d) for d in done} == {asyncio.CancelledError}


async def test_a_queue_tells_what_came_how_long_it_waited_and_was_worked_on(
    queue: WorkQueue, clock: VirtualClock
) -> None:
    queue.add("a")
    queue.add("a")
    queue.add("b")
    await clock.advance(30)
    assert await queue.get() == "a"
    queue.add("a")
    queue.add("a")
    await clock.advance(200)
    told = {family.name: family.samples for family in measures({"loop": queue})}
    assert told["workqueue_adds_total"] == (Sample(("loop",), 3),)
    assert told["workqueue_depth"] == (Sample(("loop",), 1),)
    assert told["workqueue_unfinished_work_seconds"] == (Sample(("loop",), 0.2),)
    assert told["workqueue_longest_running_processor_seconds"] == (Sample(("loop",), 0.2),)
    queue.back_off("a")
    queue.done("a")
    assert queue.adds == 3
    assert queue.retries == 1
    assert (queue.waited_s.count, queue.waited_s.total) == (1, 0.03)
    assert (queue.worked_s.count, queue.worked_s.total) == (1, 0.2)
