"""Paired: whether policies had the same jobs, which whoever compares them takes for granted.

The rule   runs of equal parameters and seed must have had the same arrivals: names, times, lengths, deadlines, priorities, pods
           and what these ask for. Each run is held against the first one, as far as both were played; of two that were played to
           their ends neither may have had more. One that had others says so in its notes
Why        a generator that draws without its seed gives each policy a load of its own, and figures side by side say nothing of
           the policies any more. Most are refused when they are read (scenarios); what shows only later shows here.
Cost       O(jobs) a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kumi.evaluator.facts import Facts, Kind
from kumi.evaluator.play import Played

NOTE = (
    "its jobs are not those that {other} had with seed {seed} (the first that differs: {job}), so the two can't be compared: "
    "a load must be the same for equal seeds"
)


def paired(found: Sequence[Played | None]) -> list[Played | None]:
    """The results, with a note on each that had other jobs than the first of its seed."""
    first: dict[tuple[object, int], Played] = {}
    told: list[Played | None] = []
    for one in found:
        other = None if one is None else first.setdefault((one.parameters, one.seed), one)
        told.append(one if one is None or other is None or other is one else _noted(other, one))
    return told


def _noted(first: Played, one: Played) -> Played:
    job = first_other(first, one)
    note = NOTE.format(other=first.policy, seed=one.seed, job=job)
    return replace(one, notes=(*one.notes, note)) if job else one


def first_other(one: Played, other: Played) -> str:
    """The key of the first job in which the two differ, as the second has it where it has that; "": none."""
    mine, theirs = one.facts, other.facts
    many = min(len(mine.jobs), len(theirs.jobs))
    odd = np.zeros(many, dtype=np.bool_)
    for column in ("arrival", "work", "said", "deadline", "priority"):
        odd |= getattr(mine.jobs, column)[:many] != getattr(theirs.jobs, column)[:many]
    numbers: dict[object, int] = {}
    odd |= _kinds(mine, numbers)[:many] != _kinds(theirs, numbers)[:many]
    odd |= _lengths(mine)[:many] != _lengths(theirs)[:many]
    row = int(np.argmax(odd)) if odd.any() else many
    if mine.jobs.key_bytes[: mine.jobs.key_ends[row]] != theirs.jobs.key_bytes[: theirs.jobs.key_ends[row]]:
        row = next(at for at in range(row) if mine.jobs.key(at) != theirs.jobs.key(at))
    ends_alike = len(mine.jobs) == len(theirs.jobs) or bool(one.stopped or other.stopped)
    if row == many and ends_alike:
        return ""
    return theirs.jobs.key(row) if row < len(theirs.jobs) else mine.jobs.key(row)


def _lengths(facts: Facts) -> NDArray[Any]:
    """Of the keys."""
    return np.diff(facts.jobs.key_ends)


def _kinds(facts: Facts, numbers: dict[object, int]) -> NDArray[np.int64]:
    """Of each job a number for what its pods are, equal in all runs that share `numbers`."""
    found = [numbers.setdefault(_kind(facts, kind), len(numbers)) for kind in facts.kinds]
    return np.array(found, dtype=np.int64)[facts.jobs.kind]


def _kind(facts: Facts, kind: Kind) -> object:
    return kind.names, kind.counts, tuple(facts.shapes[number].requests for number in kind.shapes)
