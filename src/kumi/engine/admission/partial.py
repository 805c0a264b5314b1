"""Partial: fewer pods, where the job allows it and all of them can't start.

The rule       a pod set with a least number may go down from its count to that; d is how far, D the sum of d over the pod sets.
               Step i gives each pod set count - floor(d * i / D) pods; step 0 is all of them, step D the fewest. The first step
               that succeeds is taken, found by halving.
Why            pod sets shrink in step, and the most pods that can start do. Halving asks O(log D) times; it finds the first step
               that succeeds where fewer pods never do worse.
Cost           O(log D) tries.
Source         Kueue: partial admission (KEP-420).
Not here       what succeeding means: whoever tries says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kumi.engine.model import Workload

T = TypeVar("T")


def largest(workload: Workload, attempt: Callable[[tuple[int, ...]], T | None]) -> T | None:
    """What the attempt gave with the most pods for which it gave anything; None where it never did, or no pod set may shrink.
    It is asked with the pods of each pod set."""
    room = [p.count - (p.count if p.least is None else min(p.least, p.count)) for p in workload.pod_sets]
    total = sum(room)
    if not total:
        return None
    found: T | None = None
    low, high = 0, total + 1
    while low < high:
        middle = (low + high) // 2
        counts = tuple(p.count - d * middle // total for p, d in zip(workload.pod_sets, room, strict=True))
        given = attempt(counts) if middle <= total else None
        if given is not None:
            found, high = given, middle
        else:
            low = middle + 1
    return found
