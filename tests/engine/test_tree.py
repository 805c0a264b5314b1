"""Tree: what administrators set up, in any order, and who is told of it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.admission.quota import cohort_node
from kumi.engine.model import (
    AdmissionCheck,
    CheckRule,
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    Put,
    Quota,
    Remove,
    ResourceGroup,
    Topology,
)
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from kumi.testing.builders import door, flavor, workload

FR = ("spot", "cpu")


def groups(nominal: int) -> tuple[ResourceGroup, ...]:
    return (ResourceGroup(("cpu",), (FlavorQuotas("spot", (("cpu", Quota(nominal)),)),)),)


def pool(name: str, cohort: str, nominal: int = 1, **fields: object) -> ClusterQueue:
    return ClusterQueue(name, groups(nominal), cohort=cohort, **fields)  # type: ignore[arg-type]


def state_of(*nouns: object) -> State:
    state = State()
    for noun in (flavor("spot"), *nouns):
        state.apply(Put(noun))  # type: ignore[arg-type]
        invariants.check(state)
    return state


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_any_order_makes_the_same_tree_and_cycles_come_and_go(seed: int) -> None:
    chance = Random(seed)
    names = ("a", "b", "c", "d")
    state = state_of()
    last: dict[object, Put] = {}
    for _ in range(14):
        name = chance.choice(names)
        if chance.random() < 0.7:
            put = Put(
                Cohort(name, chance.choice(["", *names]), groups(chance.randint(0, 3)) if chance.random() < 0.5 else ())
            )
            last[Cohort, name] = put
            state.apply(put)
        elif chance.random() < 0.3:
            last.pop((Cohort, name), None)
            state.apply(Remove(Cohort, name))
        else:
            put = Put(pool(f"q-{name}", chance.choice(["", *names]), chance.randint(0, 3)))
            last[ClusterQueue, name] = put
            state.apply(put)
        invariants.check(state)
    other = state_of()
    puts = list(last.values())
    chance.shuffle(puts)
    for put in puts:
        other.apply(put)
    for table in ("quota", "parent", "children", "subtrees", "kept", "lent", "heights"):
        assert getattr(other.quotas, table) == getattr(state.quotas, table)
    assert {q: state.catalog.closed(q) for q in state.catalog.cluster_queues} == {
        q: other.catalog.closed(q) for q in other.catalog.cluster_queues
    }


def test_a_cohort_is_there_as_soon_as_a_queue_names_it() -> None:
    state = state_of(pool("q", "team", 2), pool("p", "team", 3))
    assert state.quotas.available("q", FR) == 5
    state.apply(Put(Cohort("team", groups=groups(4))))
    assert state.quotas.available("q", FR) == 9
    state.apply(Remove(Cohort, "team"))
    assert state.quotas.available("q", FR) == 5


def test_queues_below_cohorts_that_are_each_others_parents_are_closed() -> None:
    state = state_of(
        Cohort("a", "b"),
        Cohort("b", "c"),
        Cohort("leaf", "a"),
        pool("in", "a"),
        pool("below", "leaf"),
        pool("out", "z"),
    )
    assert state.catalog.closed("in") is None
    state.apply(Put(Cohort("c", "a")))
    invariants.check(state)
    assert state.catalog.closed("in") == Reason(Code.COHORT_CYCLE, where="in", detail="a")
    assert state.catalog.closed("below") == Reason(Code.COHORT_CYCLE, where="below", detail="leaf")
    assert state.catalog.closed("out") is None
    state.apply(Put(Cohort("b", "")))
    invariants.check(state)
    assert state.catalog.closed("in") is None
    assert state.quotas.root("in") == cohort_node("b")


def test_a_cohort_may_not_be_its_own_parent() -> None:
    state = state_of(Cohort("a", "a"), pool("q", "a"))
    assert state.catalog.closed("q") == Reason(Code.COHORT_CYCLE, where="q", detail="a")
    assert state.quotas.parent == {"q": cohort_node("a")}


@pytest.mark.parametrize(
    "change",
    [
        Cohort("top", groups=groups(9)),
        Cohort("team", ""),
        pool("other", "team", 9),
        pool("new", "top", 3),
        flavor("spot", zone="a"),
    ],
    ids=["quota of a cohort", "parent of a cohort", "quota of a relative", "a new relative", "a flavor"],
)
def test_whoever_may_be_helped_by_a_change_is_tried_again(change: object) -> None:
    job = workload("ns/w", cpu=1, queue="ns/q")
    state = state_of(
        Cohort("top"), Cohort("team", "top"), pool("q", "team"), pool("other", "team"), door("ns/q", "q"), job
    )
    spot = state.queues.spot["ns/w"]
    state.queues.park("q", spot.kind, Parked(Reason(Code.QUOTA_IN_USE)))
    state.apply(Put(pool("stranger", "elsewhere")))
    assert state.queues.is_parked("q", spot.kind)
    state.apply(Put(change))  # type: ignore[arg-type]
    assert not state.queues.is_parked("q", spot.kind)


def test_a_queue_waits_for_its_checks_and_their_answers() -> None:
    state = state_of(pool("q", "", checks=(CheckRule("budget"),)))
    assert state.catalog.closed("q") == Reason(Code.CHECK_NOT_FOUND, where="q", detail="budget")
    state.apply(Put(AdmissionCheck("budget", "x", active=False)))
    assert state.catalog.closed("q") == Reason(Code.CHECK_INACTIVE, where="q", detail="budget")
    state.apply(Put(AdmissionCheck("budget", "x")))
    assert state.catalog.closed("q") is None
    state.apply(Remove(AdmissionCheck, "budget"))
    assert state.catalog.closed("q") == Reason(Code.CHECK_NOT_FOUND, where="q", detail="budget")


def test_a_queue_waits_for_the_topologies_of_its_flavors() -> None:
    racks = flavor("spot")
    state = state_of(pool("q", ""))
    state.apply(Put(type(racks)("spot", topology="racks")))
    assert state.catalog.closed("q") == Reason(Code.TOPOLOGY_NOT_FOUND, flavor="spot", where="q", detail="racks")
    state.apply(Put(Topology("racks", ("rack",))))
    assert state.catalog.closed("q") is None


def test_who_waits_in_a_queue_that_closes_is_told() -> None:
    state = state_of(pool("q", ""), door("ns/q", "q"), workload("ns/w", cpu=1, queue="ns/q"))
    state.untold.clear()
    state.apply(Put(pool("q", "", 2)))
    assert state.untold == {}
    state.apply(Put(pool("q", "", 2, checks=(CheckRule("budget"),))))
    assert state.untold == {"ns/w": None}
