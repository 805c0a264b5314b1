"""The machine: every loop and decider on the real registry, with refused writes and stale views."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from kumi.api.core import Namespace, Node, Pod
from kumi.api.kubeflow import PyTorchJob
from kumi.api.kueue import ClusterQueue, Workload
from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.bridge.messages import why
from kumi.controllers import (
    all_controllers,
    all_deciders,
    kubernetes_controllers,
    kubernetes_deciders,
    own_controllers,
    own_deciders,
    workload_controllers,
)
from kumi.jobs.queue_hook import QueueHook
from kumi.runtime.cache import Cache
from kumi.runtime.reconcile import Write
from kumi.testing.stage import Stage

from .made import GPU, cluster_queue, flavor, local_queue, node, pod_template


class ShakyStage(Stage):
    """A stage on which, while `faults` is set, controllers see what was a while ago and any write may be refused."""

    def __init__(self, seed: int) -> None:
        deciders = [decider for make in all_deciders() for decider in make()]
        super().__init__(all_controllers(), deciders, hooks=[QueueHook()])
        self.faults = False
        self._chance = random.Random(seed)
        self._before: dict[tuple[type[Object], ...], Cache] = {}

    async def view(self, types: Sequence[type[Object]], labels: Sequence[str] = ()) -> Cache:
        """Of several types (a controller's look): perhaps the view of the last time."""
        kept = self._before.get(tuple(types))
        if self.faults and len(types) > 1 and kept is not None and self._chance.random() < 0.4:
            return kept
        self._before[tuple(types)] = fresh = await super().view(types, labels)
        return fresh

    async def _write_all(self, writes: Sequence[Write]) -> str:
        if self.faults and writes and self._chance.random() < 0.3:
            await super()._write_all(writes[: self._chance.randrange(len(writes))])
            return "refused by chance"
        return await super()._write_all(writes)


def manifest(made: JsonObject) -> JsonObject:
    """As its user writes it."""
    meta = {k: v for k, v in made["metadata"].items() if k in ("name", "namespace", "labels")}
    return {k: v for k, v in {**made, "metadata": meta}.items() if k != "status"}


def job(name: str, workers: int = 3) -> JsonObject:
    def replicas(count: int) -> JsonObject:
        return {"replicas": count, "restartPolicy": "OnFailure", "template": pod_template()}

    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": "team", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
        "spec": {"pytorchReplicaSpecs": {"Master": replicas(1), "Worker": replicas(workers)}},
    }


async def cluster(seed: int = 0, gpus: int = 6) -> ShakyStage:
    stage = ShakyStage(seed)
    await stage.open("team")
    for made in (flavor(), cluster_queue(), local_queue(), node(gpus=gpus)):
        await stage.make(manifest(made))
    await stage.patch(Node, "n1", {"status": node(gpus=gpus)["status"]}, "status")
    return stage


async def pods(stage: Stage, name: str) -> list[JsonObject]:
    return [p for p in await stage.all(Pod) if p["metadata"]["name"].startswith(f"{name}-")]


async def say(stage: Stage, phase: str, of: str) -> None:
    """A kubelet's word about the bound pods of a job that have not ended."""
    for found in await pods(stage, of):
        if found["spec"].get("nodeName") and found.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            ready = {"type": "Ready", "status": "True" if phase == "Running" else "False"}
            await stage.pod_status("team", found["metadata"]["name"], {"phase": phase, "conditions": [ready]})


async def workload(stage: Stage, name: str) -> JsonObject:
    found = [w for w in await stage.all(Workload) if w["metadata"]["name"].startswith(f"pytorchjob-{name}-")]
    assert len(found) == 1
    return found[0]


def true_conditions(obj: JsonObject) -> dict[str, str]:
    return {c["type"]: c["reason"] for c in obj.get("status", {}).get("conditions", []) if c["status"] == "True"}


