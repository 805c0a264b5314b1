"""Amounts: comparing and sharing out what queues and gangs have.

The rule, for amounts by resource (what isn't named is 0):
    covers(r, l)       l(d) <= r(d) for cpu, memory and every d that l names, a tenth of a unit aside
    within(l, r, q)    l(d) <= r(d), exactly, for every d of which q asks for something; `pods` doesn't count
    share(l, r)        l / r; where r is 0: 0 if l is, else 1
    dominant(a, t)     max over the resources of t of share(a, t)
    beyond(a, b)       max(a - b, 0)
    capped(a, b)       min(a, b) where b names the resource
    limits(a)          what is written as a limit: of cpu and memory a 0 is none
Units      as in kumi.engine.model; sums are int64, what is shared out by weight is a float. A tenth of a unit: of a thousandth
           of a core or a device, of a byte, of a pod.
Source     Volcano: resource arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from kumi.engine.placement.nodes import ONE_POD, PODS

Sums: TypeAlias = Mapping[str, float]
Shared: TypeAlias = dict[str, float]
"""amounts that were shared out"""

ALWAYS = ("cpu", "memory")


def tenth(resource: str) -> float:
    """What is as good as nothing of a resource."""
    return 0.1 * ONE_POD if resource == PODS else 0.1


def covers(right: Sums, left: Sums) -> bool:
    """Is `left` no more than `right`?"""
    for d, amount in left.items():
        if not _at_most(d, amount, right.get(d, 0)):
            return False
    return all(d in left or _at_most(d, 0, right.get(d, 0)) for d in ALWAYS)


def within(left: Sums, right: Sums, request: Iterable[tuple[str, float]]) -> bool:
    """Is `left` no more than `right` in what the request asks for?"""
    return all(left.get(d, 0) <= right.get(d, 0) for d, amount in request if amount > 0 and d != PODS)


def share(left: float, right: float) -> float:
    """How much of `right` it is."""
    if right == 0:
        return 0.0 if left == 0 else 1.0
    return left / right


def dominant(amounts: Sums, total: Sums) -> float:
    """The largest part of one of the resources of which there is something in total."""
    return max((share(amounts.get(d, 0), total[d]) for d in named(total)), default=0.0)


def plus(left: Sums, right: Sums) -> Shared:
    """The sum."""
    return {d: left.get(d, 0) + right.get(d, 0) for d in dict.fromkeys((*left, *right))}


def minus(left: Sums, right: Sums) -> Shared:
    """The difference; may be negative."""
    return {d: left.get(d, 0) - right.get(d, 0) for d in dict.fromkeys((*left, *right))}


def beyond(left: Sums, right: Sums) -> Shared:
    """What of `left` is past `right`."""
    return {d: max(left[d] - right.get(d, 0), 0) for d in left}


def capped(left: Sums, right: Sums) -> Shared:
    """No more than `right` in what that names."""
    return {d: min(left[d], right[d]) if d in right else left[d] for d in left}


def limits(written: Iterable[tuple[str, float]]) -> Shared:
    """What it limits."""
    return {d: amount for d, amount in written if amount > 0 or d not in ALWAYS}


def sum_of(parts: Iterable[Sums]) -> Sums:
    """All of them together; a single one is handed on as it is."""
    total: Sums | None = None
    for part in parts:
        total = part if total is None else plus(total, part)
    return {} if total is None else total


def most(left: Sums, right: Sums) -> Shared:
    """The larger of both."""
    return {d: max(left.get(d, 0), right.get(d, 0)) for d in dict.fromkeys((*left, *right))}


def is_empty(amounts: Sums) -> bool:
    """Nothing worth naming, pods aside."""
    return all(amount < tenth(d) for d, amount in amounts.items() if d != PODS)


def named(amounts: Sums) -> list[str]:
    """The resources of which there is something."""
    return [d for d, amount in amounts.items() if amount >= tenth(d)]


def same(left: Sums, right: Sums) -> bool:
    """A tenth of a unit aside."""
    return covers(left, right) and covers(right, left)


def _at_most(resource: str, left: float, right: float) -> bool:
    return left < right or abs(left - right) < tenth(resource)
