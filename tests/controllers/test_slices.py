"""Elastic jobs on the real registry: they shrink at once, grow when there is room, and never stop for it."""

from __future__ import annotations

from kumi.api.batch import Job
from kumi.api.core import Node, Pod
from kumi.api.kueue import Workload
from kumi.api.wire import JsonObject
from kumi.controllers import all_controllers, all_deciders
from kumi.jobs.queue_hook import QueueHook
from kumi.testing.stage import Stage

from .made import GPU, cluster_queue, flavor, local_queue, node


def job(name: str = "j", pods: int = 2, elastic: str = "true") -> JsonObject:
    container = {"name": "c", "image": "i", "resources": {"limits": {GPU: "1"}}}
    meta: JsonObject = {"name": name, "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": "lq"}}
    meta["annotations"] = {"kueue.x-k8s.io/elastic-job": elastic} if elastic else {}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"parallelism": pods, "completions": 10, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def manifest(made: JsonObject) -> JsonObject:
    meta = {k: v for k, v in made["metadata"].items() if k in ("name", "namespace", "labels")}
    return {k: v for k, v in {**made, "metadata": meta}.items() if k != "status"}


async def cluster(gpus: int = 6) -> Stage:
    deciders = [decider for make in all_deciders() for decider in make()]
    stage = Stage(all_controllers(), deciders, hooks=[QueueHook()])
    await stage.open("team")
    for made in (flavor(), cluster_queue(gpus=gpus), local_queue(), node(gpus=8)):
        await stage.make(manifest(made))
    await stage.patch(Node, "n1", {"status": node(gpus=8)["status"]}, "status")
    return stage


async def scale(stage: Stage, pods: int) -> None:
    await stage.patch(Job, "team/j", {"spec": {"parallelism": pods}})
    stage.advance(1)
    await stage.settle()


async def workloads(stage: Stage) -> dict[str, JsonObject]:
    """By what they are: running, waiting, replaced."""
    found = {}
    for w in await stage.all(Workload):
        true = {c["type"]: c["reason"] for c in w.get("status", {}).get("conditions", []) if c["status"] == "True"}
        if "Finished" in true:
            found[true["Finished"]] = w
        else:
            found["running" if "Admitted" in true else "waiting"] = w
    return found


async def bound(stage: Stage) -> set[str]:
    return {p["metadata"]["uid"] for p in await stage.all(Pod) if p["spec"].get("nodeName")}


async def test_it_grows_without_stopping() -> None:
    stage = await cluster()
    await stage.make(job())
    await stage.settle()
    before = await bound(stage)
    assert len(before) == 2
    await scale(stage, 4)
    found = await workloads(stage)
    assert set(found) == {"running", "WorkloadSliceReplaced"}
    assert [p["count"] for p in found["running"]["spec"]["podSets"]] == [4]
    assert before < await bound(stage)
    assert len(await bound(stage)) == 4
    names = {p["metadata"]["annotations"]["kueue.x-k8s.io/workload"] for p in await stage.all(Pod)}
    assert names == {found["running"]["metadata"]["name"]}


async def test_what_there_is_no_room_for_waits_while_the_rest_runs() -> None:
    stage = await cluster(gpus=3)
    await stage.make(job())
    await stage.settle()
    before = await bound(stage)
    await scale(stage, 5)
    found = await workloads(stage)
    assert set(found) == {"running", "waiting"}
    assert [p["count"] for p in found["waiting"]["spec"]["podSets"]] == [5]
    assert await bound(stage) == before
    await scale(stage, 3)
    found = await workloads(stage)
    assert set(found) == {"running", "WorkloadSliceReplaced"}
    assert len(await bound(stage)) == 3


async def test_it_shrinks_in_place_and_its_quota_goes_to_others() -> None:
    stage = await cluster(gpus=4)
    await stage.make(job(pods=4))
    await stage.settle()
    (before,) = await stage.all(Workload)
    await stage.make(job("other", 2, elastic=""))
    await stage.settle()
    assert len(await bound(stage)) == 4
    await scale(stage, 2)
    sizes = {w["metadata"]["name"]: w["spec"]["podSets"][0]["count"] for w in await stage.all(Workload)}
    assert sizes[before["metadata"]["name"]] == 2
    assert len(await bound(stage)) == 4


async def test_a_wish_that_is_taken_back_leaves_nothing_waiting() -> None:
    stage = await cluster(gpus=2)
    await stage.make(job())
    await stage.settle()
    await scale(stage, 4)
    assert "waiting" in await workloads(stage)
    await scale(stage, 2)
    assert set(await workloads(stage)) == {"running"}


async def test_its_end_is_that_of_the_slice_that_runs() -> None:
    stage = await cluster()
    made = job(pods=2)
    made["spec"]["completions"] = 4
    await stage.make(made)
    await stage.settle()
    await scale(stage, 4)
    for pod in await stage.all(Pod):
        await stage.pod_status("team", pod["metadata"]["name"], {"phase": "Succeeded"})
    await stage.settle()
    assert set(await workloads(stage)) == {"Succeeded", "WorkloadSliceReplaced"}
    await stage.delete(Job, "team/j")
    await stage.settle()
    assert await stage.all(Workload) == []