async def check_room(stage: Stage, gpus: int = 6, quota: int = 8) -> None:
    """What is bound fits the node, what is admitted fits the quota."""
    live = [p for p in await stage.all(Pod) if p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
    assert sum(1 for p in live if p["spec"].get("nodeName")) <= gpus
    held = [w for w in await stage.all(Workload) if "Finished" not in true_conditions(w)]
    given = [a for w in held for a in (w.get("status", {}).get("admission") or {}).get("podSetAssignments", [])]
    assert sum(a["count"] for a in given) <= quota


async def test_of_two_gangs_one_runs_whole_and_the_other_waits_whole_then_runs() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    stage.advance(1)
    await stage.make(job("two"))
    await stage.settle()
    assert [p["spec"].get("nodeName") for p in await pods(stage, "one")] == ["n1"] * 4
    assert await pods(stage, "two") == []

    waiting = await workload(stage, "two")
    decision = waiting["status"]["decision"]
    assert decision["layer"] == "Gang"
    assert [h["job"] for h in decision["holders"]] == ["PyTorchJob team/one"]
    first, second = why(decision, waiting)
    assert GPU in first
    assert f"held by PyTorchJob team/one (4 {GPU})" in second

    await say(stage, "Running", "one")
    await stage.settle()
    assert "PodsReady" in true_conditions(await workload(stage, "one"))
    await say(stage, "Succeeded", "one")
    await stage.settle()
    assert true_conditions(await workload(stage, "one"))["Finished"] == "Succeeded"
    assert [p["spec"].get("nodeName") for p in await pods(stage, "two")] == ["n1"] * 4
    await say(stage, "Succeeded", "two")
    await stage.settle()
    assert true_conditions(await workload(stage, "two"))["Finished"] == "Succeeded"
    await check_room(stage)


async def test_with_room_for_both_both_run() -> None:
    stage = await cluster(gpus=8)
    await stage.make(job("one"))
    await stage.make(job("two"))
    await stage.settle()
    assert len([p for p in await stage.all(Pod) if p["spec"].get("nodeName")]) == 8


async def test_with_room_for_neither_none_starts_and_it_says_so() -> None:
    stage = await cluster(gpus=3)
    await stage.make(job("one"))
    await stage.settle()
    assert await stage.all(Pod) == []
    waiting = await workload(stage, "one")
    assert waiting["status"]["decision"]["permanent"] is True
    assert "can start only if" in why(waiting["status"]["decision"], waiting)[1]


async def test_a_drained_queue_stops_its_jobs_and_starts_them_again_without_a_failure() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.settle()
    await say(stage, "Running", "one")
    await stage.patch(ClusterQueue, "gpus", {"spec": {"stopPolicy": "HoldAndDrain"}})
    await stage.settle()
    assert await pods(stage, "one") == []
    stopped = await workload(stage, "one")
    assert stopped["status"].get("admission") is None
    assert true_conditions(stopped)["Evicted"] == "ClusterQueueStopped"
    template = (await stage.one(PyTorchJob, "team/one") or {})["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    assert "kueue.x-k8s.io/podset" not in (template.get("metadata") or {}).get("labels", {})

    await stage.patch(ClusterQueue, "gpus", {"spec": {"stopPolicy": "None"}})
    await stage.settle()
    assert len([p for p in await pods(stage, "one") if p["spec"].get("nodeName")]) == 4
    again = true_conditions(await workload(stage, "one"))
    assert "Evicted" not in again
    assert again["Requeued"] == "ClusterQueueRestarted"
    await say(stage, "Succeeded", "one")
    await stage.settle()
    assert "Failed" not in true_conditions(await stage.one(PyTorchJob, "team/one") or {})


async def test_a_workload_that_its_user_holds_stops_and_resumes() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.settle()
    key = "team/" + (await workload(stage, "one"))["metadata"]["name"]
    await stage.patch(Workload, key, {"spec": {"active": False}})
    await stage.settle()
    assert await pods(stage, "one") == []
    held = await workload(stage, "one")
    assert [c["reason"] for c in held["status"]["conditions"] if c["type"] == "QuotaReserved"] == ["Deactivated"]
    await stage.patch(Workload, key, {"spec": {"active": True}})
    await stage.settle()
    assert len(await pods(stage, "one")) == 4


async def test_suspend_edit_resume_equals_creating_with_the_edited_spec() -> None:
    edited = {"spec": {"containers": [{"name": "pytorch", "image": "new", "resources": {"limits": {GPU: "2"}}}]}}
    change = {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": edited}}}}
    first = await cluster()
    await first.make(job("one"))
    await first.settle()
    await first.patch(
        Workload, "team/" + (await workload(first, "one"))["metadata"]["name"], {"spec": {"active": False}}
    )
    await first.settle()
    await first.patch(PyTorchJob, "team/one", change)
    await first.settle()
    await first.patch(
        Workload, "team/" + (await workload(first, "one"))["metadata"]["name"], {"spec": {"active": True}}
    )
    await first.settle()
    second = await cluster()
    made = job("one", workers=1)
    made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"] = edited
    await second.make(made)
    await second.settle()
    runs = [
        [(p["metadata"]["name"], p["metadata"]["labels"], p["spec"]["containers"]) for p in await pods(stage, "one")]
        for stage in (first, second)
    ]
    assert [len(pods) for pods in runs] == [2, 2]
    assert [(n, labels) for n, labels, _ in runs[0]] == [(n, labels) for n, labels, _ in runs[1]]
    assert [c[0]["resources"] for _, _, c in runs[0]] == [c[0]["resources"] for _, _, c in runs[1]]


async def test_an_edit_while_it_runs_stops_it_and_starts_it_anew() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.settle()
    await stage.patch(PyTorchJob, "team/one", {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2}}}})
    await stage.settle()
    assert len([p for p in await pods(stage, "one") if p["spec"].get("nodeName")]) == 3
    assert [p["count"] for p in (await workload(stage, "one"))["spec"]["podSets"]] == [1, 2]


