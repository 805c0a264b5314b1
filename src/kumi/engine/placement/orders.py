"""Orders: who goes first where no plug-in has an opinion, and how keys compare.

The rule   tasks    the smaller number at the end where both names have three parts or more and end in different numbers, then the
                    earlier creation, then the smaller uid
           gangs    the earlier creation, then the smaller key
Total      no two are equal.
Source     Volcano: session order functions.
Not here   what plug-ins say first: framework.py; what is kept sorted: heap.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kumi.engine.model import Pod
from kumi.engine.placement.tasks import Job


def by_number(one: Pod, other: Pod) -> int:
    """Of tasks. Negative: `one` goes first."""
    a, b = tail(one.name), tail(other.name)
    if a is not None and b is not None and a != b:
        return -1 if a < b else 1
    return compare((one.created_ms, one.uid), (other.created_ms, other.uid))


def tail(name: str) -> int | None:
    """The number at the end of a name of three parts or more."""
    if name.count("-") < 2:
        return None
    last = name.rpartition("-")[2]
    return int(last) if last.isascii() and last.isdigit() else None


def turn(job: Job) -> tuple[int, str]:
    """Of gangs: the smaller one goes first."""
    return (job.group.created_ms if job.group is not None else 0, job.key)


def by_key(key: Callable[[Any], Any]) -> Callable[[Any, Any], int]:
    """An order by keys. Negative: the first goes first."""
    return lambda one, other: compare(key(one), key(other))


def compare(one: Any, other: Any) -> int:
    """Negative: `one` is smaller; 0: neither is."""
    return int(one > other) - int(one < other)
