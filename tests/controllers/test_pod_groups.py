"""Pods alone and in groups, on the real registry with all loops: held back, let go together, replaced, counted, stopped."""

from __future__ import annotations

import pytest

from kumi.api.core import Node, Pod
from kumi.api.kueue import ClusterQueue, Workload
from kumi.api.wire import JsonObject
from kumi.controllers import all_controllers, all_deciders
from kumi.jobs.pod_groups import GATE, MANAGED
from kumi.jobs.pod_hook import PodHook
from kumi.jobs.queue_hook import QueueHook
from kumi.testing.stage import Stage

from .made import GPU, cluster_queue, flavor, local_queue, node

KUEUE = "kueue.x-k8s.io"


def manifest(made: JsonObject) -> JsonObject:
    meta = {k: v for k, v in made["metadata"].items() if k in ("name", "namespace", "labels")}
    return {k: v for k, v in {**made, "metadata": meta}.items() if k != "status"}


def pod(name: str, group: str = "", total: int = 0, gpus: int = 1, **annotations: str) -> JsonObject:
    meta: JsonObject = {"name": name, "namespace": "team", "labels": {f"{KUEUE}/queue-name": "lq"}}
    said = {f"{KUEUE}/{key.replace('_', '-')}": value for key, value in annotations.items()}
    if group:
        meta["labels"][f"{KUEUE}/pod-group-name"] = group
        said[f"{KUEUE}/pod-group-total-count"] = str(total)
    container = {"name": "c", "image": "i", "resources": {"limits": {GPU: str(gpus)}}}
    spec = {"containers": [container], "restartPolicy": "Never"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "annotations": said}, "spec": spec}


async def cluster(gpus: int = 8, **labels: str) -> Stage:
    deciders = [decider for make in all_deciders() for decider in make()]
    stage = Stage(all_controllers(), deciders, hooks=[QueueHook(), PodHook()])
    await stage.open("team")
    for made in (flavor(nodeLabels=labels), cluster_queue(gpus=gpus), local_queue(), node(gpus=8)):
        await stage.make(manifest(made))
    await stage.patch(Node, "n1", {"metadata": {"labels": labels}})
    await stage.patch(Node, "n1", {"status": node(gpus=8)["status"]}, "status")
    return stage


def gated(found: JsonObject) -> bool:
    return GATE in [gate["name"] for gate in found["spec"].get("schedulingGates") or ()]


async def pods(stage: Stage) -> dict[str, JsonObject]:
    return {p["metadata"]["name"]: p for p in await stage.all(Pod)}


async def end(stage: Stage, name: str, phase: str) -> None:
    await stage.pod_status("team", name, {"phase": phase, "conditions": []})


async def the_workload(stage: Stage) -> JsonObject:
    (found,) = await stage.all(Workload)
    return found


def true_of(workload: JsonObject) -> dict[str, str]:
    conditions = workload.get("status", {}).get("conditions", [])
    return {c["type"]: c["reason"] for c in conditions if c["status"] == "True"}


async def test_a_pod_alone_is_held_back_admitted_and_over_with_its_end() -> None:
    stage = await cluster(zone="a")
    await stage.make(pod("p"))
    assert gated((await pods(stage))["p"])
    await stage.settle()
    found = (await pods(stage))["p"]
    assert not gated(found)
    assert found["spec"]["nodeName"] == "n1"
    assert found["spec"]["nodeSelector"] == {"zone": "a"}
    workload = await the_workload(stage)
    assert found["metadata"]["annotations"][f"{KUEUE}/workload"] == workload["metadata"]["name"]
    assert workload["spec"]["podSets"][0]["name"] == "main"
    await end(stage, "p", "Succeeded")
    await stage.settle()
    assert true_of(await the_workload(stage))["Finished"] == "Succeeded"
    assert MANAGED not in (await pods(stage))["p"]["metadata"].get("finalizers", [])


async def test_a_group_waits_until_all_of_it_is_there_and_starts_whole() -> None:
    stage = await cluster()
    await stage.make(pod("a", "g", 3))
    await stage.make(pod("b", "g", 3, gpus=2))
    await stage.settle()
    assert await stage.all(Workload) == []
    assert all(gated(p) for p in (await pods(stage)).values())
    await stage.make(pod("c", "g", 3))
    await stage.settle()
    workload = await the_workload(stage)
    assert workload["metadata"]["name"] == "g"
    assert sorted(p["count"] for p in workload["spec"]["podSets"]) == [1, 2]
    assert {p["spec"].get("nodeName") for p in (await pods(stage)).values()} == {"n1"}
    for name in "abc":
        await end(stage, name, "Succeeded")
    await stage.settle()
    assert true_of(await the_workload(stage))["Finished"] == "Succeeded"


async def test_a_group_too_large_for_the_quota_keeps_every_gate() -> None:
    stage = await cluster(gpus=1)
    for name in "ab":
        await stage.make(pod(name, "g", 2))
    await stage.settle()
    assert all(gated(p) for p in (await pods(stage)).values())
    assert "QuotaReserved" not in true_of(await the_workload(stage))


async def test_with_fast_admission_the_first_pod_is_enough_for_its_quota() -> None:
    stage = await cluster()
    await stage.make(pod("a", "g", 2, pod_group_fast_admission="true"))
    await stage.settle()
    workload = await the_workload(stage)
    assert [p["count"] for p in workload["spec"]["podSets"]] == [2]
    assert "Admitted" in true_of(workload)
    await stage.make(pod("b", "g", 2))
    await stage.settle()
    assert [gated(p) for p in (await pods(stage)).values()] == [False, False]