async def test_a_node_that_goes_takes_its_gang_to_another_one() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.settle()
    await say(stage, "Running", "one")
    await stage.make(manifest(node("n2")))
    await stage.patch(Node, "n2", {"status": node("n2")["status"]}, "status")
    await stage.delete(Node, "n1")
    for _ in range(4):
        await stage.settle()
        stage.advance(30)
    assert [p["spec"].get("nodeName") for p in await pods(stage, "one")] == ["n2"] * 4
    assert "Failed" not in true_conditions(await stage.one(PyTorchJob, "team/one") or {})


async def test_a_workload_that_is_deleted_under_its_job_is_made_again() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.settle()
    before = await workload(stage, "one")
    await stage.delete(Workload, "team/" + before["metadata"]["name"])
    await stage.settle()
    after = await workload(stage, "one")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert len([p for p in await pods(stage, "one") if p["spec"].get("nodeName")]) == 4


async def test_a_deleted_job_takes_everything_along() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.settle()
    await stage.delete(PyTorchJob, "team/one")
    await stage.settle()
    assert await stage.all(Workload) == []
    assert await stage.all(Pod) == []
    await stage.make(job("two"))
    await stage.settle()
    assert len([p for p in await pods(stage, "two") if p["spec"].get("nodeName")]) == 4


async def test_a_deleted_namespace_is_emptied_and_goes() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.settle()
    await stage.delete(Namespace, "team")
    await stage.settle()
    assert await stage.one(Namespace, "team") is None
    assert [await stage.all(t, "team") for t in (PyTorchJob, Workload, Pod)] == [[], [], []]


async def test_a_queue_shows_what_it_holds() -> None:
    stage = await cluster()
    await stage.make(job("one"))
    await stage.make(job("two"))
    await stage.settle()
    stage.advance(1)
    await stage.settle()
    status = (await stage.one(ClusterQueue, "gpus") or {})["status"]
    assert (status["pendingWorkloads"], status["admittedWorkloads"]) == (1, 1)
    assert status["flavorsUsage"][0]["resources"][0]["total"] == "4"


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_refused_and_however_stale_the_view_both_finish_and_nothing_is_exceeded(seed: int) -> None:
    stage = await cluster(seed)
    for name in ("one", "two"):
        await stage.make(job(name))
    for _ in range(12):
        stage.faults = True
        await stage._look_once()
        await check_room(stage)
        stage.faults = False
        for name in ("one", "two"):
            await say(stage, "Running", name)
        stage.advance(1)
    await stage.settle()
    for _ in range(2):
        for name in ("one", "two"):
            await say(stage, "Succeeded", name)
        stage.advance(1)
        await stage.settle()
        await check_room(stage)
    ends = [true_conditions(await workload(stage, name)).get("Finished") for name in ("one", "two")]
    assert ends == ["Succeeded", "Succeeded"]
    failures: list[Any] = [j for j in await stage.all(PyTorchJob) if "Failed" in true_conditions(j)]
    assert failures == []


def test_every_loop_has_a_name_of_its_own() -> None:
    names = [c.name for c in all_controllers()] + [d.name for make in all_deciders() for d in make()]
    assert len(set(names)) == len(names)
    assert len(workload_controllers()) >= 2


def test_deciders_start_empty_each_time() -> None:
    for make in all_deciders():
        first, second = make(), make()
        assert [d.name for d in first] == [d.name for d in second]
        assert all(a is not b for a, b in zip(first, second, strict=True))


def test_on_a_cluster_of_another_maker_its_own_loops_are_left_to_it() -> None:
    own = [c.name for c in own_controllers()] + [d.name for make in own_deciders() for d in make()]
    theirs = [c.name for c in kubernetes_controllers()] + [d.name for make in kubernetes_deciders() for d in make()]
    assert sorted(own) == [
        "in-use-admissioncheck",
        "in-use-clusterqueue",
        "in-use-resourceflavor",
        "in-use-topology",
        "kumi-gang-queues",
        "kumi-queue-status",
        "kumi-scheduler",
        "provisioning",
        "provisioning-check",
        "pytorchjob-controller",
        "workload-job",
        "workload-life",
        "workload-pod",
        "workload-pytorchjob",
    ]
    assert not set(own) & set(theirs)
