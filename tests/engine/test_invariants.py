"""Invariants: each breach that is made by hand is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis.stateful import run_state_machine_as_test

from kumi.api.errors import InvariantError
from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.admission.order import kind
from kumi.engine.decisions import Admit
from kumi.engine.model import Admission, PodSetAssigned, Profile, Put
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason
from kumi.engine.state import State
from kumi.testing.builders import GPU, node, pod
from kumi.testing.diagram import Cluster
from kumi.testing.strategies import World, worlds
from tests.engine.machine import Machine

FR = ("default", GPU)


def busy() -> Cluster:
    """Something of everything: one that holds, two in line, one that backs off, one aside, a pod on its own."""
    cluster = Cluster.drawn("n1 | A A x .\nn2 | . .", gpus=4)
    cluster.start("A")
    cluster.submit("B", 3)
    cluster.submit("C", 9)
    cluster.submit("D", requeue_at_ms=99)
    cluster.submit("E", active=False)
    cluster.run()
    return cluster


def usage_is_forgotten(state: State) -> None:
    state.quotas.usage["cq"][FR] -= 1


def usage_of_nobody(state: State) -> None:
    state.quotas.add("other", FR, 1)


def a_holder_is_not_in_the_index(state: State) -> None:
    del state.holdings.by_quota["cq", FR]


def a_holder_is_forgotten(state: State) -> None:
    del state.holdings.admission["ns/a"]


def a_node_is_charged_twice(state: State) -> None:
    state.nodes.use("n2", ((GPU, 1000),), 1)


def a_row_without_a_node_is_charged(state: State) -> None:
    state.nodes.used[0, 7] = 1


def a_pod_sits_elsewhere(state: State) -> None:
    state.pods.node_of["ns/x-0"] = "n2"


def a_place_is_open_twice(state: State) -> None:
    state.reservations.open["ns/a", "main"]["n1"] = 1


def a_promise_is_forgotten(state: State) -> None:
    del state.reservations.promised["ns/a", "main"]


def a_promise_is_changed(state: State) -> None:
    state.reservations.promised["ns/a", "main"] = {"n2": 2}


def one_waits_nowhere(state: State) -> None:
    state.queues.leave("ns/b")


def one_waits_twice(state: State) -> None:
    state.aside["ns/b"] = Reason(Code.INACTIVE)


def one_that_holds_waits(state: State) -> None:
    state.aside["ns/a"] = Reason(Code.INACTIVE)


def one_is_out_of_place(state: State) -> None:
    state.workloads["ns/b"] = replace(state.workloads["ns/b"], priority=7)


def one_waits_in_the_wrong_line(state: State) -> None:
    state.workloads["ns/b"] = replace(state.workloads["ns/b"], queue="ns/none")


def a_line_has_a_stranger(state: State) -> None:
    state.queues.line["cq"].append((9, 9, "z", "ns/z"))


def a_back_off_is_lost(state: State) -> None:
    state.queues.later.clear()


def a_ready_kind_has_no_head(state: State) -> None:
    state.queues.wake("cq", kind(state.workloads["ns/b"]))
    state.queues.ready["cq"].clear()


def a_kind_lost_a_member(state: State) -> None:
    state.queues.members["cq"][kind(state.workloads["ns/b"])].clear()


def a_kind_of_nobody_is_parked(state: State) -> None:
    strange = kind(replace(state.workloads["ns/b"], priority=7))
    state.queues.parked["cq"][strange] = Parked(Reason(Code.NODES_FULL))


def a_workload_is_gone_and_waits(state: State) -> None:
    del state.workloads["ns/b"]


def one_is_admitted_past_quota(state: State) -> None:
    admit(state, "ns/b", (("n1", 1), ("n2", 2)))


def one_is_admitted_past_the_nodes(state: State) -> None:
    state.quotas.quota["cq"] = {}
    state.quotas.inherited["cq", FR] = 10**9
    admit(state, "ns/b", (("n2", 3),))


def half_a_gang_is_admitted(state: State) -> None:
    state.quotas.inherited["cq", FR] = 10**9
    admit(state, "ns/b", (("n2", 2),))


def admit(state: State, key: str, nodes: tuple[tuple[str, int], ...]) -> None:
    given_ = PodSetAssigned("main", 3, ((GPU, "default"),), ((GPU, 3000),), nodes)
    state.assume(Admit(key, Admission("cq", (given_,))))


def fewer_are_admitted_than_it_counts(state: State) -> None:
    given_ = PodSetAssigned("main", 1, ((GPU, "default"),), ((GPU, 1000),), (("n2", 1),))
    state.assume(Admit("ns/b", Admission("cq", (given_,))))


BREACHES = [
    (usage_is_forgotten, "quota: usage is kept"),
    (usage_of_nobody, "quota: usage is kept"),
    (a_holder_is_not_in_the_index, "index of quota holders"),
    (a_holder_is_forgotten, "not what the workloads and the assumed admissions say"),
    (a_node_is_charged_twice, "n2 is kept to use"),
    (a_row_without_a_node_is_charged, "a row without a node is not empty"),
    (a_pod_sits_elsewhere, "sits on another node than is kept"),
    (a_place_is_open_twice, "has open"),
    (a_promise_is_forgotten, "promises are not those of the admissions held"),
    (a_promise_is_changed, "is promised other than it was admitted"),
    (one_waits_nowhere, "does not wait in one place"),
    (one_waits_twice, "does not wait in one place"),
    (one_that_holds_waits, "does not wait in one place"),
    (one_is_out_of_place, "is out of place"),
    (one_waits_in_the_wrong_line, "waits in the line of cq"),
    (a_line_has_a_stranger, "a line is not what waits in it"),
    (a_back_off_is_lost, "not those who back off are kept for later"),
    (a_ready_kind_has_no_head, "are not the first of kinds not parked"),
    (a_kind_lost_a_member, "are not its line"),
    (a_kind_of_nobody_is_parked, "has parked a kind that nobody is of"),
    (a_workload_is_gone_and_waits, "a workload that is gone is in line"),
    (one_is_admitted_past_quota, "quota: cq uses 5000"),
    (one_is_admitted_past_the_nodes, "nodes: n2 uses 3000"),
    (half_a_gang_is_admitted, "has 2 places for 3 pods"),
    (fewer_are_admitted_than_it_counts, "is admitted with 1"),
]


@pytest.mark.parametrize(("breach", "said"), BREACHES, ids=[b.__name__ for b, _ in BREACHES])
def test_a_breach_is_found(breach: Callable[[State], None], said: str) -> None:
    state = busy().state
    invariants.check(state)
    breach(state)
    with pytest.raises(InvariantError, match=said):
        invariants.check(state)


def test_places_where_kumi_does_not_place_are_a_breach() -> None:
    cluster = Cluster.drawn("n1 | . .", profile=Profile(places=False))
    cluster.submit("A", 2)
    given_ = PodSetAssigned("main", 2, ((GPU, "default"),), ((GPU, 2000),), (("n1", 2),))
    cluster.state.assume(Admit("ns/a", Admission("cq", (given_,))))
    with pytest.raises(InvariantError, match="has 2 places for 0 pods"):
        invariants.check(cluster.state)


def test_what_came_from_outside_is_let_pass_and_no_more_than_that() -> None:
    cluster = Cluster.drawn("n1 | A A", gpus=1)
    cluster.put(node("n1", gpu=1), pod("ns/p", gpu=1, node="n1"))
    cluster.state.nodes.inherited[cluster.state.nodes.line(GPU), 0] -= 1
    with pytest.raises(InvariantError, match="n1 uses 3000"):
        invariants.check(cluster.state)


@given(worlds())
def test_nothing_that_the_engine_does_is_a_breach(world: World) -> None:
    state = State()
    for noun in world.nouns:
        state.apply(Put(noun))
    cycle.decide(state, 0)
    invariants.check(state)


def test_the_machine() -> None:
    """Random events, late views, refused and lost writes, node loss, restarts; and enough of each."""
    Machine.seen = Counter()
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Machine, settings=settings(max_examples=150, stateful_step_count=50, database=None, derandomize=True)
    )
    for what, least in (
        ("Admit", 60),
        ("Hold", 60),
        ("Evict", 10),
        ("Bind", 40),
        ("gang bound", 5),
        ("Unplaced", 10),
        ("refused", 30),
        ("settled", 100),
        ("job ended", 5),
        ("evicted", 3),
        ("node lost", 10),
    ):
        assert Machine.seen[what] >= least, (what, Machine.seen)
