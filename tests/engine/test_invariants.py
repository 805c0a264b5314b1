"""Invariants: each breach that is made by hand is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from kumi.api.errors import InvariantError
from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.order import kind
from kumi.engine.claims import Claim
from kumi.engine.decisions import Admit, Decision, Evict
from kumi.engine.model import Admission, PodSetAssigned, PodShape, Profile, Put
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Reason
from kumi.engine.settings import Settings
from kumi.engine.state import State
from kumi.testing.builders import GPU, door, node, pod, workload
from kumi.testing.diagram import Cluster
from kumi.testing.strategies import World, worlds
from tests.engine.admission import trees
from tests.engine.machine import Machine, Rivalry

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


def somebody_is_spoken_for_and_stays(state: State) -> None:
    state.claims.spoken["ns/a"] = "ns/b"


def a_view_is_left_open(state: State) -> None:
    state.claims.shown = True


def a_claim_of_one_that_waits_in_no_line(state: State) -> None:
    state.claims.of["ns/e"] = Claim(Admission("cq", ()), Assignment("cq", Mode.FIT, (), {}))


def one_is_due_that_claims_nothing(state: State) -> None:
    state.claims.due["ns/b"] = None


BREACHES = [
    (somebody_is_spoken_for_and_stays, "does not go, and is spoken for"),
    (a_view_is_left_open, "left open"),
    (a_claim_of_one_that_waits_in_no_line, "waits in no line"),
    (one_is_due_that_claims_nothing, "gone is due"),
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


def test_the_machine_of_rivals() -> None:
    """The same among queues that borrow and preempt: claims are kept, nothing is promised that isn't there."""
    Rivalry.seen = Counter()
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Rivalry, settings=settings(max_examples=120, stateful_step_count=50, database=None, derandomize=True)
    )
    for what, least in (("Admit", 200), ("borrows", 300), ("preempted", 15), ("claims", 30), ("refused", 30)):
        assert Rivalry.seen[what] >= least, (what, Rivalry.seen)


def carried_out(state: State, decided: list[Decision], now_ms: int) -> None:
    """Every decision is written, and every victim stops at once."""
    for decision in decided:
        state.settle(decision, True)
        if isinstance(decision, Admit):
            job = replace(state.workloads[decision.workload], admission=decision.admission, admitted=True)
            state.apply(Put(replace(job, reserved_ms=now_ms)))
        elif isinstance(decision, Evict):
            job = replace(state.workloads[decision.workload], admission=None, admitted=False, evicted=False)
            state.apply(Put(replace(job, reserved_ms=0)))
        invariants.check(state)


def test_limits_hold_at_every_level_and_it_comes_to_rest() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=60)
    @given(st.integers(0, 2**32), trees.settings)
    def check(seed: int, chosen: Settings) -> None:
        world, chance = trees.world_of(seed), Random(seed)
        running = [replace(job, evicted=False) for job in world.holders]
        state = world.state(Profile(places=False, settings=chosen), running)
        for name in trees.QUEUES:
            state.apply(Put(door(f"ns/{name}", name)))
        for n in range(6):
            shape_ = PodShape((("cpu", chance.randint(1, 4)),))
            job = workload(f"ns/p{n}", pod_shape=shape_, queue=f"ns/{chance.choice(trees.QUEUES)}")
            state.apply(Put(replace(job, priority=chance.randint(0, 4), created_ms=10 + n)))
        preempted: Counter[str] = Counter()
        for now_ms in range(100, 130):
            decided = cycle.decide(state, now_ms)
            invariants.check(state)
            if chosen.fair is None:
                again = cycle.decide(state, now_ms)
                assert not [d for d in again if isinstance(d, Admit | Evict)]
            preempted.update(d.workload for d in decided if isinstance(d, Evict))
            if not decided:
                break
            carried_out(state, decided, now_ms)
        if chosen.fair is None:
            assert not decided
        seen.update(all=1, borrowed=any(state.quotas.borrowers.values()), preempted=bool(preempted))

    check()
    assert seen["borrowed"] > 0.4 * seen["all"]
    assert seen["preempted"] > 0.15 * seen["all"]
