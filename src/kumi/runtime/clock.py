"""The clock: three methods, so that a test or the time machine can hold the hands."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Time as the loops see it, in milliseconds."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, UTC."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds that never go back; only differences mean something."""
        ...

    async def sleep_ms(self, delay_ms: int) -> None:
        """Returns after that long."""
        ...


class RealClock:
    """The machine's own time."""

    def now_ms(self) -> int:
        """See Clock."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """See Clock."""
        return time.monotonic_ns() // 1_000_000

    async def sleep_ms(self, delay_ms: int) -> None:
        """See Clock."""
        await asyncio.sleep(delay_ms / 1000)
