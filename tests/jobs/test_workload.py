"""A job's Workload: its name, what it says, and whether it still says it."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.batch import Job
from kumi.api.kubeflow import PyTorchJob
from kumi.api.kueue import PriorityClassRef, Workload, WorkloadPriorityClass
from kumi.api.scheduling import PriorityClass
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetInfo
from kumi.jobs.job import QueuedBatchJob
from kumi.jobs.pytorchjob import QUEUED_PYTORCH
from kumi.jobs.workload import Priority, build, matches, name_of, priority, priority_source, stop_step
from tests.jobs.world import batch_job, merged, pytorch_job

JOBS = QueuedBatchJob()
KIND = load().of(PyTorchJob)


def view(obj: JsonObject) -> PyTorchJob:
    return msgspec.convert(obj, PyTorchJob)


def workload_of(obj: JsonObject) -> Workload:
    queued: Any = QUEUED_PYTORCH if obj["kind"] == "PyTorchJob" else JOBS
    return msgspec.convert(build(queued, msgspec.convert(obj, queued.view_type), Priority()), Workload)


# the name


def test_the_name_is_the_kind_the_job_and_five_digits_of_a_digest() -> None:
    digest = hashlib.sha1(b"PyTorchJob\nkubeflow.org\nbert\nu-1").hexdigest()[:5]
    assert name_of(KIND, "bert", "u-1") == f"pytorchjob-bert-{digest}"


@given(st.text("abc-", min_size=1, max_size=300), st.text("0123456789", min_size=1, max_size=5))
def test_a_name_never_gets_too_long_and_never_loses_its_digest(name: str, uid: str) -> None:
    made = name_of(KIND, name, uid)
    assert len(made) <= 253
    assert made[-6] == "-"
    assert made[-5:] == name_of(KIND, name, uid)[-5:]
    assert name_of(KIND, name, uid + "x") != made


# what it says


def test_what_the_workload_of_a_job_says() -> None:
    job = pytorch_job(workers=3)
    job["metadata"].update(
        uid="u", labels={"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/max-exec-time-seconds": "60"}
    )
    source = PriorityClassRef(group="g", kind="k", name="n")
    made = build(QUEUED_PYTORCH, view(job), Priority(7, source))
    assert made["metadata"]["labels"] == {"kueue.x-k8s.io/job-uid": "u"}
    assert made["metadata"]["ownerReferences"][0] == {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "name": "p",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    spec = made["spec"]
    assert [(p["name"], p["count"]) for p in spec["podSets"]] == [("master", 1), ("worker", 3)]
    assert (spec["queueName"], spec["priority"], spec["active"]) == ("q", 7, True)
    assert spec["priorityClassRef"] == {"group": "g", "kind": "k", "name": "n"}
    assert spec["maximumExecutionTimeSeconds"] == 60


def test_topology_annotations_of_the_template_become_a_request() -> None:
    job = batch_job()
    job["spec"]["template"]["metadata"] = {"annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}}
    made = build(JOBS, msgspec.convert(job, Job), Priority())
    label = "batch.kubernetes.io/job-completion-index"
    assert made["spec"]["podSets"][0]["topologyRequest"] == {"required": "rack", "podIndexLabel": label}


def test_a_smaller_start_is_said() -> None:
    job = batch_job(parallelism=4)
    job["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    assert build(JOBS, msgspec.convert(job, Job), Priority())["spec"]["podSets"][0]["minCount"] == 2


# priority


def test_where_the_priority_comes_from() -> None:
    job = pytorch_job()
    assert priority_source(QUEUED_PYTORCH, view(job)) is None
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["priorityClassName"] = "pods"
    assert name(job) == ("PriorityClass", "pods")
    job["spec"]["runPolicy"] = {"schedulingPolicy": {"priorityClass": "policy"}}
    assert name(job) == ("PriorityClass", "policy")
    job["metadata"]["labels"] = {"kueue.x-k8s.io/priority-class": "label"}
    assert name(job) == ("WorkloadPriorityClass", "label")


def name(job: JsonObject) -> tuple[str, str]:
    found = priority_source(QUEUED_PYTORCH, view(job))
    assert found is not None
    return found.kind, found.name


def pod_class(class_name: str, value: int, default: bool = False) -> PriorityClass:
    return msgspec.convert({"metadata": {"name": class_name}, "value": value, "globalDefault": default}, PriorityClass)


def test_the_value_of_a_priority() -> None:
    workload = msgspec.convert({"metadata": {"name": "x"}, "value": 5}, WorkloadPriorityClass)
    pods = [pod_class("x", 9)]
    assert value(PriorityClassRef(kind="WorkloadPriorityClass", name="x"), [workload], pods) == 5
    assert value(PriorityClassRef(kind="PriorityClass", name="x"), [workload], pods) == 9
    assert priority(PriorityClassRef(kind="PriorityClass", name="y"), [workload], pods) is None


def value(source: PriorityClassRef | None, workloads: list[WorkloadPriorityClass], pods: list[PriorityClass]) -> int:
    found = priority(source, workloads, pods)
    assert found is not None
    return found.value


def test_without_a_source_the_lowest_default_counts_or_zero() -> None:
    classes = [pod_class("a", 9, default=True), pod_class("b", 4, default=True), pod_class("c", 1)]
    assert value(None, [], classes) == 4
    assert value(None, [], []) == 0


# whether it matches


EDITS: list[JsonObject] = [
    {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 5}}}},
    {"spec": {"pytorchReplicaSpecs": {"Master": None}}},
    *(
        {"spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": body}}}}}
        for body in (
            {"nodeSelector": {"zone": "b"}},
            {"tolerations": [{"key": "x"}]},
            {"priorityClassName": "high"},
            {"affinity": {"nodeAffinity": {}}},
            {"containers": [{"name": "pytorch", "image": "i", "resources": {"requests": {"cpu": "2"}}}]},
            {"initContainers": [{"name": "x", "image": "i", "resources": {"limits": {"cpu": "2"}}}]},
        )
    ),
    {
        "spec": {
            "pytorchReplicaSpecs": {
                "Worker": {"template": {"metadata": {"annotations": {"kueue.x-k8s.io/podset-required-topology": "r"}}}}
            }
        }
    },
]


@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_an_edit_that_the_queues_care_about_is_seen(edit: JsonObject) -> None:
    job = pytorch_job(runPolicy={"suspend": True})
    workload = workload_of(job)
    assert matches(QUEUED_PYTORCH, view(job), workload)
    assert not matches(QUEUED_PYTORCH, view(merged(job, edit)), workload)


def test_an_edit_of_the_command_is_none_of_the_queues_business() -> None:
    job = pytorch_job(runPolicy={"suspend": True})
    workload = workload_of(job)
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["command"] = ["other"]
    assert matches(QUEUED_PYTORCH, view(job), workload)


def test_requests_that_a_server_takes_from_limits_are_no_difference() -> None:
    job = batch_job(suspend=True)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    container["resources"] = {"limits": {"cpu": "1"}}
    workload = workload_of(job)
    container["resources"] = {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
    assert matches(JOBS, msgspec.convert(job, Job), workload)


def started(job: JsonObject) -> JsonObject:
    infos = [
        PodSetInfo(s.name, s.count, {"pool": "gpu"}, {"kueue.x-k8s.io/podset": s.name})
        for s in QUEUED_PYTORCH.pod_sets(view(job))
    ]
    return merged(job, QUEUED_PYTORCH.start_patch(view(job), infos))


def test_a_started_job_matches_although_admission_added_to_it() -> None:
    job = pytorch_job(runPolicy={"suspend": True})
    assert matches(QUEUED_PYTORCH, view(started(job)), workload_of(job))


def test_a_running_job_that_was_resized_does_not() -> None:
    job = pytorch_job(runPolicy={"suspend": True})
    bigger = merged(started(job), {"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 9}}}})
    assert not matches(QUEUED_PYTORCH, view(bigger), workload_of(job))


def test_a_running_job_of_the_size_that_was_admitted_matches() -> None:
    job = batch_job(parallelism=4)
    workload = workload_of(job)
    assignments = [{"name": "main", "count": 2}]
    workload = msgspec.convert(
        merged(
            msgspec.to_builtins(workload),
            {"status": {"admission": {"clusterQueue": "c", "podSetAssignments": assignments}}},
        ),
        Workload,
    )
    assert matches(JOBS, msgspec.convert(batch_job(parallelism=2), Job), workload)
    assert not matches(JOBS, msgspec.convert(batch_job(parallelism=3), Job), workload)


# stopping


def test_stopping_ends_at_the_templates_as_stored() -> None:
    job = pytorch_job(runPolicy={"suspend": True})
    workload = workload_of(job)
    running = started(job)
    step = stop_step(QUEUED_PYTORCH, view(running), workload)
    assert step is not None
    stopped = merged(running, step)
    assert stop_step(QUEUED_PYTORCH, view(stopped), workload) is None
    assert matches(QUEUED_PYTORCH, view(stopped), workload)
    assert [s.template["spec"] for s in QUEUED_PYTORCH.pod_sets(view(stopped))] == [
        s.template["spec"] for s in QUEUED_PYTORCH.pod_sets(view(job))
    ]


def test_a_job_that_is_not_restored_yet_is_not_taken_for_an_edited_one() -> None:
    job = pytorch_job(runPolicy={"suspend": True})
    half = merged(started(job), {"spec": {"runPolicy": {"suspend": True}}})
    assert matches(QUEUED_PYTORCH, view(half), workload_of(job))
    assert stop_step(QUEUED_PYTORCH, view(half), workload_of(job)) is not None


def test_an_edit_of_a_suspended_job_is_not_undone() -> None:
    job = pytorch_job(runPolicy={"suspend": True})
    workload = workload_of(job)
    edited = merged(job, EDITS[2])
    assert stop_step(QUEUED_PYTORCH, view(edited), workload) is None


def test_what_the_job_says_of_time_its_workload_says() -> None:
    job = pytorch_job()
    said = {"a/deadline-duration": "1h", "a/execution-duration": "10m", "other": "x"}
    job["metadata"] |= {"creationTimestamp": "2026-01-01T00:00:00Z", "annotations": said}
    made = build(QUEUED_PYTORCH, view(job), Priority())
    assert made["metadata"]["annotations"] == {
        "kumi.dev/deadline": "2026-01-01T01:00:00Z",
        "kumi.dev/execution-duration": "600s",
    }
