"""The real clock."""

from __future__ import annotations

import time

from kumi.runtime.clock import RealClock


async def test_it_tells_the_machines_time_in_milliseconds() -> None:
    clock = RealClock()
    before = time.time_ns() // 1_000_000
    now = clock.now_ms()
    assert before <= now <= time.time_ns() // 1_000_000


async def test_it_never_goes_back_and_sleeps_at_least_as_long_as_asked() -> None:
    clock = RealClock()
    start = clock.monotonic_ms()
    await clock.sleep_ms(2)
    assert clock.monotonic_ms() - start >= 1
