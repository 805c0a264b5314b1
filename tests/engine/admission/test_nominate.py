"""Nominate: what a head would get, or who would have to go for it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from kumi.engine.admission.assignment import Mode
from kumi.engine.admission.entries import Entry
from kumi.engine.admission.nominate import nominate
from kumi.engine.model import PodSet, Put, Workload
from kumi.engine.settings import Settings
from kumi.engine.state import State
from kumi.testing.builders import shape
from kumi.testing.diagram import picture
from kumi.testing.rivals import Rivals, rivals
from tests.engine.admission.rivalry import LOWER, job, pool, running, state_of

SHRINKS = (PodSet("main", 4, shape(cpu=1), least=2),)


def head(state: State, one: Workload) -> Entry:
    return nominate(state, one, state.catalog.cluster_queues[one.queue.removeprefix("ns/")])


@given(rivals())
def test_looking_changes_nothing(found: Rivals) -> None:
    state = State(found.profile)
    for noun in (*found.setup, *found.workloads):
        state.apply(Put(noun))
    before = picture(state)
    for one in found.workloads:
        head(state, one)
    assert picture(state) == before


def test_what_fits_is_nominated_without_anybody_going() -> None:
    state = state_of(pool("q", 3, preemption=LOWER), running("low", "q", 1))
    found = head(state, job("high", "q", 2, priority=1))
    assert (found.fits, found.targets, found.plan) == (True, (), None)


def test_what_does_not_fit_is_nominated_with_those_who_would_go_and_what_it_gets_then() -> None:
    state = state_of(pool("q", 3, preemption=LOWER), running("low", "q", 2), running("same", "q", 1, priority=1))
    found = head(state, job("high", "q", 2, priority=1))
    assert [(t.workload, t.cause) for t in found.targets] == [("ns/low", "InClusterQueue")]
    assert found.plan is not None
    assert found.plan.mode is Mode.FIT
    assert not found.fits


def test_where_nobody_may_go_the_answer_is_no_and_says_who_was_thought_of() -> None:
    state = state_of(pool("q", 2, preemption=LOWER), running("same", "q", 2, priority=1))
    found = head(state, job("high", "q", 2, priority=1))
    assert (found.fits, found.targets) == (False, ())
    assert found.assignment.mode < Mode.FIT
    assert found.assignment.reasons


def test_fewer_pods_are_tried_where_the_job_allows_it_the_most_that_fit() -> None:
    state = state_of(pool("q", 3))
    found = head(state, job("shrinks", "q", 1, pod_sets=SHRINKS))
    assert found.fits
    assert [one.count for one in found.assignment.pod_sets] == [3]


def test_fewer_pods_are_not_tried_where_settings_say_so() -> None:
    state = state_of(pool("q", 3), settings=Settings(partial_admission=False))
    assert not head(state, job("shrinks", "q", 1, pod_sets=SHRINKS)).fits


def test_the_answer_to_all_pods_comes_first_and_what_the_fewest_would_need_is_told_as_well() -> None:
    state = state_of(pool("q", 1))
    found = head(state, job("shrinks", "q", 1, pod_sets=SHRINKS))
    assert [reason.need for reason in found.assignment.reasons] == [4000, 2000]


def test_in_kueue_the_search_goes_on_where_it_ended() -> None:
    state = state_of(pool("q", 2), profile="kueue")
    waiting = job("w", "q", 1)
    state.apply(Put(waiting))
    assert state.queues.resumed("ns/w") is None
    state.queues.go_on("ns/w", ((("cpu", 0),),))
    assert not head(state, replace(waiting)).fits
