"""Considered: victims with their cause, and the others with why not."""

from __future__ import annotations

from kumi.engine.admission.attempt import Attempt
from kumi.engine.admission.considered import AT_MOST, told
from kumi.engine.admission.rounds import make_room
from kumi.engine.model import Preemption
from kumi.engine.reasons import Considered
from kumi.engine.settings import FairSharing

from .small import pool, preemptor, state_of
from .trees import ANY, LOWER, NEVER, SPOT, held


def test_victims_have_their_cause_and_those_put_back_were_not_needed() -> None:
    jobs = [held("small", "q", {SPOT: 1}), held("large", "q", {SPOT: 3}, priority=1)]
    state = state_of(pool("q", 4, Preemption(LOWER)), *jobs)
    attempt = Attempt(state, preemptor(state, asks=3))
    with state.trial():
        make_room(attempt)
        attempt.spared.append(attempt.put_back(0))
    assert told(attempt, attempt.taken) == (
        Considered("ns/large", "Job ns/large", cause="InClusterQueue"),
        Considered("ns/small", "Job ns/small", why_not="NotNeeded"),
    )


def test_candidates_are_not_enough_and_others_are_too_high_or_spoken_for() -> None:
    jobs = [held("low", "q", {SPOT: 1}), held("high", "q", {SPOT: 2}, priority=9), held("going", "q", {SPOT: 3})]
    state = state_of(pool("q", 6, Preemption(LOWER)), *jobs)
    attempt = Attempt(state, preemptor(state, asks=6, leave_out=("ns/going",)))
    assert {(c.workload, c.why_not) for c in told(attempt, [])} == {
        ("ns/low", "NotEnough"),
        ("ns/high", "Priority"),
        ("ns/going", "Spoken"),
    }


def test_where_nobody_may_be_evicted_it_is_the_policy() -> None:
    state = state_of(pool("q", 1), held("w", "q", {SPOT: 1}))
    assert [(c.workload, c.why_not) for c in told(Attempt(state, preemptor(state)), [])] == [("ns/w", "Policy")]


def test_candidates_of_other_queues_are_named_with_and_without_shares() -> None:
    for chosen in ({}, {"fair": FairSharing()}):
        state = state_of(pool("q", 1, Preemption(NEVER, ANY)), pool("p", 0), held("p", "p", {SPOT: 1}), **chosen)
        assert [c.workload for c in told(Attempt(state, preemptor(state, asks=2)), [])] == ["ns/p"]


def test_a_record_names_only_so_many() -> None:
    jobs = [held(f"w{n:02}", "q", {SPOT: 1}) for n in range(20)]
    state = state_of(pool("q", 20, Preemption(LOWER)), *jobs)
    assert len(told(Attempt(state, preemptor(state, asks=21)), [])) == AT_MOST
