"""Pods that run in virtual time."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.core import Node, Pod
from kumi.kubelet.simulated import SimulatedPods
from kumi.runtime.cache import Cache
from kumi.runtime.reconcile import Delete, Outcome, Patch

NOW = 1_767_225_600_500


def node(*, ready: str = "True") -> Node:
    """`n`."""
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return msgspec.convert({"metadata": {"name": "n"}, "status": status}, Node)


def pod(phase: str = "Pending", **more: Any) -> Pod:
    """On the node `n`, of one container."""
    meta = {"namespace": "ns", "name": "p", "uid": "u", **more.pop("meta", {})}
    spec = {"nodeName": more.pop("node", "n"), "containers": [{"name": "c", "image": "i"}]}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": {"phase": phase}}, Pod)


def view(*objects: Node | Pod) -> Cache:
    """These."""
    cache = Cache((Pod, Node))
    for obj in objects:
        cache.set(obj)
    return cache


def status(outcome: Outcome) -> Any:
    """What its one write says of the pod."""
    (write,) = outcome.writes
    assert isinstance(write, Patch)
    assert isinstance(write.body, dict)
    assert (write.subresource, write.body["metadata"]) == ("status", {"uid": "u"})
    return write.body["status"]


def test_a_pod_with_a_node_runs_at_once() -> None:
    said = status(SimulatedPods().reconcile(view(node(), pod()), "ns/p", NOW))
    assert (said["phase"], said["startTime"]) == ("Running", "2026-01-01T00:00:00Z")
    assert {c["type"] for c in said["conditions"] if c["status"] == "True"} >= {
        "Ready",
        "Initialized",
        "ContainersReady",
    }
    assert said["containerStatuses"][0]["ready"] is True


@pytest.mark.parametrize("key", ["kumi.dev/execution-duration", "example.com/execution-duration"])
def test_it_succeeds_when_its_time_is_over_to_the_millisecond(key: str) -> None:
    nodes, meta = SimulatedPods(), {"annotations": {key: "2s"}}
    nodes.reconcile(view(node(), pod(meta=meta)), "ns/p", NOW)
    runs = view(node(), pod("Running", meta=meta))
    assert nodes.reconcile(runs, "ns/p", NOW) == Outcome(wake_at_ms=NOW + 2000)
    assert nodes.reconcile(runs, "ns/p", NOW + 1999) == Outcome(wake_at_ms=NOW + 2000)
    said = status(nodes.reconcile(runs, "ns/p", NOW + 2000))
    assert said["phase"] == "Succeeded"
    assert said["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_without_a_length_it_runs_until_it_is_deleted() -> None:
    assert SimulatedPods().reconcile(view(node(), pod("Running")), "ns/p", NOW) == Outcome()


def test_who_knows_better_says_when_it_ends() -> None:
    nodes = SimulatedPods(lambda pod, started_ms: started_ms + 7)
    assert nodes.reconcile(view(node(), pod("Running")), "ns/p", NOW) == Outcome(wake_at_ms=NOW + 7)


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded"])
def test_a_deleted_pod_is_gone_at_once(phase: str) -> None:
    deleted = pod(phase, meta={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    (write,) = SimulatedPods().reconcile(view(node(), deleted), "ns/p", NOW).writes
    assert isinstance(write, Delete)
    assert (write.uid, write.grace_seconds) == ("u", 0)


def test_a_deleted_pod_that_somebody_keeps_has_failed_so_that_he_lets_it_go() -> None:
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/counted"]}
    failed, deleted = SimulatedPods().reconcile(view(node(), pod("Running", meta=going)), "ns/p", NOW).writes
    assert status(Outcome((failed,)))["phase"] == "Failed"
    assert isinstance(deleted, Delete)
    assert len(SimulatedPods().reconcile(view(node(), pod("Failed", meta=going)), "ns/p", NOW).writes) == 1


@pytest.mark.parametrize("there", [(), (node(ready="False"),), (node(ready="Unknown"),)])
def test_a_pod_whose_node_is_lost_fails_by_no_fault_of_its_own_and_is_gone(there: tuple[Node, ...]) -> None:
    mark, deletion = SimulatedPods().reconcile(view(*there, pod("Running")), "ns/p", NOW).writes
    assert isinstance(mark, Patch)
    assert isinstance(mark.body, dict)
    assert (mark.body["status"]["phase"], mark.body["status"]["conditions"][0]["type"]) == (
        "Failed",
        "DisruptionTarget",
    )
    assert isinstance(deletion, Delete)


@pytest.mark.parametrize("one", [pod(node=""), pod("Succeeded"), pod("Failed")])
def test_who_has_no_node_or_is_over_is_left_alone(one: Pod) -> None:
    assert SimulatedPods().reconcile(view(node(), one), "ns/p", NOW) == Outcome()


def test_only_a_change_of_its_health_concerns_a_node_s_pods() -> None:
    watches = SimulatedPods().watches
    assert not watches.matters[Node](node(), node())
    assert watches.matters[Node](node(), node(ready="False"))
    assert watches.related[Node](node(), view(node(), pod())) == ("ns/p",)
    assert watches.keys[Pod](pod(node="")) == ()
