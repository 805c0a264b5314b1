from __future__ import annotations

from typing import Any

import pytest

from kumi.api.coordination import Lease
from kumi.api.core import Node, Pod
from kumi.controllers.node_life import GONE_MS, SILENT_MS, TOLERATED_MS, NodeLife
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Patch
from kumi.testing.view import FakeView

from .made import NOW_MS, at, body_of, condition, meta, node, pod

UNREACHABLE = [
    {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
]
NOT_READY = [{**t, "key": "node.kubernetes.io/not-ready"} for t in UNREACHABLE]


def lease(seconds: float = 0, name: str = "n1") -> dict[str, Any]:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": meta(name, "kube-node-lease"),
        "spec": {"renewTime": at(seconds).replace("Z", ".000000Z")},
    }


def look(*manifests: dict[str, Any], after_ms: int = 0) -> Outcome:
    return NodeLife().reconcile(FakeView(*manifests), "n1", NOW_MS + after_ms)


def deleted(outcome: Outcome) -> dict[str, int | None]:
    return {w.name: w.grace_seconds for w in outcome.writes if isinstance(w, Delete)}


def test_a_node_that_renews_is_looked_at_again_when_it_could_be_silent() -> None:
    assert look(node(), lease()) == Outcome(wake_at_ms=NOW_MS + SILENT_MS + 1)


def test_a_silent_node_is_no_longer_known_to_be_ready() -> None:
    outcome = look(node(), lease(), after_ms=SILENT_MS + 1)
    (patch,) = outcome.writes
    assert isinstance(patch, Patch)
    assert (patch.subresource, patch.type) == ("status", "strategic")
    (ready,) = body_of(outcome)["status"]["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "Unknown")


def test_a_node_without_a_lease_is_not_judged() -> None:
    assert look(node(), after_ms=10 * SILENT_MS) == NOTHING


@pytest.mark.parametrize(("status", "taints"), [("Unknown", UNREACHABLE), ("False", NOT_READY)])
def test_a_node_that_is_not_ready_is_tainted(status: str, taints: list[dict[str, str]]) -> None:
    theirs = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    outcome = look(node(ready=status, taints=[theirs]))
    assert body_of(outcome)["spec"]["taints"] == [theirs, *taints]
    assert body_of(outcome)["metadata"]["resourceVersion"] == "1"
    assert look(node(ready=status, taints=[theirs, *taints])).writes == ()


def test_a_node_that_is_back_loses_the_taints() -> None:
    assert body_of(look(node(taints=UNREACHABLE), lease()))["spec"]["taints"] is None


def on_node(name: str = "p", **spec: Any) -> dict[str, Any]:
    return pod(name, spec={"nodeName": "n1", **spec}, status={"phase": "Running"})


def silent(*pods: dict[str, Any], after_ms: int) -> Outcome:
    return look(node(ready="Unknown", taints=UNREACHABLE), lease(), *pods, after_ms=after_ms)


def test_pods_of_a_silent_node_go_when_their_time_is_over() -> None:
    assert silent(on_node(), after_ms=TOLERATED_MS - 1) == Outcome(wake_at_ms=NOW_MS + TOLERATED_MS)
    assert deleted(silent(on_node(), after_ms=TOLERATED_MS)) == {"p": None}


def test_a_pod_endures_as_long_as_it_says() -> None:
    short = {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 10,
    }
    ever = {"operator": "Exists"}
    other = {"key": "gpu", "operator": "Exists", "tolerationSeconds": 1}
    pods = [
        on_node("short", tolerations=[short]),
        on_node("ever", tolerations=[ever]),
        on_node("other", tolerations=[other]),
    ]
    assert deleted(silent(*pods, after_ms=10_000)) == {"short": None}
    assert deleted(silent(*pods, after_ms=TOLERATED_MS)) == {"short": None, "other": None}


def test_finished_and_going_pods_are_let_be() -> None:
    done = pod("done", spec={"nodeName": "n1"}, status={"phase": "Succeeded"})
    going = {**on_node("going")}
    going["metadata"]["deletionTimestamp"] = at(0)
    assert deleted(silent(done, going, after_ms=TOLERATED_MS)) == {}


def test_a_pod_whose_node_is_gone_is_marked_then_deleted_without_grace() -> None:
    outcome = look(on_node())
    (mark,) = body_of(outcome)["status"]["conditions"]
    assert (mark["type"], mark["reason"]) == ("DisruptionTarget", "DeletionByPodGC")
    assert outcome.wake_at_ms == NOW_MS + GONE_MS
    marked = {
        **on_node(),
        "status": {"phase": "Running", "conditions": [condition("DisruptionTarget", "True", "DeletionByPodGC")]},
    }
    assert look(marked, after_ms=GONE_MS - 1) == Outcome(wake_at_ms=NOW_MS + GONE_MS)
    assert deleted(look(marked, after_ms=GONE_MS)) == {"p": 0}


def test_finished_pods_of_a_node_that_is_gone_stay() -> None:
    assert look(pod("done", spec={"nodeName": "n1"}, status={"phase": "Succeeded"})) == NOTHING


def test_keys_are_nodes() -> None:
    keys = NodeLife().watches.keys
    view = FakeView(node(), lease(), on_node(), pod("free"), {**lease(), "metadata": meta("n1", "elsewhere")})
    assert keys[Node](view.list(Node)[0]) == ("n1",)
    assert [keys[Lease](found) for found in view.list(Lease)] == [(), ("n1",)]
    assert [keys[Pod](found) for found in view.list(Pod)] == [(), ("n1",)]


def test_a_cordoned_node_says_so_in_a_taint_until_it_is_let_go() -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    assert body_of(look(node(unschedulable=True)))["spec"]["taints"] == [taint]
    assert look(node(unschedulable=True, taints=[taint])).writes == ()
    assert body_of(look(node(taints=[taint])))["spec"]["taints"] is None


def test_the_time_of_anothers_taint_stays() -> None:
    other = {"key": "k", "effect": "NoExecute", "timeAdded": at(0)}
    assert other in body_of(look(node(unschedulable=True, taints=[other])))["spec"]["taints"]
