"""A clock whose hands a test holds: nothing sleeps, and what would have happened in an hour happens now, in order.

    clock = VirtualClock()
    task = asyncio.create_task(loop_under_test(clock))
    await clock.advance(60_000)        # everybody who sleeps until then wakes in order of time, each at its own time

Two sleepers of the same moment wake in the order in which they went to sleep.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from itertools import count

START_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z: where a virtual clock starts."""

ROUNDS = 100
"""Turns of an event loop whose queue can't be seen, after which it counts as idle."""


class VirtualClock:
    """See kumi.runtime.clock.Clock."""

    def __init__(self, start_ms: int = START_MS) -> None:
        self._now = start_ms
        self._order = count()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        """See Clock."""
        return self._now

    def monotonic_ms(self) -> int:
        """See Clock."""
        return self._now

    async def sleep_ms(self, delay_ms: int) -> None:
        """See Clock."""
        if delay_ms <= 0:
            await asyncio.sleep(0)
            return
        wake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + delay_ms, next(self._order), wake))
        await wake

    @property
    def next_ms(self) -> int | None:
        """When the next sleeper wakes; None if nobody sleeps."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    async def advance(self, delay_ms: int = 0) -> None:
        """Moves on by that long, waking sleepers on the way; returns when everybody has run as far as they can."""
        until = self._now + delay_ms
        await idle()
        while (at := self.next_ms) is not None and at <= until:
            await self._wake(at)
        self._now = until

    async def run_until(self, reached: Callable[[], bool], limit_ms: int = 3_600_000) -> None:
        """Moves on from sleeper to sleeper until `reached()`; AssertionError after `limit_ms`, or if nobody sleeps."""
        until = self._now + limit_ms
        await idle()
        while not reached():
            at = self.next_ms
            assert at is not None, "nothing can happen any more, and it was not reached"
            assert at <= until, f"not reached in {limit_ms} ms"
            await self._wake(at)

    async def _wake(self, at_ms: int) -> None:
        self._now = max(self._now, at_ms)
        _, _, wake = heapq.heappop(self._sleepers)
        if not wake.done():
            wake.set_result(None)
        await idle()


async def idle() -> None:
    """Returns when no task can run on without time, input or another thread."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    for _ in range(ROUNDS if ready is None else 1_000_000):
        await asyncio.sleep(0)
        if ready is not None and not ready:
            return
    assert ready is None, "the tasks never come to rest"
