"""Candidates: who may be evicted, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from kumi.engine.admission.candidates import (
    any_of,
    borrows_below,
    in_line,
    limit_of,
    place_of,
    round_of,
    sharers,
    sources,
    still_over,
)
from kumi.engine.admission.quota import cohort_node
from kumi.engine.model import Cohort, LocalQueue, Preemption, Profile, Put, StopPolicy
from kumi.engine.settings import UsageSharing
from kumi.engine.state import State

from . import trees
from .small import pool, preemptor, state_of
from .trees import ANY, EQUAL, FIXED, LOWER, NEVER, SPOT, World, held


def keys(found: object) -> list[str]:
    return [one.key.removeprefix("ns/") for one in found]  # type: ignore[attr-defined]


@settings(max_examples=150)
@given(trees.worlds())
def test_the_line_of_a_queue_is_all_who_may_go_sorted(world: World) -> None:
    """Against going through everybody."""
    state = world.state(Profile("kueue", places=False))
    one = preemptor(state, world.queue, priority=world.incoming.priority, created_ms=2)
    one = replace(one, contended=tuple(world.asks))
    for queue in trees.QUEUES:
        policy = one.queue.preemption
        evictable = policy.within if queue == world.queue else policy.reclaim
        expected = []
        for job in world.holders:
            uses = any(fr in state.holdings.usage[job.key] for fr in world.asks)
            newer = evictable is EQUAL and job.priority == one.workload.priority and job.created_ms > 2
            lower = evictable in (LOWER, EQUAL) and job.priority < one.workload.priority
            if job.admission.cluster_queue == queue and uses and (evictable is ANY or lower or newer):  # type: ignore[union-attr]
                expected.append(
                    (not job.evicted, job.priority, job.reserved_ms != 0, -job.reserved_ms, job.uid, job.key)
                )
        assert [s.key for s in in_line(state, one, queue)] == [e[-1] for e in sorted(expected)]


def test_one_that_holds_several_of_what_is_contended_is_there_once() -> None:
    state = state_of(
        pool("q", 9, Preemption(LOWER), fixed=9), held("both", "q", {SPOT: 1, FIXED: 1}), held("one", "q", {FIXED: 1})
    )
    one = replace(preemptor(state), contended=(SPOT, FIXED))
    assert keys(in_line(state, one, "q")) == ["both", "one"]


def test_who_is_left_out_is_no_candidate() -> None:
    state = state_of(pool("q", 9, Preemption(LOWER)), held("a", "q", {SPOT: 1}), held("b", "q", {SPOT: 1}))
    assert keys(in_line(state, preemptor(state, leave_out=("ns/a",)), "q")) == ["b"]


@pytest.mark.parametrize(
    ("policy", "below"), [(NEVER, -(2**63)), (LOWER, 5), (EQUAL, 6), (ANY, None)], ids=lambda p: getattr(p, "name", "")
)
def test_below_which_priority_candidates_are(policy: object, below: int | None) -> None:
    state = state_of(pool("q", 1, Preemption(policy)))  # type: ignore[arg-type]
    assert limit_of(preemptor(state), "q") == below


@pytest.mark.parametrize(
    ("borrowing", "threshold", "below"), [(NEVER, None, -(2**63)), (LOWER, None, 5), (LOWER, 2, 3), (LOWER, 9, 5)]
)
def test_for_whom_it_may_borrow(borrowing: object, threshold: int | None, below: int) -> None:
    state = state_of(pool("q", 1, Preemption(NEVER, ANY, borrowing, threshold)))  # type: ignore[arg-type]
    assert borrows_below(preemptor(state)) == below


# without shares


def family(reclaim: object = ANY, nominal: int = 0) -> State:
    """q under left under top; near under left, far under right under top."""
    nouns = (
        Cohort("left", "top"),
        Cohort("right", "top"),
        pool("q", nominal, Preemption(LOWER, reclaim), cohort="left"),  # type: ignore[arg-type]
        pool("near", 0, cohort="left"),
        pool("far", 0, cohort="right"),
        pool("rest", 9, cohort="top"),
    )
    return state_of(*nouns, held("n", "near", {SPOT: 2}), held("f", "far", {SPOT: 2}))


def test_the_nearest_come_first_each_with_its_way_up() -> None:
    state = family()
    found = sources(state, preemptor(state))
    assert [(s.queue, s.way) for s in found] == [("near", ("near",)), ("far", ("far", cohort_node("right")))]
    assert not any(s.by_right for s in found)


def test_who_has_room_of_its_own_for_the_request_takes_by_right() -> None:
    state = family(nominal=2)
    assert [s.by_right for s in sources(state, preemptor(state, asks=2))] == [True, True]
    assert [s.by_right for s in sources(state, preemptor(state, asks=3))] == [False, False]


def test_a_right_is_to_what_is_outside_of_the_cohort_that_has_the_room() -> None:
    state = family()
    state.apply(Put(Cohort("left", "top", trees.groups({SPOT: trees.Quota(5)}))))
    found = sources(state, preemptor(state, asks=3))
    assert [(s.queue, s.by_right) for s in found] == [("near", False), ("far", True)]


def test_nobody_else_where_nothing_is_reclaimed_or_there_is_no_cohort() -> None:
    state = family(NEVER)
    assert sources(state, preemptor(state)) == []
    assert sharers(state, preemptor(state)) == []
    alone = state_of(pool("q", 1, Preemption(LOWER, ANY), cohort=""))
    assert sources(alone, preemptor(alone)) == []


def test_closed_queues_and_those_within_quota_give_nothing() -> None:
    state = family()
    state.apply(Put(replace(state.catalog.cluster_queues["near"], stop=StopPolicy.HOLD)))
    assert [s.queue for s in sources(state, preemptor(state))] == ["far"]
    assert sharers(state, preemptor(state)) == ["far"]
    state.apply(Put(replace(state.catalog.cluster_queues["far"], groups=trees.groups({SPOT: trees.Quota(2)}))))
    assert sources(state, preemptor(state)) == []
    assert sharers(state, preemptor(state)) == []


def test_with_shares_cohorts_on_the_way_need_not_borrow() -> None:
    state = family()
    state.apply(Put(Cohort("right", "top", trees.groups({SPOT: trees.Quota(5)}))))
    assert [s.queue for s in sources(state, preemptor(state))] == ["near"]
    assert sharers(state, preemptor(state)) == ["far", "near"]


def test_a_round_has_those_who_are_going_first_and_its_own_queue_last() -> None:
    going = [held("ng", "near", {SPOT: 1}, priority=4, evicted=True), held("og", "q", {SPOT: 1}, evicted=True)]
    state = family()
    for noun in (*going, held("o", "q", {SPOT: 1}, priority=-9)):
        state.apply(Put(noun))
    one = preemptor(state)
    assert keys(round_of(state, one, sources(state, one), borrowing=False)) == ["ng", "og", "f", "n", "o"]


def test_those_by_right_come_before_others_of_lower_priority() -> None:
    state = family()
    state.apply(Put(Cohort("left", "top", trees.groups({SPOT: trees.Quota(5)}))))
    state.apply(Put(held("more", "far", {SPOT: 9}, priority=4)))
    one = preemptor(state, asks=3)
    assert keys(round_of(state, one, sources(state, one), borrowing=False)) == ["f", "more", "n"]


@pytest.mark.parametrize("profile", ["kumi", "kueue"])
def test_a_queue_is_left_when_it_is_back_within_its_quota(profile: str) -> None:
    nouns = (pool("q", 4, Preemption(NEVER, ANY)), pool("p", 1), pool("o", 0))
    jobs = [held(f"p{n}", "p", {SPOT: 1}, priority=n) for n in range(3)]
    state = state_of(*nouns, *jobs, held("o0", "o", {SPOT: 1}, priority=9), profile=profile)
    one, went = preemptor(state, asks=4), []
    with state.trial():
        for candidate in round_of(state, one, sources(state, one), borrowing=False):
            went.append(candidate.key)
            state.quotas.add(candidate.queue, SPOT, -1)
    assert went == ["ns/p0", "ns/p1", "ns/o0"]


def test_a_round_that_borrows_leaves_out_those_for_whom_it_may_not() -> None:
    nouns = (pool("q", 0, Preemption(NEVER, ANY, LOWER, 1)), pool("p", 0), pool("rest", 9))
    jobs = [held(f"p{n}", "p", {SPOT: 1}, priority=n) for n in (0, 1, 2, 9)]
    state = state_of(*nouns, *jobs)
    one = preemptor(state)
    borrowing = list(round_of(state, one, sources(state, one), borrowing=True))
    assert keys(borrowing) == ["p0", "p1"]
    assert {c.cause for c in borrowing} == {"InCohortReclaimWhileBorrowing"}
    other = list(round_of(state, one, sources(state, one), borrowing=False))
    assert [(c.key, c.cause, c.lends) for c in other[2:]] == [
        ("ns/p2", "InCohortReclamation", False),
        ("ns/p9", "InCohortReclamation", False),
    ]


def test_any_candidate_is_looked_for_in_the_queues_that_are_named() -> None:
    state = family()
    one = preemptor(state)
    assert any_of(state, one, sources(state, one))
    assert not any_of(state, replace(one, leave_out=("ns/n", "ns/f")), sources(state, one))


def test_the_local_queue_that_used_more_comes_first_within_a_queue() -> None:
    sharing = UsageSharing(half_life_ms=1000)
    state = state_of(pool("q", 9, Preemption(LOWER), by_usage=True), by_usage=sharing)
    for name, used in (("little", 1.0), ("much", 5.0)):
        state.apply(Put(LocalQueue(f"ns/{name}", "q", consumed=(("cpu", used),), consumed_ms=1)))
    jobs = [("a", "little", 0, False), ("b", "much", 3, False), ("c", "much", 1, False), ("d", "little", 4, True)]
    for name, door, priority, going in jobs:
        state.apply(Put(replace(held(name, "q", {SPOT: 1}, priority=priority, evicted=going), queue=f"ns/{door}")))
    assert keys(in_line(state, preemptor(state), "q")) == ["d", "c", "b", "a"]
    state.apply(Put(pool("q", 9, Preemption(LOWER))))
    assert keys(in_line(state, preemptor(state), "q")) == ["d", "a", "c", "b"]


def test_of_all_queues_the_preemptors_own_is_last() -> None:
    state = state_of(pool("q", 0), pool("p", 0), held("own", "q", {SPOT: 1}), held("other", "p", {SPOT: 1}, priority=9))
    standing = {key: state.holdings.standing[f"ns/{key}"][0] for key in ("own", "other")}
    one = preemptor(state)
    assert place_of(one, standing["other"], "p") < place_of(one, standing["own"], "q")


def test_a_way_is_open_while_every_node_of_it_borrows() -> None:
    state = family()
    assert still_over(state, ("far", cohort_node("right")), (SPOT,))
    assert still_over(state, ("far",), (FIXED, SPOT))
    assert not still_over(state, ("far", cohort_node("top")), (SPOT,))


def test_nobody_loses_what_is_its_queues_own_in_kumis_way() -> None:
    """p borrows SPOT and has room of FIXED; who holds only FIXED is no candidate for one who is short of both."""
    nouns = (pool("q", 2, Preemption(NEVER, ANY), fixed=2), pool("p", 0, fixed=5))
    jobs = (
        held("fixed", "p", {FIXED: 1}),
        held("spot", "p", {SPOT: 1}, priority=1),
        held("both", "p", {SPOT: 1, FIXED: 1}, priority=2),
    )
    for profile, expected in (("kueue", ["fixed", "spot", "both"]), ("kumi", ["spot", "both"])):
        state = state_of(*nouns, *jobs, profile=profile)
        one = replace(preemptor(state), contended=(SPOT, FIXED))
        assert keys(round_of(state, one, sources(state, one), borrowing=False)) == expected
