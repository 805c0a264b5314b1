"""Rounds: who goes where shares don't decide, and whether the preemptor borrows for it."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.engine.admission.attempt import Attempt
from kumi.engine.admission.rounds import make_room
from kumi.engine.model import Preemption
from kumi.engine.state import State

from .small import pool, preemptor, state_of
from .trees import ANY, LOWER, NEVER, SPOT, held


def gone(state: State, **asks: Any) -> tuple[bool | None, list[str]]:
    """Whether the round borrowed, and who was taken."""
    attempt = Attempt(state, preemptor(state, **asks))
    with state.trial():
        borrowed = make_room(attempt)
    return borrowed, [one.key.removeprefix("ns/") for one in attempt.taken]


def test_only_its_own_go_where_no_other_queue_borrows() -> None:
    state = state_of(
        pool("q", 1, Preemption(LOWER, ANY)), pool("p", 9), held("own", "q", {SPOT: 1}), held("p", "p", {SPOT: 9})
    )
    assert gone(state) == (True, ["own"])


def test_it_takes_back_what_is_its_own_from_anybody() -> None:
    state = state_of(pool("q", 2, Preemption(NEVER, ANY)), pool("p", 0), held("p", "p", {SPOT: 2}, priority=9))
    assert gone(state, asks=2) == (True, ["p"])


def test_beyond_its_own_it_takes_from_nobody_for_whom_it_may_not_borrow() -> None:
    state = state_of(
        pool("q", 1, Preemption(NEVER, ANY)),
        pool("p", 0),
        held("p", "p", {SPOT: 1}),
        pool("rest", 1),
        held("r", "rest", {SPOT: 1}),
    )
    assert gone(state, asks=2) == (None, [])
    assert gone(state, asks=1) == (True, ["p"])


def test_while_borrowing_it_takes_from_those_of_lower_priority() -> None:
    nouns = (pool("q", 0, Preemption(NEVER, ANY, LOWER)), pool("p", 0), pool("rest", 2))
    jobs = (held("low", "p", {SPOT: 1}), held("high", "p", {SPOT: 1}, priority=9))
    assert gone(state_of(*nouns, *jobs)) == (True, ["low"])
    assert gone(state_of(*nouns, *jobs), asks=2) == (None, [])


def test_where_it_has_no_right_and_may_not_borrow_it_first_tries_to_stay_within_its_own() -> None:
    """Both of its own would be enough as well, were it to borrow first."""
    nouns = (pool("q", 3, Preemption(LOWER, ANY)), pool("p", 0))
    jobs = (held("own1", "q", {SPOT: 1}), held("own2", "q", {SPOT: 1}, priority=1), held("p", "p", {SPOT: 1}))
    assert gone(state_of(*nouns, *jobs), asks=2) == (False, ["p", "own1"])


def test_not_borrowing_it_takes_from_those_for_whom_it_may_not_borrow() -> None:
    nouns = (pool("q", 2, Preemption(LOWER, ANY, LOWER)), pool("p", 0))
    jobs = (held("own", "q", {SPOT: 1}), held("p", "p", {SPOT: 1}, priority=9))
    assert gone(state_of(*nouns, *jobs), asks=2) == (False, ["p", "own"])


def test_a_queue_at_its_nominal_quota_has_only_its_own_to_give() -> None:
    nouns = (pool("q", 2, Preemption(LOWER, ANY)), pool("p", 0), pool("rest", 1))
    jobs = (held("own", "q", {SPOT: 2}, priority=4), held("p", "p", {SPOT: 1}))
    assert gone(state_of(*nouns, *jobs)) == (True, ["own"])


def test_first_borrowing_then_not_where_it_may_borrow() -> None:
    """p is above the threshold: it may be taken from only while q stays within its own."""
    nouns = (pool("q", 1, Preemption(LOWER, ANY, LOWER, 0)), pool("p", 0))
    jobs = (held("own", "q", {SPOT: 1}, priority=4), held("p", "p", {SPOT: 1}, priority=3))
    state = state_of(*nouns, pool("rest", 1), *jobs)
    assert gone(state) == (True, ["own"])
    state = state_of(
        pool("q", 2, Preemption(NEVER, ANY, LOWER, 0)), pool("p", 0), held("p", "p", {SPOT: 2}, priority=3)
    )
    assert gone(state, asks=1) == (True, ["p"])


def test_a_round_that_is_not_enough_leaves_nothing_taken() -> None:
    state = state_of(
        pool("q", 3, Preemption(LOWER)), held("low", "q", {SPOT: 1}), held("high", "q", {SPOT: 1}, priority=9)
    )
    attempt = Attempt(state, preemptor(state, asks=3))
    with pytest.MonkeyPatch.context() as patch, state.trial():
        patch.setattr(Attempt, "hopeless", lambda *_: False)
        assert make_room(attempt) is None
        assert (attempt.taken, state.quotas.used("q", SPOT)) == ([], 2)


def test_a_seat_is_looked_for_once_more_when_nobody_is_left() -> None:
    jobs = [held(f"w{n}", "q", {SPOT: 1}, reserved_ms=9 - n) for n in range(3)]
    state = state_of(pool("q", 9, Preemption(LOWER)), *jobs)
    attempt = Attempt(state, preemptor(state))
    attempt.seat = lambda taken: attempt if len(taken) == 3 else None  # type: ignore[assignment,return-value]
    with state.trial():
        assert make_room(attempt) is True
    assert [one.key for one in attempt.taken] == ["ns/w0", "ns/w1", "ns/w2"]
