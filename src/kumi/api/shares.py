"""Numbers that may be written as a share of a whole: `3`, `"25%"` (IntOrString).

Source     Kubernetes: rolling updates (maxSurge rounds up, maxUnavailable down), disruption budgets (round up).
"""

from __future__ import annotations


def share_of(value: int | str | None, total: int, *, up: bool) -> int:
    """The number that it stands for of `total`, a share rounded `up` or down; 0 for nothing."""
    if isinstance(value, str):
        parts = int(value.rstrip("%") or 0) * total
        return -(-parts // 100) if up else parts // 100
    return value or 0
