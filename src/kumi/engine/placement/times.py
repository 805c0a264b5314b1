"""Times: lengths of time as people write them, `1h30m` or `500ms`.

Units      milliseconds.
"""

from __future__ import annotations

import re
from math import inf

_UNITS_MS = {"h": 3_600_000.0, "m": 60_000.0, "s": 1_000.0, "ms": 1.0, "us": 0.001, "µs": 0.001, "ns": 0.000_001}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|us|µs|ns|m|s)")


def duration_ms(text: str) -> int | None:
    """The length; None where it is none, or not above 0."""
    total, at = 0.0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        total += float(part[1]) * _UNITS_MS[part[2]]
        at = part.end()
    return int(total) if 0 < total < inf else None
