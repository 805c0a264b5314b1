"""What Kubernetes adds to CEL's lists: isSorted, sum, min, max.

Not here   indexOf and lastIndexOf of lists: the library has these names for text, and takes no second meaning."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any

from kumi.registry.custom.cel.data import span
from kumi.registry.custom.cel.functions import BOOL, DYN, LIST, member


def is_sorted(items: list[Any]) -> bool:
    """Whether no item is greater than the one after it."""
    return all(a <= b for a, b in pairwise(items))


def total(items: list[Any]) -> Any:
    """The sum; 0 for none."""
    if items and isinstance(items[0], dt.timedelta):
        return span(sum(items, dt.timedelta()))
    return sum(items)


def least(items: list[Any]) -> Any:
    """The smallest."""
    if not items:
        raise ValueError("min called on empty list")
    return min(items)


def most(items: list[Any]) -> Any:
    """The greatest."""
    if not items:
        raise ValueError("max called on empty list")
    return max(items)


FUNCTIONS = (
    member("isSorted", ([LIST], BOOL, is_sorted)),
    member("sum", ([LIST], DYN, total)),
    member("min", ([LIST], DYN, least)),
    member("max", ([LIST], DYN, most)),
)
