"""Uids: never used before, and in the order in which they were given out.

The rule   a UUID of version 7: 48 bits of milliseconds, a count of 12 bits within one, 62 random bits. Where the clock stands
           still or goes back, the count goes on, and past its end the milliseconds do.
Why        creation times are whole seconds, and queues break a tie by the uid: so the first to come stays the first.
Source     RFC 9562, section 5.7 and method 1 of 6.2.
"""

from __future__ import annotations

import os
from collections.abc import Callable

COUNT_BITS = 12


class Uids:
    """Call it for the next one. `clock_ms`: now, milliseconds since the epoch; `entropy`: so many random bytes."""

    def __init__(self, clock_ms: Callable[[], int], entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._clock_ms, self._entropy = clock_ms, entropy
        self._last = 0

    def __call__(self) -> str:
        self._last = max(self._clock_ms() << COUNT_BITS, self._last + 1)
        time, count = self._last >> COUNT_BITS, self._last & ((1 << COUNT_BITS) - 1)
        chance = int.from_bytes(self._entropy(8), "big") >> 2
        digits = f"{time << 80 | 7 << 76 | count << 64 | 2 << 62 | chance:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
