"""The PyTorchJob loop on the real registry, alone and together with a queue's loop."""

from __future__ import annotations

from typing import Any

from kumi.api.core import Event, Pod, Service
from kumi.api.kubeflow import PyTorchJob
from kumi.api.kueue import Workload
from kumi.api.wire import JsonObject
from kumi.controllers.pytorchjob import pytorchjob_controller
from kumi.controllers.workload import WorkloadController
from kumi.jobs.base import Settings
from kumi.jobs.pytorchjob import QUEUED_PYTORCH
from kumi.jobs.queue_hook import QueueHook
from kumi.testing.stage import Stage

ALL = ["p-master-0", "p-worker-0", "p-worker-1"]


async def stage(queue: str = "", *, grace: bool = False, **spec: Any) -> Stage:
    loops: list[Any] = [pytorchjob_controller(Settings()), WorkloadController(QUEUED_PYTORCH)]
    made = Stage(loops, hooks=[QueueHook()], grace=grace)
    await made.open("ns")
    template = {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}
    specs = {"Master": {"replicas": 1, "template": template}, "Worker": {"replicas": 2, "template": template}}
    meta: JsonObject = {"name": "p", "namespace": "ns"}
    if queue:
        meta["labels"] = {"kueue.x-k8s.io/queue-name": queue}
    manifest = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta}
    await made.make({**manifest, "spec": {"pytorchReplicaSpecs": specs, **spec}})
    await made.settle()
    return made


async def names(on: Stage, type_: type = Pod) -> list[str]:
    return [o["metadata"]["name"] for o in await on.all(type_, "ns")]


async def conditions(on: Stage) -> list[tuple[str, str]]:
    found = await on.one(PyTorchJob, "ns/p")
    assert found is not None
    return [(c["type"], c["status"]) for c in found["status"]["conditions"]]


async def workload(on: Stage, status: JsonObject) -> None:
    (found,) = await on.all(Workload, "ns")
    await on.patch(Workload, f"ns/{found['metadata']['name']}", {"status": status}, "status")


def true(*types: str) -> list[JsonObject]:
    return [
        {"type": t, "status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for t in types
    ]


ADMISSION = {
    "clusterQueue": "cq",
    "podSetAssignments": [{"name": "master", "count": 1}, {"name": "worker", "count": 2}],
}


async def test_a_job_runs_to_its_end() -> None:
    on = await stage()
    assert await names(on) == await names(on, Service) == ALL
    for name in ALL:
        await on.pod_status("ns", name, {"phase": "Running"})
    await on.settle()
    await on.pod_status("ns", "p-master-0", {"phase": "Succeeded"})
    await on.settle()
    assert await conditions(on) == [("Created", "True"), ("Running", "False"), ("Succeeded", "True")]


async def test_the_loop_tells_what_it_did() -> None:
    on = await stage()
    assert [n.reason for n in on.notes] == ["SuccessfulCreatePod"] * 3 + ["PyTorchJobCreated"]
    assert await on.all(Event) == [], "the stage keeps notes to itself"


async def test_a_queued_job_waits_starts_when_admitted_and_stops_when_evicted() -> None:
    on = await stage("lq")
    assert await names(on) == []
    assert await conditions(on) == [("Created", "True"), ("Suspended", "True")]
    await workload(on, {"admission": ADMISSION, "conditions": true("QuotaReserved", "Admitted")})
    await on.settle()
    assert await names(on) == ALL
    await workload(on, {"conditions": true("QuotaReserved", "Admitted", "Evicted")})
    await on.settle()
    assert await names(on) == []
    (left,) = await on.all(Workload, "ns")
    assert "admission" not in left["status"], "quota is given back"


async def test_an_evicted_jobs_quota_is_held_until_its_pods_are_gone() -> None:
    on = await stage("lq", grace=True)
    await workload(on, {"admission": ADMISSION, "conditions": true("QuotaReserved", "Admitted")})
    await on.settle()
    for name in ALL:
        await on.patch(Pod, f"ns/{name}", {"metadata": {"finalizers": ["test/kubelet"]}})
        await on.pod_status("ns", name, {"phase": "Running"})
    await on.settle()
    await workload(on, {"conditions": true("QuotaReserved", "Admitted", "Evicted")})
    await on.settle()
    (held,) = await on.all(Workload, "ns")
    assert "admission" in held["status"]
    for name in ALL:
        await on.patch(Pod, f"ns/{name}", {"metadata": {"finalizers": None}})
    await on.settle()
    (freed,) = await on.all(Workload, "ns")
    assert "admission" not in freed["status"]


async def test_a_finished_queued_job_finishes_its_workload() -> None:
    on = await stage("lq")
    await workload(on, {"admission": ADMISSION, "conditions": true("QuotaReserved", "Admitted")})
    await on.settle()
    await on.pod_status("ns", "p-master-0", {"phase": "Succeeded"})
    await on.settle()
    (done,) = await on.all(Workload, "ns")
    finished = [c for c in done["status"]["conditions"] if c["type"] == "Finished"]
    assert [(c["status"], c["reason"]) for c in finished] == [("True", "Succeeded")]
