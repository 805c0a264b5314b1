"""Moves: Kueue's way to set aside and to bring back."""

from __future__ import annotations

import pytest

from kumi.engine.admission.moves import WAY
from kumi.engine.admission.verdicts import Outcome
from kumi.engine.model import Namespace, Put, Requirement, Strategy
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from tests.engine.admission.rivalry import job, pool, running, state_of

MET = Parked(Reason(Code.QUOTA_IN_USE))
HERE, SET_ASIDE, ALL_SET_ASIDE = "here", "set aside", "all of its kind"


def tried(outcome: Outcome, strategy: Strategy = Strategy.BEST_EFFORT, *, left: bool = False) -> State:
    """One of three equal workloads was tried, with that outcome; `left`: there are flavors to look at."""
    state = state_of(pool("q", 1, strategy=strategy), profile="kueue")
    for n in range(3):
        state.apply(Put(job(f"w{n}", "q", 1, created_ms=n)))
    if left:
        state.queues.go_on("ns/w0", ((("cpu", 0),),))
    WAY.settle(state, "ns/w0", outcome, MET)
    return state


def where(state: State) -> str:
    aside = [key for key in state.queues.spot if state.queues.set_aside(key) is not None]
    return {0: HERE, 1: SET_ASIDE, 3: ALL_SET_ASIDE}[len(aside)]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.OUTRUN, HERE),
        (Outcome.PENDING, HERE),
        (Outcome.MIGRATING, HERE),
        (Outcome.PREEMPTION_FAILED, HERE),
        (Outcome.NO_FIT, ALL_SET_ASIDE),
        (Outcome.NO_CANDIDATES, ALL_SET_ASIDE),
        (Outcome.GATED, SET_ASIDE),
        (Outcome.OTHER, SET_ASIDE),
        (Outcome.NAMESPACE, SET_ASIDE),
    ],
)
def test_best_effort_keeps_those_who_may_soon_start_and_sets_the_others_aside(outcome: Outcome, expected: str) -> None:
    state = tried(outcome)
    assert where(state) == expected
    assert (state.queues.sticky == {"q": "ns/w0"}) == (outcome in (Outcome.PENDING, Outcome.MIGRATING))


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.ADMITTED])
def test_a_strict_queue_keeps_everybody_but_those_of_other_namespaces(outcome: Outcome) -> None:
    state = tried(outcome, Strategy.STRICT)
    assert where(state) == (SET_ASIDE if outcome is Outcome.NAMESPACE else HERE)
    head = state.queues.head("q", Strategy.STRICT)
    assert head == ("ns/w1" if outcome is Outcome.NAMESPACE else "ns/w0")


def test_flavors_that_were_not_looked_at_keep_it_where_it_is_and_it_is_tried_at_once() -> None:
    state = tried(Outcome.NO_FIT, left=True)
    assert where(state) == HERE
    assert "ns/w0" not in state.queues.tried.get("q", {})


def test_one_that_is_tried_again_and_waits_for_nobody_sticks_no_more() -> None:
    state = tried(Outcome.PENDING)
    WAY.settle(state, "ns/w0", Outcome.OUTRUN, MET)
    assert state.queues.sticky == {}


def test_quota_that_is_given_back_brings_everybody_of_the_tree_back_and_nobody_else() -> None:
    state = state_of(pool("a", 1), pool("b", 1), pool("far", 1, cohort="other"), profile="kueue")
    state.apply(Put(running("held", "b", 1)))
    for queue in ("a", "far"):
        state.apply(Put(job(f"w-{queue}", queue, 9)))
        WAY.settle(state, f"ns/w-{queue}", Outcome.NO_FIT, MET)
    state.apply(Put(running("held", "b", 1, finished=True)))
    WAY.bring_back(state)
    assert state.queues.set_aside("ns/w-a") is None
    assert state.queues.set_aside("ns/w-far") is not None


def test_those_of_other_namespaces_stay_until_the_namespace_changes() -> None:
    state = state_of(pool("q", 1, selector=(Requirement("team", "In", ("red",)),)), profile="kueue")
    state.apply(Put(job("w", "q", 1)))
    WAY.settle(state, "ns/w", Outcome.NAMESPACE, MET)
    state.journal.put(state.queues.freed, "q", None)
    WAY.bring_back(state)
    assert state.queues.set_aside("ns/w") is not None
    state.apply(Put(Namespace("ns", (("team", "red"),))))
    assert state.queues.set_aside("ns/w") is None


def test_a_search_that_is_old_is_begun_anew_where_its_queue_changed() -> None:
    state = tried(Outcome.NO_FIT, left=True)
    queues = state.queues
    assert queues.resumed("ns/w0") == ((("cpu", 0),),)
    queues.cycles += 1
    queues.renew("q")
    assert queues.resumed("ns/w0") is not None
    queues.cycles += 1
    assert queues.resumed("ns/w0") is None


def test_a_search_that_ends_where_it_ended_before_goes_on_no_more() -> None:
    state = tried(Outcome.NO_FIT, left=True)
    queues = state.queues
    other = ((("cpu", 1),),)
    queues.cycles += 1
    queues.go_on("ns/w0", other)
    assert queues.resumed("ns/w0") == other
    queues.cycles += 1
    queues.go_on("ns/w0", ((("cpu", 0),),))
    assert queues.resumed("ns/w0") is None
    queues.go_on("ns/w0", other)
    assert queues.resumed("ns/w0") == other
