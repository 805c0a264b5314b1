"""How the queues see a kubeflow.org/v1 job."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from kumi.api.kubeflow import PyTorchJob
from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetInfo, StartConflict
from kumi.jobs.pytorchjob import QUEUED_PYTORCH as QUEUED
from kumi.jobs.pytorchjob import PyTorchReplicas
from tests.jobs.world import World, merged, pytorch_job


def view(job: JsonObject) -> PyTorchJob:
    return msgspec.convert(job, PyTorchJob)


def infos(**extra: Any) -> list[PodSetInfo]:
    return [PodSetInfo("master", 1, **extra), PodSetInfo("worker", 2, **extra)]


def test_pod_sets_are_the_replica_types_in_order_with_templates_as_written() -> None:
    job = pytorch_job(workers=3)
    job["spec"]["pytorchReplicaSpecs"] = dict(reversed(job["spec"]["pytorchReplicaSpecs"].items()))
    shapes = QUEUED.pod_sets(view(job))
    assert [(s.name, s.count) for s in shapes] == [("master", 1), ("worker", 3)]
    assert shapes[0].template == job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]


def test_the_scheduling_policys_priority_comes_first() -> None:
    assert QUEUED.priority_class(view(pytorch_job())) == ""
    policy = {"schedulingPolicy": {"priorityClass": "high"}}
    assert QUEUED.priority_class(view(pytorch_job(runPolicy=policy))) == "high"


def test_suspending_start_and_stop() -> None:
    job = pytorch_job()
    stored = QUEUED.pod_sets(view(job))
    job = merged(job, QUEUED.suspend_patch())
    assert QUEUED.standing(view(job)).suspended
    started = merged(job, QUEUED.start_patch(view(job), infos(node_selector={"pool": "gpu"}, labels={"l": "v"})))
    assert not QUEUED.standing(view(started)).suspended
    for replica in started["spec"]["pytorchReplicaSpecs"].values():
        assert replica["template"]["spec"]["nodeSelector"] == {"pool": "gpu"}
        assert replica["template"]["metadata"]["labels"] == {"l": "v"}
    stopped = merged(started, QUEUED.stop_patch(view(started), stored))
    assert QUEUED.standing(view(stopped)).suspended
    assert "nodeSelector" not in stopped["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert QUEUED.stop_patch(view(stopped), stored) == {}


def test_a_conflict_starts_nothing() -> None:
    job = pytorch_job()
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["nodeSelector"] = {"pool": "cpu"}
    before = copy.deepcopy(job)
    with pytest.raises(StartConflict, match="worker"):
        QUEUED.start_patch(view(job), infos(node_selector={"pool": "gpu"}))
    assert job == before


def test_pod_sets_that_changed_are_not_restored_but_the_job_is_suspended() -> None:
    stored = QUEUED.pod_sets(view(pytorch_job(master=0)))
    assert QUEUED.stop_patch(view(pytorch_job()), stored) == {"spec": {"runPolicy": {"suspend": True}}}


def world(**job: Any) -> World:
    made = World(PyTorchReplicas(), pytorch_job(**job), grace=True)
    made.settle()
    return made


def test_it_is_active_while_any_replica_is_and_ready_when_it_runs() -> None:
    w = world()
    assert not QUEUED.standing(w.view(PyTorchJob)[0]).active
    for name in w.names():
        w.run(name)
    w.settle()
    standing = QUEUED.standing(w.view(PyTorchJob)[0])
    assert (standing.active, standing.pods_ready, standing.finished) == (True, True, False)


def test_pending_pods_hold_their_quota_too_until_they_are_gone() -> None:
    w = world()
    w.edit({"runPolicy": {"suspend": True}})
    assert QUEUED.standing(w.view(PyTorchJob)[0]).active, "the suspension has not been seen yet"
    w.settle()
    assert QUEUED.standing(w.view(PyTorchJob)[0]).active, "the pods are on their way out"
    for name in w.names():
        w.gone(name)
    w.settle()
    assert not QUEUED.standing(w.view(PyTorchJob)[0]).active


def test_its_end_carries_the_message() -> None:
    w = world()
    w.end("p-master-0")
    w.settle()
    standing = QUEUED.standing(w.view(PyTorchJob)[0])
    assert (standing.finished, standing.succeeded, standing.active) == (True, True, False)
    assert standing.message == "PyTorchJob ns/p has succeeded"


def test_a_job_of_another_manager_is_managed_elsewhere() -> None:
    job = pytorch_job(runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"})
    assert QUEUED.standing(view(job)).managed_elsewhere
    assert not QUEUED.standing(view(pytorch_job())).managed_elsewhere
