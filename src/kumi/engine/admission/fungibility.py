"""Fungibility: which flavor is better, and when the search for one may stop.

The rule, for two flavors that were looked at, each with its mode and level (assignment.py):
    better        one that is no fit loses to all others, then one without candidates; then the better mode, then the lower level.
                  Where the queue prefers preemption: the lower level, then the better mode. Equal: the one that comes first.
    stop          at a flavor that fits or could by eviction, unless it evicts and the queue would rather try the next one, or
                  it borrows and the queue would rather try the next one
Why            a flavor for which nobody may be evicted can't succeed now: it never outranks one that fits, whatever is preferred.
Cost           O(1).
Source         Kueue: flavor fungibility (KEP-582), preference (KEP-3948).
Not here       where modes and levels come from: question.py.
"""

from __future__ import annotations

from typing import TypeAlias

from kumi.engine.admission.assignment import Mode
from kumi.engine.model import Fungibility

Rank: TypeAlias = tuple[int, int, int]
"""greater is better"""


def rank(mode: Mode, level: int, how: Fungibility) -> Rank:
    """Where a flavor of that mode and level stands among others."""
    viable = min(mode, Mode.PREEMPT)
    return (viable, -level, mode) if how.prefer_preemption else (viable, mode, -level)


def better(one: tuple[Mode, int], other: tuple[Mode, int], how: Fungibility) -> bool:
    """Is (mode, level) of one flavor strictly better than that of the other?"""
    return one[0] is not Mode.NO_FIT and rank(*one, how) > rank(*other, how)


def stops(mode: Mode, level: int, how: Fungibility) -> bool:
    """May the search end at a flavor of that mode and level?"""
    if mode <= Mode.NO_CANDIDATES:
        return False
    if mode.evicts and not how.stop_at_preemption:
        return False
    return level == 0 or how.stop_at_borrowing
