"""Usage: decay, penalties, and whose turn it is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.admission import cycle
from kumi.engine.admission.usage import PastUsage
from kumi.engine.journal import Journal
from kumi.engine.model import LocalQueue, Profile, Put
from kumi.engine.settings import Settings, UsageSharing
from kumi.engine.state import State
from kumi.testing.builders import door, flavor, queue, workload

HOUR = 3_600_000
CPU = ("spot", "cpu")
SHARING = UsageSharing(half_life_ms=HOUR, sampling_ms=HOUR)


def past(settings: UsageSharing | None = SHARING) -> PastUsage:
    made = PastUsage(Journal(), settings)
    made.sample(1000)
    return made


def consumed(amount: float, at_ms: int = 1000, weight: float = 1.0) -> LocalQueue:
    return LocalQueue("ns/a", "q", weight=weight, consumed=(("cpu", amount),), consumed_ms=at_ms)


def test_what_was_consumed_halves_in_a_half_life() -> None:
    usage = past()
    usage.meet(consumed(8.0))
    usage.sample(1000 + HOUR)
    assert usage.consumed["ns/a"] == {"cpu": 4.0}
    usage.sample(1000 + 3 * HOUR)
    assert usage.consumed["ns/a"] == {"cpu": 1.0}


def test_what_runs_is_approached_by_as_much() -> None:
    usage = past()
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=True)
    usage.sample(1000 + HOUR)
    assert usage.consumed["ns/a"] == {"cpu": 3.0}
    usage.sample(1000 + 2 * HOUR)
    assert usage.consumed["ns/a"] == {"cpu": 4.5}


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 9))
def test_how_often_steady_usage_is_sampled_plays_no_part(steps: list[int], before: int) -> None:
    often, once = past(), past()
    for usage in (often, once):
        usage.meet(consumed(float(before)))
        usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=True)
    at = 1000
    for step in steps:
        at += step * HOUR
        often.sample(at)
    once.sample(at)
    assert often.value("ns/a") == pytest.approx(once.value("ns/a"), abs=1e-8)


def test_it_is_only_sampled_when_it_is_time() -> None:
    usage = past()
    usage.meet(consumed(8.0))
    usage.sample(1000 + HOUR - 1)
    assert usage.value("ns/a") == 8.0


def test_with_a_penalty_pending_it_is_sampled_at_once() -> None:
    usage = past()
    usage.meet(consumed(8.0))
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=False)
    usage.sample(1000 + HOUR // 2)
    assert usage.consumed["ns/a"]["cpu"] == pytest.approx(8 * 0.5**0.5, abs=1e-8)


def test_time_in_which_nothing_was_used_does_not_count() -> None:
    usage = past()
    usage.sample(1000 + 9 * HOUR)
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=True)
    usage.sample(1000 + 10 * HOUR)
    assert usage.consumed["ns/a"] == {"cpu": 3.0}


def test_a_penalty_counts_from_the_decision_on_and_joins_when_admitted() -> None:
    usage = past()
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=False)
    assert usage.value("ns/a") == 3.0
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=True)
    assert (usage.value("ns/a"), usage.penalties, usage.consumed) == (3.0, {}, {"ns/a": {"cpu": 3.0}})


def test_a_penalty_for_nothing_is_forgotten() -> None:
    usage = past()
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=False)
    usage.forget("ns/w")
    assert (usage.value("ns/a"), usage.penalties, usage.door_of) == (0.0, {}, {})
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=False)
    usage.hold("ns/w", "ns/b", {CPU: 6000}, admitted=False)
    assert (usage.value("ns/a"), usage.value("ns/b")) == (0.0, 3.0)


def test_who_runs_already_gets_no_penalty() -> None:
    usage = past()
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=True)
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=False)
    assert usage.penalties == {}


def test_without_a_half_life_nothing_is_kept() -> None:
    usage = past(UsageSharing(half_life_ms=0, sampling_ms=1))
    usage.meet(consumed(8.0))
    usage.hold("ns/w", "ns/a", {CPU: 6000}, admitted=False)
    assert usage.value("ns/a") == 8.0
    usage.sample(1002)
    assert usage.consumed == {}


def test_weights_of_resources_and_of_the_local_queue() -> None:
    usage = past(UsageSharing(HOUR, HOUR, weights=(("memory", 0.5),)))
    both = (("cpu", 2.0), ("memory", 8.0))
    usage.meet(LocalQueue("ns/a", "q", weight=2.0, consumed=both, consumed_ms=1))
    assert usage.value("ns/a") == 3.0
    usage.meet(LocalQueue("ns/a", "q", weight=0.0))
    assert usage.value("ns/a") == math.inf
    assert usage.value("ns/unknown") == 0.0


def test_devices_and_cores_count_in_wholes_of_all_flavors() -> None:
    usage = past()
    usage.hold(
        "ns/w",
        "ns/a",
        {CPU: 3000, ("fixed", "cpu"): 1000, ("spot", "x.y/gpu"): 2000, ("spot", "memory"): 4},
        admitted=True,
    )
    assert usage.running["ns/a"]["ns/w"] == {"cpu": 4.0, "memory": 4.0, "x.y/gpu": 2.0}


def test_an_older_word_of_what_was_consumed_is_passed_over() -> None:
    usage = past()
    usage.meet(consumed(8.0, at_ms=5000))
    usage.meet(consumed(3.0, at_ms=4000))
    assert usage.value("ns/a") == 8.0
    usage.part("ns/a")
    assert usage.value("ns/a") == 0.0


def test_what_is_too_little_to_count_is_cut() -> None:
    usage = past()
    usage.meet(consumed(3e-9))
    usage.sample(1000 + 2 * HOUR)
    assert usage.consumed == {}


def test_the_state_keeps_it_for_queues_whose_local_queues_take_turns() -> None:
    state = State(Profile(places=False, settings=Settings(by_usage=SHARING)))
    one = queue("q", {"spot": {"cpu": 9}}, by_usage=True)
    for noun in (flavor("spot"), one, queue("p", {"spot": {"cpu": 9}}), door("ns/a", "q"), door("ns/b", "p")):
        state.apply(Put(noun))
    state.apply(Put(workload("ns/w", cpu=6, queue="ns/a")))
    state.apply(Put(workload("ns/x", cpu=6, queue="ns/b")))
    decided = cycle.decide(state, 5000)
    assert (state.past.value("ns/a"), state.past.value("ns/b")) == (3.0, 0.0)
    for decision in decided:
        state.settle(decision, False)
    assert state.past.value("ns/a") == 0.0
