"""PodGroups of training jobs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.coscheduling import PodGroup as CoschedulingPodGroup
from kumi.api.kubeflow import PyTorchJob
from kumi.api.volcano import PodGroup
from kumi.api.wire import JsonObject
from kumi.jobs.gang import is_pod_group, join, pod_group, pod_group_types, pods_must_wait, ranked, uses_gang
from kumi.jobs.pytorchjob import PYTORCH
from kumi.jobs.training import Training
from tests.jobs.world import pytorch_job


def training(policy: JsonObject | None = None, **resources: JsonObject) -> Training[PyTorchJob]:
    job = pytorch_job(workers=3, **({"runPolicy": {"schedulingPolicy": policy}} if policy else {}))
    for type_, body in resources.items():
        replica = job["spec"]["pytorchReplicaSpecs"][type_]["template"]["spec"]
        replica["containers"][0]["resources"] = body
        replica["priorityClassName"] = type_.lower()
    return PYTORCH.read(msgspec.convert(job, PyTorchJob))


def spec(found: JsonObject) -> JsonObject:
    inner: JsonObject = found["spec"]
    return inner


def test_each_scheduler_reads_its_own_sort_of_pod_group() -> None:
    assert pod_group_types("") == ()
    assert pod_group_types("volcano") == (PodGroup,)
    assert pod_group_types("coscheduling") == (CoschedulingPodGroup,)


@pytest.mark.parametrize(("scheduler", "gang"), [("", False), ("None", False), ("volcano", True), ("other", True)])
def test_which_installations_use_gangs(scheduler: str, gang: bool) -> None:
    assert uses_gang(scheduler) == gang


def test_the_whole_job_is_the_gang_unless_it_says_otherwise() -> None:
    assert spec(pod_group(training(), "volcano", None))["minMember"] == 4
    assert spec(pod_group(training({"minAvailable": 2}), "volcano", None))["minMember"] == 2


def test_resources_add_up_requests_or_where_there_are_none_limits() -> None:
    job = training(Master={"requests": {"cpu": "500m"}}, Worker={"limits": {"cpu": "2", "nvidia.com/gpu": 1}})
    assert spec(pod_group(job, "volcano", None))["minResources"] == {"cpu": "6500m", "nvidia.com/gpu": "3"}


@pytest.mark.parametrize(("master", "worker", "cpu"), [(1, 0, "3"), (0, 1, "4")])
def test_the_higher_priority_is_the_first_part_of_a_smaller_gang(master: int, worker: int, cpu: str) -> None:
    job = training({"minAvailable": 2}, Master={"requests": {"cpu": "1"}}, Worker={"requests": {"cpu": "2"}})
    made = pod_group(ranked(job, {"master": master, "worker": worker}), "volcano", None)
    assert spec(made)["minResources"] == {"cpu": cpu}


def test_given_resources_are_taken() -> None:
    job = training({"minResources": {"cpu": "1"}}, Worker={"requests": {"cpu": "2"}})
    assert spec(pod_group(job, "volcano", None))["minResources"] == {"cpu": "1"}


def test_volcanos_queue_is_given_or_default_and_stays_what_it_was() -> None:
    existing = msgspec.convert({"spec": {"queue": "mine"}}, PodGroup)
    policy = {"queue": "q", "priorityClass": "high"}
    made = pod_group(training(policy), "volcano", None)
    assert made["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    assert (spec(made)["queue"], spec(made)["priorityClassName"]) == ("q", "high")
    assert spec(pod_group(training(), "volcano", None))["queue"] == "default"
    assert spec(pod_group(training(policy), "volcano", existing))["queue"] == "mine"


def test_other_schedulers_get_a_timeout_and_no_queue() -> None:
    made = pod_group(training({"scheduleTimeoutSeconds": 30, "queue": "q"}), "coscheduling", None)
    assert made["apiVersion"] == "scheduling.x-k8s.io/v1alpha1"
    assert spec(made)["scheduleTimeoutSeconds"] == 30
    assert "queue" not in spec(made)


@pytest.mark.parametrize(("phase", "wait"), [("", True), ("Pending", True), ("Inqueue", False), ("Running", False)])
def test_volcanos_pods_wait_until_the_group_is_let_in(phase: str, wait: bool) -> None:
    existing = msgspec.convert({"status": {"phase": phase}}, PodGroup)
    assert pods_must_wait("volcano", existing) == wait
    assert not pods_must_wait("other", existing)


def test_volcanos_pods_wait_for_a_group_that_is_not_there() -> None:
    assert pods_must_wait("volcano", None)


def pod(**spec: Any) -> JsonObject:
    return {"metadata": {"labels": {}}, "spec": spec}


def test_joining_a_volcano_gang() -> None:
    job, made = training(), pod()
    assert join(made, job, job.replicas[1], "volcano")
    assert made["spec"]["schedulerName"] == "volcano"
    assert made["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "p", "volcano.sh/task-spec": "worker"}


def test_joining_another_gang() -> None:
    job, made = training(), pod()
    assert join(made, job, job.replicas[0], "other")
    assert made["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "p"}


def test_a_template_keeps_another_scheduler() -> None:
    job, made = training(), pod(schedulerName="mine")
    assert not join(made, job, job.replicas[0], "volcano")
    assert made["spec"]["schedulerName"] == "mine"


def test_what_is_a_pod_group() -> None:
    assert is_pod_group(PodGroup())
    assert is_pod_group(CoschedulingPodGroup())
    assert not is_pod_group(PyTorchJob())


def test_a_deadline_of_the_job_is_a_time_of_its_group() -> None:
    job = pytorch_job()
    job["metadata"] |= {
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {"a/deadline-duration": "1h", "b": "c"},
    }
    made = pod_group(PYTORCH.read(msgspec.convert(job, PyTorchJob)), "volcano", None)
    said = {"a/deadline-duration": "1h", "b": "c", "kumi.dev/deadline": "2026-01-01T01:00:00Z"}
    assert made["metadata"]["annotations"] == said
