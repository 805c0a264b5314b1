"""Entries: in which order the heads of a cycle are processed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.entries import Entry, ordered
from kumi.engine.settings import FairSharing, Settings
from kumi.engine.state import State
from tests.engine.admission.rivalry import FR, job, pool, running, state_of


def entry(name: str, level: int = 0, *, holds: bool = False, usage: int = 0, **fields: Any) -> Entry:
    """The head of a queue of its own name."""
    assignment = Assignment(name, Mode.FIT, (), {FR: 1000 * usage}, level)
    return Entry(job(name, name, 1, **fields), pool(name, 2), assignment, holds=holds)


def names(state: State, *entries: Entry) -> list[str]:
    return [one.queue.name for one in ordered(state, list(entries))]


def test_who_holds_quota_then_who_borrows_less_then_priority_then_time_then_the_queues_name() -> None:
    last, older = entry("e", 2, priority=9), entry("c", 1, created_ms=1)
    found = names(
        state_of(),
        last,
        older,
        entry("d", 1, created_ms=2),
        entry("b", 1, priority=1, created_ms=9),
        entry("z", 3, holds=True),
        entry("a", 1, created_ms=2),
    )
    assert found == ["z", "b", "c", "a", "d", "e"]


def test_priority_plays_no_part_where_settings_say_so() -> None:
    one, other = entry("young", priority=9, created_ms=2), entry("old", created_ms=1)
    assert names(state_of(), one, other) == ["young", "old"]
    assert names(state_of(settings=Settings(priority_in_cohort=False)), one, other) == ["old", "young"]


@pytest.mark.parametrize(
    ("profile", "first", "expected"),
    [("kumi", False, "waits"), ("kueue", False, "high"), ("kueue", True, "waits")],
)
def test_who_waited_for_its_victims_goes_first_in_kueue_only_where_settings_say_so(
    profile: str, first: bool, expected: str
) -> None:
    state = state_of(profile=profile, settings=Settings(preemptors_first=first))
    assert names(state, entry("high", priority=9), entry("waits", 1, waiting=True))[0] == expected


def test_where_shares_decide_the_smaller_share_goes_first_whatever_the_priority() -> None:
    queues = [pool(name, 2) for name in ("rich", "poor")]
    state = state_of(*queues, running("held", "rich", 3), settings=Settings(fair=FairSharing()))
    rich, poor = entry("rich", priority=9, usage=1), entry("poor", usage=1)
    assert names(state, replace(rich, queue=queues[0]), replace(poor, queue=queues[1])) == ["poor", "rich"]


@given(st.permutations([(level, priority, at) for level in (0, 1) for priority in (0, 1) for at in (0, 1)]))
def test_the_order_is_the_same_however_they_come(found: list[tuple[int, int, int]]) -> None:
    entries = [entry(f"q{key}", key[0], priority=key[1], created_ms=key[2]) for key in found]
    inorder = names(state_of(), *entries)
    assert inorder == names(state_of(), *sorted(entries, key=lambda one: one.queue.name))
    assert sorted(inorder) == sorted(one.queue.name for one in entries)
