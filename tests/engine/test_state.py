"""State: arrival in any order, assumptions, and what an idle cluster costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine import invariants
from kumi.engine.admission import cycle
from kumi.engine.decisions import Admit, Bind, Evict, Hold, Unplaced
from kumi.engine.model import (
    Admission,
    ClusterQueue,
    Flavor,
    LocalQueue,
    Namespace,
    Node,
    Pod,
    Profile,
    Put,
    Remove,
    StopPolicy,
    Workload,
)
from kumi.engine.placement import session
from kumi.engine.reasons import Code, Reason, Record
from kumi.engine.state import State
from kumi.testing.builders import door, flavor, node, pod, pods_of, queue, workload
from kumi.testing.diagram import Cluster, picture
from kumi.testing.strategies import World, worlds


def admitted(state: State) -> dict[str, Admission]:
    return dict(sorted(state.holdings.admission.items()))


@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_decides_nothing(world: World, random: Any) -> None:
    one, other = State(), State()
    shuffled = list(world.nouns)
    random.shuffle(shuffled)
    for state, nouns in ((one, world.nouns), (other, shuffled)):
        for noun in nouns:
            state.apply(Put(noun))
            invariants.check(state)
    assert cycle.decide(one, 0) == cycle.decide(other, 0)
    assert admitted(one) == admitted(other)


@given(worlds(), st.randoms(use_true_random=False))
def test_what_was_decided_while_things_were_missing_is_what_is_decided_once_they_are_there(
    world: World, random: Any
) -> None:
    """Workloads, nodes and queues come one by one with a decision after each; the set of all held is a possible one."""
    state, shuffled = State(), list(world.nouns)
    random.shuffle(shuffled)
    for noun in shuffled:
        state.apply(Put(noun))
        cycle.decide(state, 0)
        invariants.check(state)
        assert cycle.decide(state, 0) == []


@given(worlds())
def test_whatever_a_trial_holds_it_leaves_nothing(world: World) -> None:
    state = State()
    for noun in world.nouns[: len(world.nouns) // 2]:
        state.apply(Put(noun))
    before = picture(state)
    with state.trial():
        for noun in world.nouns:
            state.apply(Put(noun))
        for decision in cycle.decide(state, 0):
            state.settle(decision, len(repr(decision)) % 2 == 0)
        for job in world.workloads:
            for each in pods_of(job):
                state.apply(Put(each))
        for decision in session.decide(state, 0):
            state.settle(decision, len(repr(decision)) % 2 == 0)
        for noun in world.setup:
            if isinstance(noun, Node | ClusterQueue | Flavor | Namespace):
                state.apply(Remove(type(noun), noun.name))
        for job in world.workloads:
            state.apply(Remove(Workload, job.key))
        invariants.check(state)
    assert picture(state) == before
    invariants.check(state)


def test_an_object_that_says_nothing_new_changes_nothing() -> None:
    cluster = Cluster.drawn("n1 | A A . x")
    cluster.submit("B", 9)
    cluster.start("A")
    cluster.run()
    before = picture(cluster.state)
    nouns = [*cluster.workloads.values(), *cluster.pods.values(), *cluster.state.nodes.node_by_name.values()]
    nouns += cluster.state.catalog.cluster_queues.values()
    nouns += [flavor(), door("ns/lq", "cq")]
    cluster.put(*nouns)
    assert picture(cluster.state) == before
    assert cluster.run() == []


def test_removing_what_is_not_there_changes_nothing() -> None:
    cluster = Cluster.drawn("n1 | A .")
    before = picture(cluster.state)
    for type_ in (Workload, Pod, Node, ClusterQueue, LocalQueue, Namespace, Flavor):
        cluster.remove(type_, "none")
    assert picture(cluster.state) == before


# assumptions


def test_an_admission_is_assumed_at_once_and_an_old_sight_does_not_undo_it() -> None:
    cluster = Cluster.drawn("n1 | . .")
    job = cluster.submit("A", 2)
    (admit,) = cluster.decide()
    assert cluster.draw() == "n1 | A A"
    cluster.put(replace(job, priority=3))
    assert cluster.draw() == "n1 | A A"
    cluster.state.settle(admit, True)
    cluster.put(replace(job, priority=4))
    assert cluster.draw() == "n1 | A A"
    assert cluster.run() == []


def test_a_refused_admission_frees_everything_and_is_decided_anew() -> None:
    cluster = Cluster.drawn("n1 | . .")
    cluster.submit("A", 2)
    (admit,) = cluster.decide()
    cluster.refuse([admit])
    assert cluster.draw() == "n1 | . ."
    assert cluster.decide() == [admit]


def test_a_refusal_that_comes_after_the_object_shows_the_admission_undoes_nothing() -> None:
    cluster = Cluster.drawn("n1 | . .")
    job = cluster.submit("A", 2)
    (admit,) = cluster.decide()
    assert isinstance(admit, Admit)
    cluster.put(replace(job, admission=admit.admission))
    cluster.refuse([admit])
    assert cluster.draw() == "n1 | A A"


def test_an_admission_that_was_seen_and_is_gone_is_over() -> None:
    cluster = Cluster.drawn("n1 | . .")
    job = cluster.submit("A", 2)
    cluster.run()
    cluster.put(job)
    assert cluster.draw() == "n1 | . ."
    assert [type(d) for d in cluster.decide()] == [Admit]


def test_with_revisions_an_admission_that_went_unseen_is_over_too() -> None:
    cluster = Cluster.drawn("n1 | . .")
    job = cluster.submit("A", 2)
    (admit,) = cluster.decide()
    cluster.state.settle(admit, True, revision=7)
    cluster.put(replace(job, priority=1, revision=6))
    assert cluster.holding() == "A"
    cluster.put(replace(job, priority=2, revision=8, active=False))
    assert cluster.holding() == ""


def test_an_acknowledgement_that_comes_late_is_measured_by_what_was_seen_since() -> None:
    cluster = Cluster.drawn("n1 | . .")
    job = cluster.submit("A", 2)
    (admit,) = cluster.decide()
    cluster.put(replace(job, priority=2, revision=8, active=False))
    assert cluster.holding() == "A"
    cluster.state.settle(admit, True, revision=7)
    assert cluster.holding() == ""
    invariants.check(cluster.state)


def test_another_admission_than_the_assumed_one_is_taken_as_it_is_seen() -> None:
    cluster = Cluster.drawn("n1 | . .\n n2 | . .")
    job = cluster.submit("A", 2)
    (admit,) = cluster.decide()
    assert isinstance(admit, Admit)
    given_ = admit.admission.pod_sets[0]
    cluster.put(replace(job, admission=Admission("cq", (replace(given_, nodes=(("n2", 2),)),))))
    assert cluster.draw() == "n1 | . .\nn2 | A A"


def test_a_workload_that_changes_its_pods_while_it_holds_is_charged_anew() -> None:
    cluster = Cluster.drawn("n1 | A . . .")
    cluster.put(workload("ns/a", 1, gpu=3, admission=cluster.workloads["ns/a"].admission))
    assert cluster.draw() == "n1 | A A A ."


def test_a_finished_workload_holds_nothing_and_stays_finished() -> None:
    cluster = Cluster.drawn("n1 | A .")
    cluster.finish("A")
    assert (cluster.draw(), cluster.holding()) == ("n1 | . .", "")
    assert cluster.run() == []


def test_a_workload_that_finishes_before_its_admission_is_acknowledged_holds_nothing() -> None:
    cluster = Cluster.drawn("n1 | . .")
    job = cluster.submit("A", 2)
    (admit,) = cluster.decide()
    cluster.put(replace(job, finished=True))
    cluster.state.settle(admit, True)
    assert cluster.holding() == ""


def test_an_evicted_workload_keeps_all_until_its_admission_goes() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.put(replace(cluster.workloads["ns/a"], evicted=True))
    assert cluster.draw() == "n1 | A A"
    cluster.unadmit("A")
    assert cluster.draw() == "n1 | . ."


def test_a_workload_that_goes_frees_all() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.submit("B", 2)
    assert cluster.run() != []
    cluster.remove(Workload, "ns/a")
    assert [type(d) for d in cluster.run()] == [Admit]
    cluster.remove(Workload, "ns/b")
    assert (cluster.draw(), cluster.state.quotas.usage) == ("n1 | . .", {})


def test_what_was_admitted_past_quota_or_room_is_taken_as_it_is() -> None:
    cluster = Cluster.drawn("n1 | A A A", gpus=2)
    cluster.put(node("n1", gpu=1))
    assert cluster.state.quotas.available("cq", ("default", "nvidia.com/gpu")) == -1000
    cluster.submit("B", 1)
    assert [type(d) for d in cluster.run()] == [Hold]


def test_usage_of_a_queue_that_is_not_there_yet_is_counted_when_it_comes() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.remove(ClusterQueue, "cq")
    cluster.put(queue("cq", {"default": {"gpu": 3}}))
    assert cluster.state.quotas.available("cq", ("default", "nvidia.com/gpu")) == 1000


def test_a_pod_on_a_node_that_is_not_there_yet_is_counted_when_it_comes() -> None:
    cluster = Cluster.drawn("n1 | .")
    cluster.put(pod("ns/p", gpu=1, node="n2"))
    cluster.put(node("n2", gpu=2))
    assert cluster.draw() == "n1 | .\nn2 | x ."


def test_without_placing_nothing_is_promised() -> None:
    cluster = Cluster.drawn("n1 | A A", profile=Profile(places=False))
    assert cluster.draw() == "n1 | . ."
    assert cluster.holding() == "A"


def test_a_workload_that_moves_to_another_door_waits_there() -> None:
    cluster = Cluster.drawn("n1 | .")
    job = cluster.submit("A", 9)
    cluster.put(queue("other", {"default": {"gpu": 9}}), door("ns/other", "other"))
    cluster.put(replace(job, queue="ns/other"))
    assert cluster.state.queues.spot["ns/a"].queue == "other"
    assert cluster.state.of_local_queue == {"ns/other": {"ns/a": None}}


def test_back_off_tells_when_to_decide_next() -> None:
    cluster = Cluster.drawn("n1 | .")
    cluster.submit("A", requeue_at_ms=500)
    cluster.submit("B", requeue_at_ms=300, active=False)
    assert cluster.state.wake_at_ms() == 500
    cluster.now_ms = 500
    cluster.run()
    assert cluster.state.wake_at_ms() is None
    assert cluster.holding() == "A"


# refusals of other decisions


def test_a_refused_hold_is_said_again() -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.submit("B")
    (hold,) = cluster.decide()
    cluster.refuse([hold])
    assert cluster.decide() == [hold]
    cluster.write([hold])
    assert cluster.decide() == []


def test_a_refused_hold_of_one_that_is_gone_or_runs_is_forgotten() -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.submit("B")
    (hold,) = cluster.decide()
    cluster.remove(Workload, "ns/b")
    cluster.refuse([hold, Hold("ns/a", Record(Reason(Code.INACTIVE)))])
    assert cluster.run() == []


def test_a_refused_eviction_is_decided_again() -> None:
    cluster = Cluster.drawn("n1 | A")
    cluster.put(replace(cluster.workloads["ns/a"], active=False))
    (evict,) = cluster.decide()
    assert isinstance(evict, Evict)
    assert cluster.decide() == []
    cluster.refuse([evict])
    assert cluster.decide() == [evict]


def test_an_eviction_holds_until_it_is_seen_though_an_old_sight_comes() -> None:
    cluster = Cluster.drawn("n1 | A")
    job = replace(cluster.workloads["ns/a"], active=False)
    cluster.put(job)
    (evict,) = cluster.decide()
    cluster.put(replace(job, priority=1))
    cluster.state.settle(evict, True)
    cluster.put(replace(job, priority=2))
    assert cluster.decide() == []
    cluster.put(replace(job, evicted=True))
    assert cluster.state.stopping == {}
    assert cluster.decide() == []


def test_with_revisions_an_eviction_that_went_unseen_is_over_too() -> None:
    cluster = Cluster.drawn("n1 | A")
    job = cluster.workloads["ns/a"]
    cluster.put(replace(job, active=False))
    (evict,) = cluster.decide()
    cluster.state.settle(evict, True, revision=7)
    cluster.put(replace(job, priority=1, revision=6))
    assert cluster.state.is_stopping("ns/a")
    cluster.put(replace(job, priority=2, revision=8))
    assert not cluster.state.is_stopping("ns/a")
    invariants.check(cluster.state)


def test_a_refused_bind_frees_the_node_and_is_decided_again() -> None:
    cluster = Cluster.drawn("n1 | . .")
    cluster.put(pod("ns/p", gpu=2))
    (bind,) = cluster.bind()
    assert cluster.draw() == "n1 | x x"
    cluster.refuse([bind])
    assert cluster.draw() == "n1 | . ."
    assert cluster.bind() == [bind]


def test_a_bind_is_kept_until_the_pod_shows_its_node() -> None:
    cluster = Cluster.drawn("n1 | . .\nn2 | . . .")
    one = pod("ns/p", gpu=2)
    cluster.put(one)
    (bind,) = cluster.bind()
    assert bind == Bind("ns/p", "n1")
    cluster.put(replace(one, priority=1))
    cluster.state.settle(bind, True)
    cluster.put(replace(one, priority=2))
    assert cluster.draw() == "n1 | x x\nn2 | . . ."
    cluster.put(replace(one, node="n2"))
    assert cluster.draw() == "n1 | . .\nn2 | x x ."
    cluster.refuse([bind])
    assert cluster.draw() == "n1 | . .\nn2 | x x ."


def test_a_refused_unplaced_is_said_again() -> None:
    cluster = Cluster.drawn("n1 | x")
    cluster.put(pod("ns/p", gpu=1))
    (unplaced,) = cluster.bind()
    assert isinstance(unplaced, Unplaced)
    cluster.refuse([unplaced])
    assert cluster.bind() == [unplaced]
    cluster.remove(Pod, "ns/p")
    cluster.refuse([unplaced])
    assert cluster.bind() == []


@pytest.mark.parametrize("ok", [True, False])
def test_settling_what_is_over_changes_nothing(ok: bool) -> None:
    cluster = Cluster.drawn("n1 | A")
    before = picture(cluster.state)
    given_ = cluster.state.holdings.admission["ns/a"]
    for decision in (
        Admit("ns/none", given_),
        Admit("ns/a", given_),
        Evict("ns/none", "Preempted"),
        Bind("none", "n1"),
    ):
        cluster.state.settle(decision, ok)
    assert picture(cluster.state) == before


def test_a_queue_that_is_drained_while_an_admission_is_assumed_evicts_it() -> None:
    cluster = Cluster.drawn("n1 | . .")
    cluster.submit("A", 2)
    (admit,) = cluster.decide()
    cluster.put(queue("cq", {"default": {"gpu": 9}}, stop=StopPolicy.HOLD_AND_DRAIN))
    assert [type(d) for d in cluster.decide()] == [Evict]
    cluster.refuse([admit])
    assert cluster.state.stopping == {}
    assert cluster.holding() == ""
