"""Stops: who that holds must go, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kumi.engine.decisions import Admit, Evict
from kumi.engine.model import Node, Profile, StopPolicy
from kumi.engine.reasons import Code, Reason
from kumi.testing.builders import door, node, pod
from kumi.testing.diagram import Cluster


def deactivated(cluster: Cluster) -> None:
    cluster.put(replace(cluster.workloads["ns/a"], active=False))


def queue_drained(cluster: Cluster) -> None:
    cluster.put(replace(cluster.state.catalog.cluster_queues["cq"], stop=StopPolicy.HOLD_AND_DRAIN))


def door_drained(cluster: Cluster) -> None:
    cluster.put(door("ns/lq", "cq", stop=StopPolicy.HOLD_AND_DRAIN))


def node_gone(cluster: Cluster) -> None:
    cluster.remove(Node, "n1")


def node_down(cluster: Cluster) -> None:
    cluster.put(replace(cluster.state.nodes.node_by_name["n1"], ready=False))


CAUSES = [
    (deactivated, Evict("ns/a", "Deactivated", Reason(Code.INACTIVE))),
    (queue_drained, Evict("ns/a", "ClusterQueueStopped", Reason(Code.CLUSTER_QUEUE_STOPPED, where="cq"))),
    (door_drained, Evict("ns/a", "LocalQueueStopped", Reason(Code.LOCAL_QUEUE_STOPPED, where="ns/lq"))),
    (node_gone, Evict("ns/a", "NodeFailures", Reason(Code.RESERVATION_LOST, where="n1"))),
    (node_down, Evict("ns/a", "NodeFailures", Reason(Code.RESERVATION_LOST, where="n1"))),
]


@pytest.mark.parametrize(("cause", "evict"), CAUSES)
@pytest.mark.parametrize("running", [False, True])
def test_each_cause_evicts_once(cause: Callable[[Cluster], None], evict: Evict, running: bool) -> None:
    cluster = Cluster.drawn("n1 | A A\nn2 | . .")
    if running:
        cluster.start("A")
    cluster.run()
    cause(cluster)
    assert cluster.run() == [evict]
    assert cluster.run() == []
    assert cluster.holding() == "A"


@pytest.mark.parametrize(("cause", "evict"), CAUSES)
def test_one_that_is_being_evicted_is_not_evicted_again(cause: Callable[[Cluster], None], evict: Evict) -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.put(replace(cluster.workloads["ns/a"], evicted=True))
    cause(cluster)
    assert cluster.run() == []


@pytest.mark.parametrize(("cause", "evict"), CAUSES)
def test_one_that_has_finished_or_waits_is_not_evicted(cause: Callable[[Cluster], None], evict: Evict) -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.submit("B", 9)
    cluster.finish("A")
    cause(cluster)
    assert not any(isinstance(d, Evict) for d in cluster.run())


def test_the_users_own_wish_is_told_before_all_else() -> None:
    cluster = Cluster.drawn("n1 | A")
    for cause in (node_gone, door_drained, queue_drained, deactivated):
        cause(cluster)
    assert [d.why for d in cluster.run() if isinstance(d, Evict)] == ["Deactivated"]


@pytest.mark.parametrize("stop", [StopPolicy.HOLD, StopPolicy.NONE])
def test_a_hold_lets_run_what_runs(stop: StopPolicy) -> None:
    cluster = Cluster.drawn("n1 | A . .")
    cluster.put(replace(cluster.state.catalog.cluster_queues["cq"], stop=stop), door("ns/lq", "cq", stop=stop))
    assert cluster.run() == []


def test_one_that_was_admitted_into_a_drained_queue_elsewhere_goes_too() -> None:
    cluster = Cluster.drawn("n1 | A .", stop=StopPolicy.HOLD_AND_DRAIN)
    assert [type(d) for d in cluster.run()] == [Evict]


def test_a_cordoned_node_is_not_lost() -> None:
    cluster = Cluster.drawn("n1 | A A")
    cluster.put(node("n1", gpu=2, unschedulable=True))
    assert cluster.run() == []


def test_a_node_that_comes_back_in_time_was_not_lost() -> None:
    cluster = Cluster.drawn("n1 | A A")
    node_gone(cluster)
    cluster.put(node("n1", gpu=2))
    assert cluster.run() == []


def test_a_restart_finds_a_promise_on_a_node_that_went_meanwhile() -> None:
    cluster = Cluster.drawn("n1 | A A\nn2 | . .")
    job = cluster.workloads["ns/a"]
    other = Cluster.drawn("n2 | . .")
    other.put(job)
    assert [(d.workload, d.why) for d in other.run() if isinstance(d, Evict)] == [("ns/a", "NodeFailures")]


def test_a_pod_on_its_own_is_nobodys_loss() -> None:
    cluster = Cluster.drawn("n1 | A\nn2 | .")
    cluster.put(pod("ns/p", gpu=1, node="n2"))
    cluster.remove(Node, "n2")
    assert cluster.run() == []


def test_where_kumi_does_not_place_a_node_that_goes_is_not_its_affair() -> None:
    cluster = Cluster.drawn("n1 | A A", profile=Profile(places=False))
    cluster.start("A")
    node_gone(cluster)
    assert cluster.run() == []


def test_after_its_eviction_it_is_queued_and_placed_elsewhere() -> None:
    cluster = Cluster.drawn("n1 | A A\nn2 | . .")
    cluster.start("A")
    cluster.run()
    node_gone(cluster)
    cluster.run()
    cluster.unadmit("A")
    assert [type(d) for d in cluster.run()] == [Admit]
    assert cluster.draw() == "n2 | A A"
