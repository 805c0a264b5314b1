"""By shares: whose candidate is picked, for whom it is fair, and the second pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kumi.engine.admission.attempt import Attempt
from kumi.engine.admission.by_shares import make_room
from kumi.engine.model import Cohort, Preemption
from kumi.engine.settings import FairSharing, FairStrategy
from kumi.engine.state import State

from .small import pool, preemptor, state_of
from .trees import ANY, FIXED, LOWER, NEVER, SPOT, held

FINAL, INITIAL = FairStrategy.FINAL_SHARE, FairStrategy.INITIAL_SHARE
TAKES = Preemption(LOWER, ANY)


def gone(state: State, *strategies: FairStrategy, within_nominal: bool = True, **asks: Any) -> dict[str, str]:
    """Who was taken, in order, and why."""
    attempt = Attempt(state, preemptor(state, **asks))
    fair = FairSharing(strategies or (FINAL, INITIAL), within_nominal)
    with state.trial():
        found = make_room(attempt, fair)
    assert bool(attempt.taken) == (found is True)
    return {one.key.removeprefix("ns/"): one.cause for one in attempt.taken}


def full(*nouns: Any, jobs: list[tuple[str, str, int]], **chosen: Any) -> State:
    """(name, queue, amount): who holds what."""
    return state_of(*nouns, *(held(name, queue, {SPOT: amount}) for name, queue, amount in jobs), **chosen)


def test_the_queue_with_the_highest_share_gives_first() -> None:
    nouns = (pool("q", 3, TAKES), pool("little", 2), pool("much", 1))
    state = full(*nouns, jobs=[("l", "little", 2), ("l2", "little", 1), ("m", "much", 1), ("m2", "much", 2)])
    assert list(gone(state)) in (["m"], ["m2"])


def test_within_its_nominal_quota_it_takes_back_without_comparing() -> None:
    state = full(pool("q", 2, TAKES), pool("p", 0, weight=9.0), jobs=[("p", "p", 2)])
    assert gone(state, FINAL, asks=2) == {"p": "InCohortReclamation"}
    assert gone(state, FINAL, asks=2, within_nominal=False) == {"p": "InCohortFairSharing"}


def test_it_does_not_take_what_would_only_turn_the_tables() -> None:
    """Both have 0 of their own: with one of four mine is 250, theirs 1000 before and 750, 250 or 0 after."""
    nouns = (pool("q", 0, TAKES), pool("p", 0), pool("rest", 4))
    assert gone(full(*nouns, jobs=[("p", "p", 4)]), FINAL) == {}
    assert gone(full(*nouns, jobs=[("p", "p", 4)]), INITIAL) == {"p": "InCohortFairSharing"}
    assert gone(full(*nouns, jobs=[("p", "p", 4)]), INITIAL, asks=4) == {}


def test_a_candidate_for_whom_it_is_not_fair_is_passed_over_for_the_next() -> None:
    """Mine would be 400; theirs is 200 without a, and 800 without b."""
    nouns = (pool("q", 0, TAKES, weight=0.5), pool("p", 0), pool("rest", 5))
    state = full(*nouns, jobs=[("a", "p", 4), ("b", "p", 1)])
    assert gone(state, FINAL) == {"b": "InCohortFairSharing"}


def test_who_was_passed_over_goes_by_the_second_strategy() -> None:
    nouns = (pool("q", 0, TAKES), pool("p", 0), pool("rest", 4))
    state = full(*nouns, jobs=[("a", "p", 4)])
    assert gone(state, FINAL) == {}
    assert gone(state, FINAL, INITIAL) == {"a": "InCohortFairSharing"}


def test_in_the_second_pass_each_queue_gives_one_at_most() -> None:
    nouns = (pool("q", 0, TAKES), pool("p", 0), pool("rest", 12))
    state = full(*nouns, jobs=[("a", "p", 6), ("b", "p", 6)])
    assert gone(state, FINAL, INITIAL, asks=5) == {"a": "InCohortFairSharing"}
    assert gone(state, FINAL, INITIAL, asks=7) == {}


def test_its_own_go_without_comparing() -> None:
    nouns = (pool("q", 0, Preemption(LOWER, NEVER)), pool("rest", 2))
    state = full(*nouns, jobs=[("own", "q", 2)])
    assert gone(state, FINAL) == {"own": "InClusterQueue"}


def test_its_own_queue_is_not_left_out_because_it_does_not_borrow() -> None:
    state = full(pool("q", 2, TAKES), pool("p", 2), jobs=[("own", "q", 2), ("p", "p", 2)])
    assert gone(state, FINAL, asks=1, within_nominal=False) == {"own": "InClusterQueue"}


def test_its_own_are_all_that_is_left_where_it_takes_from_nobody_else() -> None:
    """With what is asked for it is within its quota, of which p has borrowed a part."""
    state = full(pool("q", 3, Preemption(LOWER, NEVER)), pool("p", 0), jobs=[("own", "q", 2), ("p", "p", 1)])
    assert gone(state, FINAL) == {"own": "InClusterQueue"}


def test_alone_it_takes_of_its_own() -> None:
    state = full(pool("q", 2, TAKES, cohort=""), jobs=[("own", "q", 2)])
    assert gone(state) == {"own": "InClusterQueue"}


def test_shares_are_compared_below_the_lowest_common_cohort() -> None:
    """q and near share left: between them left's own share plays no part; for far it does, and left's is too high."""
    nouns = (
        Cohort("left", "top"),
        Cohort("right", "top"),
        pool("q", 0, TAKES, cohort="left"),
        pool("near", 0, cohort="left"),
        pool("far", 0, cohort="right"),
        pool("rest", 8, cohort="top"),
    )
    state = full(*nouns, jobs=[("n", "near", 3), ("n2", "near", 2), ("f", "far", 3)])
    assert gone(state, FINAL, asks=2) in ({"n": "InCohortFairSharing"}, {"n2": "InCohortFairSharing"})
    assert gone(state, FINAL, asks=4) == {}


def test_a_cohort_goes_before_a_queue_of_the_same_share() -> None:
    nouns = (
        Cohort("team", "top"),
        pool("q", 4, TAKES, cohort="top"),
        pool("alone", 0, cohort="top"),
        pool("member", 0, cohort="team"),
    )
    state = full(*nouns, jobs=[("a", "alone", 2), ("m", "member", 2)])
    assert gone(state, asks=2) == {"m": "InCohortReclamation"}


def test_of_queues_with_the_same_share_the_first_candidate_decides() -> None:
    nouns = (pool("q", 4, TAKES), pool("a", 0), pool("b", 0))
    jobs = [held("a", "a", {SPOT: 2}, priority=3), held("b", "b", {SPOT: 2}, priority=1)]
    assert gone(state_of(*nouns, *jobs), asks=2) == {"b": "InCohortReclamation"}


def test_cohorts_that_do_not_borrow_give_nothing() -> None:
    nouns = (
        Cohort("team", "top"),
        pool("q", 3, TAKES, cohort="top"),
        pool("lender", 4, cohort="team"),
        pool("member", 0, cohort="team"),
        pool("p", 0, cohort="top"),
    )
    state = full(*nouns, jobs=[("m", "member", 4), ("p", "p", 3)])
    assert gone(state, asks=3) == {"p": "InCohortReclamation"}


def test_the_next_is_picked_anew_after_each() -> None:
    nouns = (pool("q", 6, TAKES), pool("a", 0), pool("b", 0))
    jobs = [("a1", "a", 2), ("a2", "a", 1), ("b1", "b", 2), ("b2", "b", 1)]
    state = full(*nouns, jobs=jobs)
    taken = gone(state, asks=4)
    assert [name[0] for name in taken] in (["a", "b"], ["b", "a"])


@pytest.mark.parametrize(("asks", "expected"), [(1, {"p": "InCohortFairSharing"}), (2, {})])
def test_without_weight_a_share_is_past_all_others(asks: int, expected: dict[str, str]) -> None:
    """p has no weight: whoever borrows with a weight may take from it, as long as what is taken is enough."""
    state = full(pool("q", 0, TAKES), pool("p", 0, weight=0.0), pool("rest", 1), jobs=[("p", "p", 1)])
    assert gone(state, INITIAL, asks=asks) == expected


def test_who_has_no_weight_takes_from_nobody_who_has() -> None:
    state = full(pool("q", 0, TAKES, weight=0.0), pool("p", 0), pool("rest", 2), jobs=[("p", "p", 2)])
    assert gone(state) == {}


@pytest.mark.parametrize(("profile", "cause"), [("kueue", "InCohortReclamation"), ("kumi", "InCohortFairSharing")])
def test_in_kumis_way_a_queue_takes_back_only_within_its_quota_of_all_that_is_asked_for(
    profile: str, cause: str
) -> None:
    """q is within its nominal quota of SPOT, which is contended, and borrows FIXED, of which there is enough."""
    nouns = (pool("q", 2, TAKES, fixed=0), pool("p", 0, fixed=9))
    state = state_of(*nouns, held("p", "p", {SPOT: 2}), profile=profile)
    one = preemptor(state)
    attempt = Attempt(state, replace(one, requests={SPOT: 1, FIXED: 1}))
    with state.trial():
        assert make_room(attempt, FairSharing((INITIAL,))) is True
    assert [candidate.cause for candidate in attempt.taken] == [cause]


@pytest.mark.parametrize(("profile", "expected"), [("kueue", ["fixed", "spot"]), ("kumi", ["spot"])])
def test_in_kumis_way_nobody_loses_what_is_its_queues_own(profile: str, expected: list[str]) -> None:
    nouns = (pool("q", 1, TAKES, fixed=0), pool("p", 0, fixed=5))
    jobs = (held("fixed", "p", {FIXED: 1}), held("spot", "p", {SPOT: 1}, priority=1))
    state = state_of(*nouns, *jobs, profile=profile)
    attempt = Attempt(state, replace(preemptor(state), contended=(SPOT, FIXED)))
    with state.trial():
        assert make_room(attempt, FairSharing((INITIAL,))) is True
    assert [candidate.key.removeprefix("ns/") for candidate in attempt.taken] == expected
