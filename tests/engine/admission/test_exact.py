"""Exact: who is brought back, and who isn't. Nodes and single queues: test_requeue.py."""

from __future__ import annotations

from kumi.engine.admission import exact
from kumi.engine.admission.exact import WAY, may_fit
from kumi.engine.admission.verdicts import Outcome
from kumi.engine.model import Put, Strategy
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from tests.engine.admission.rivalry import job, pool, running, state_of


def full(need: int, **fields: bool) -> Parked:
    reason = Reason(Code.QUOTA_IN_USE, resource="cpu", flavor="default", where="a", need=1000 * need)
    return Parked(reason, **fields)  # type: ignore[arg-type]


def waiting(*units: int) -> State:
    """Workloads of queue `a` that were tried and set aside; `b`, of the same cohort, uses all four cpus."""
    state = state_of(pool("a", 2), pool("b", 2), running("held", "b", 3), running("other", "b", 1))
    for need in units:
        state.apply(Put(job(f"w{need}", "a", need)))
        WAY.settle(state, f"ns/w{need}", Outcome.NO_FIT, full(need))
    return state


def ready(state: State) -> list[str]:
    return [key for key in sorted(state.queues.spot) if state.queues.set_aside(key) is None]


def test_quota_that_a_queue_of_the_cohort_gives_back_brings_back_those_for_whom_it_is_enough() -> None:
    state = waiting(1, 3, 4)
    state.apply(Put(running("other", "b", 1, finished=True)))
    WAY.bring_back(state)
    assert ready(state) == ["ns/w1"]
    state.apply(Put(running("held", "b", 3, finished=True)))
    WAY.bring_back(state)
    assert ready(state) == ["ns/w1", "ns/w3", "ns/w4"]


def test_nothing_that_happens_in_another_tree_does() -> None:
    state = waiting(1)
    state.apply(Put(pool("far", 9, cohort="elsewhere")))
    state.apply(Put(running("far", "far", 1, finished=False)))
    state.apply(Put(running("far", "far", 1, finished=True)))
    WAY.bring_back(state)
    assert ready(state) == []


def test_who_might_evict_is_brought_back_by_whatever_is_given_back_in_the_tree() -> None:
    state = waiting()
    state.apply(Put(job("w", "a", 9)))
    WAY.settle(state, "ns/w", Outcome.NO_CANDIDATES, full(9, evicting=True))
    WAY.bring_back(state)
    assert ready(state) == []
    state.apply(Put(running("other", "b", 1, finished=True)))
    WAY.bring_back(state)
    assert ready(state) == ["ns/w"]


def test_who_waits_for_its_victims_is_set_aside_alone_and_keeps_a_strict_line_waiting() -> None:
    state = state_of(pool("a", 2, strategy=Strategy.STRICT))
    for n in (1, 2):
        state.apply(Put(job(f"w{n}", "a", 1, created_ms=n)))
    WAY.settle(state, "ns/w1", Outcome.PENDING, full(1))
    assert state.queues.head("a", Strategy.STRICT) is None
    assert state.queues.head("a", Strategy.BEST_EFFORT) == "ns/w2"


def test_a_no_is_one_for_as_long_as_there_is_too_little() -> None:
    state = waiting()
    assert not may_fit(state, "a", full(1))
    assert may_fit(state, "a", full(1, open_ended=True))
    assert may_fit(state, "a", full(1, evicting=True))
    state.apply(Put(running("other", "b", 1, finished=True)))
    assert may_fit(state, "a", full(1))
    assert not exact.may_fit(state, "a", full(2))