async def test_pods_that_are_too_many_go() -> None:
    stage = await cluster()
    for name in "abc":
        await stage.make(pod(name, "g", 2))
        stage.advance(1)
    await stage.settle()
    assert sorted(await pods(stage)) == ["a", "b"]


async def test_a_pod_that_failed_is_replaced_and_then_let_go() -> None:
    stage = await cluster()
    for name in "ab":
        await stage.make(pod(name, "g", 2))
    await stage.settle()
    await end(stage, "a", "Failed")
    await stage.settle()
    workload = await the_workload(stage)
    assert true_of(workload)["WaitingForReplacementPods"] == "PodsFailed"
    assert MANAGED in (await pods(stage))["a"]["metadata"]["finalizers"]
    await stage.make(pod("c", "g", 2))
    await stage.settle()
    found = await pods(stage)
    assert not gated(found["c"])
    assert MANAGED not in found["a"]["metadata"].get("finalizers", [])
    assert "WaitingForReplacementPods" not in true_of(await the_workload(stage))
    for name in "bc":
        await end(stage, name, "Succeeded")
    await stage.settle()
    assert true_of(await the_workload(stage))["Finished"] == "Succeeded"


async def test_a_pod_that_is_not_to_be_replaced_ends_its_group() -> None:
    stage = await cluster()
    for name in "ab":
        await stage.make(pod(name, "g", 2, retriable_in_group="false"))
    await stage.settle()
    for name, phase in (("a", "Failed"), ("b", "Succeeded")):
        await end(stage, name, phase)
    await stage.settle()
    assert true_of(await the_workload(stage))["Finished"] == "Failed"


async def test_pods_that_have_succeeded_give_their_quota_back() -> None:
    stage = await cluster()
    for name in "ab":
        await stage.make(pod(name, "g", 2))
    await stage.settle()
    await end(stage, "a", "Succeeded")
    await stage.settle()
    (given,) = (await the_workload(stage))["status"]["reclaimablePods"]
    assert given["count"] == 1


async def test_a_drained_queue_deletes_the_pods_and_frees_the_quota_once_they_are_gone() -> None:
    stage = await cluster()
    for name in "ab":
        await stage.make(pod(name, "g", 2))
    await stage.settle()
    await stage.patch(ClusterQueue, "gpus", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await stage.settle()
    going = await pods(stage)
    assert all(p["metadata"].get("deletionTimestamp") for p in going.values())
    assert (await the_workload(stage))["status"]["admission"]
    for name in going:
        await end(stage, name, "Failed")
    await stage.settle()
    assert await stage.all(Pod) == []
    assert await stage.all(Workload) == []


async def test_who_deletes_the_pods_frees_everything() -> None:
    stage = await cluster()
    for name in "ab":
        await stage.make(pod(name, "g", 2))
    await stage.settle()
    for name in "ab":
        await stage.delete(Pod, f"team/{name}")
        await end(stage, name, "Failed")
    await stage.settle()
    assert await stage.all(Pod) == []
    assert await stage.all(Workload) == []


async def test_a_pod_of_a_queued_job_is_the_jobs_affair() -> None:
    stage = await cluster()
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    made = pod("p")
    made["metadata"]["ownerReferences"] = [owner]
    assert not gated(await stage.make(made))


async def test_the_pods_of_a_deployment_are_admitted_one_by_one() -> None:
    stage = await cluster(gpus=2)
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod("x")["spec"] | {"restartPolicy": "Always"}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    meta = {"name": "web", "namespace": "team", "labels": {f"{KUEUE}/queue-name": "lq"}}
    await stage.make({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
    await stage.settle()
    found = (await pods(stage)).values()
    assert sorted(gated(p) for p in found) == [False, False, True]
    assert len(await stage.all(Workload)) == 3
    await stage.patch(ClusterQueue, "gpus", {"spec": cluster_queue(gpus=3)["spec"]})
    await stage.settle()
    assert sum(gated(p) for p in (await pods(stage)).values()) == 0


async def test_a_pod_that_is_deleted_while_it_waits_is_gone_at_once() -> None:
    stage = await cluster(gpus=0)
    await stage.make(pod("alone"))
    await stage.make(pod("a", "g", 2))
    await stage.make(pod("b", "g", 2))
    await stage.settle()
    assert len(await stage.all(Workload)) == 2
    for name in ("alone", "a", "b"):
        await stage.delete(Pod, f"team/{name}")
    await stage.settle()
    assert await stage.all(Pod) == []
    assert await stage.all(Workload) == []


@pytest.mark.parametrize("group", ["", "g"])
async def test_what_pods_say_of_time_their_workload_says(group: str) -> None:
    stage = await cluster(gpus=0)
    for number in (1, 2)[: 2 if group else 1]:
        made = pod(f"p{number}", group, 2)
        said = {"kumi.dev/deadline": f"2026-01-0{number}T00:00:00Z", "kumi.dev/execution-duration": f"{number}m"}
        made["metadata"]["annotations"] |= said
        await stage.make(made)
    await stage.settle()
    found = (await the_workload(stage))["metadata"]["annotations"]
    assert found["kumi.dev/deadline"] == "2026-01-01T00:00:00Z"
    assert found["kumi.dev/execution-duration"] == ("120s" if group else "60s")
