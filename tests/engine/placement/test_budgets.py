"""Budgets: what was decided counts until the budget has it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.decisions import EvictPod
from kumi.engine.gangs import DisruptionBudget
from kumi.engine.model import Pod, Put, Remove, Requirement
from kumi.engine.placement.budgets import guarding, guards, left
from kumi.engine.state import State
from kumi.testing.builders import node, pod

APP = (Requirement("app", "In", ("x",)),)


def running(name: str, namespace: str = "ns", **labels: str) -> Pod:
    made = pod(f"{namespace}/{name}", cpu=1, node="a", phase="Running", labels=tuple(labels.items()))
    return replace(made, uid=name)


def state_of(*budgets: DisruptionBudget, pods: int = 4) -> State:
    state = State()
    for noun in (node("a", cpu=9), *budgets, *(running(f"p{n}", app="x") for n in range(pods))):
        state.apply(Put(noun))
    return state


def evict(state: State, uid: str) -> EvictPod:
    decision = EvictPod(uid, "")
    state.assume(decision)
    return decision


@pytest.mark.parametrize(
    ("selector", "found"),
    [(None, False), ((), True), (APP, True), ((Requirement("app", "In", ("y",)),), False)],
    ids=["none", "empty", "its", "others"],
)
def test_a_budget_guards_whom_its_selector_means(selector: tuple[Requirement, ...] | None, found: bool) -> None:
    assert guards(DisruptionBudget("ns/b", selector), running("p", app="x")) is found


def test_it_guards_its_namespace_and_nobody_whose_eviction_is_counted() -> None:
    one = running("p", app="x")
    assert not guards(DisruptionBudget("n/b", APP), one)
    assert not guards(DisruptionBudget("other/b", APP), one)
    assert not guards(DisruptionBudget("ns/b", APP, granted=("p",)), one)


def test_a_decision_counts_until_the_budget_shows_another_number() -> None:
    budget = DisruptionBudget("ns/b", APP, 2)
    state = state_of(budget)
    evict(state, "p0")
    assert left(state.tasks) == {"ns/b": 1}
    state.apply(Put(replace(running("p0", app="x"), terminating=True)))
    assert left(state.tasks) == {"ns/b": 1}
    state.apply(Put(replace(budget, allowed=1)))
    assert left(state.tasks) == {"ns/b": 1}


def test_it_counts_no_more_when_the_pod_is_gone_or_stays_after_all() -> None:
    state = state_of(DisruptionBudget("ns/b", APP, 2))
    refused = evict(state, "p0")
    evict(state, "p1")
    assert left(state.tasks) == {"ns/b": 0}
    state.settle(refused, ok=False)
    assert left(state.tasks) == {"ns/b": 1}
    state.apply(Remove(Pod, "p1"))
    assert left(state.tasks) == {"ns/b": 2}
    assert not state.tasks.spent


def test_whom_nobody_guards_costs_nothing() -> None:
    state = state_of(DisruptionBudget("ns/b", (Requirement("app", "In", ("y",)),), 1))
    evict(state, "p0")
    assert left(state.tasks) == {"ns/b": 1}
    assert not state.tasks.spent


@given(st.lists(st.sampled_from(["evict", "gone", "seen"]), max_size=12), st.integers(0, 6))
@settings(max_examples=60)
def test_what_is_left_is_what_is_allowed_less_what_was_decided_since(steps: list[str], allowed: int) -> None:
    """A controller that takes a while: what it says and what is not in it yet are together what was allowed at first."""
    budget = DisruptionBudget("ns/b", APP, allowed)
    state, there, leaving, counted = state_of(budget, pods=6), [f"p{n}" for n in range(6)], list[str](), 0
    decided = 0
    for step in steps:
        if step == "evict" and there:
            leaving.append(there.pop())
            evict(state, leaving[-1])
            decided += 1
        elif step == "seen" and counted < decided:
            counted = decided
            state.apply(Put(replace(budget, allowed=allowed - counted)))
        elif step == "gone" and leaving and counted == decided:
            state.apply(Remove(Pod, leaving.pop(0)))
        assert left(state.tasks) == {"ns/b": allowed - decided}


def test_what_a_trial_takes_back_was_not_spent() -> None:
    state = state_of(DisruptionBudget("ns/b", APP, 1))
    with state.trial():
        evict(state, "p0")
        assert left(state.tasks) == {"ns/b": 0}
    assert left(state.tasks) == {"ns/b": 1}


def test_those_that_guard_a_pod_come_by_key() -> None:
    budgets = [DisruptionBudget(f"ns/{name}", APP, 1) for name in "ba"]
    state = state_of(*budgets)
    assert [b.key for b in guarding(state.tasks, running("p", app="x"))] == ["ns/a", "ns/b"]


def test_what_was_counted_once_is_not_counted_again_when_the_budget_is_what_it_was() -> None:
    budget = DisruptionBudget("ns/b", APP, 1)
    state = state_of(budget)
    evict(state, "p0")
    state.apply(Put(replace(running("p0", app="x"), terminating=True)))
    state.apply(Put(budget))
    assert left(state.tasks) == {"ns/b": 0}
    state.apply(Put(replace(budget, allowed=0)))
    assert not state.tasks.spent
    state.apply(Put(budget))
    assert left(state.tasks) == {"ns/b": 1}


def test_a_budget_that_goes_takes_along_what_it_was_charged_and_no_other_does() -> None:
    budgets = [DisruptionBudget(f"ns/{name}", APP, 2) for name in "ab"]
    state = state_of(*budgets)
    evict(state, "p0")
    state.apply(Remove(DisruptionBudget, "ns/a"))
    assert left(state.tasks) == {"ns/b": 1}
    state.apply(Put(budgets[0]))
    assert left(state.tasks) == {"ns/a": 2, "ns/b": 1}
    with state.trial():
        state.apply(Put(replace(budgets[1], allowed=1)))
        assert left(state.tasks) == {"ns/a": 2, "ns/b": 1}
        assert not state.tasks.spent
    assert state.tasks.spent == {"p0": ("ns/b",)}


@given(st.lists(st.tuples(st.sampled_from(["m/a", "n/a", "n/b"]), st.integers(-1, 2)), max_size=10))
def test_budgets_are_kept_by_namespace_as_they_come_change_and_go(steps: list[tuple[str, int]]) -> None:
    state, there = State(), dict[str, DisruptionBudget]()
    for key, allowed in steps:
        if allowed < 0:
            there.pop(key, None)
            state.apply(Remove(DisruptionBudget, key))
        else:
            there[key] = DisruptionBudget(key, APP, allowed)
            state.apply(Put(there[key]))
    assert state.tasks.budgets == there
    found = {namespace: [b.key for b in budgets] for namespace, budgets in state.tasks.budgets_of.items()}
    assert found == {
        ns: keys for ns in ("m", "n") if (keys := sorted(key for key in there if key.startswith(f"{ns}/")))
    }
