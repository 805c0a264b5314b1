"""The loop that makes pods: what it reads, how it writes, what it does with orphans."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.autoscaling import HorizontalPodAutoscaler
from kumi.api.batch import Job
from kumi.api.core import Pod, Service
from kumi.api.kubeflow import PyTorchJob
from kumi.api.scheduling import PriorityClass
from kumi.api.volcano import PodGroup
from kumi.api.wire import JsonObject
from kumi.controllers.replicas import ReplicasController
from kumi.jobs.base import Alteration, Children, Removal, Said, Settings, Sync
from kumi.jobs.job import JobReplicas
from kumi.jobs.job_tracking import FINALIZER
from kumi.jobs.pytorchjob import PyTorchReplicas
from kumi.runtime.reconcile import NOTHING, Create, Delete, Outcome, Patch
from kumi.testing.view import FakeView, decoded

JOB: JsonObject = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
    "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
}


def pod(name: str = "p", owner: str = "u", **meta: Any) -> JsonObject:
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": owner, "controller": True}
    labels = {"batch.kubernetes.io/job-name": "j"}
    base = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": "3", "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**base, "ownerReferences": [reference], "finalizers": ["x", FINALIZER], **meta},
    }


class Told(JobReplicas):
    """A kind that answers what a test wants, and keeps what it was asked."""

    def __init__(self, answer: Sync) -> None:
        self.answer, self.asked = answer, Children()

    def sync(self, job: Job, children: Children, settings: Settings, now_ms: int) -> Sync:
        self.asked = children
        return self.answer


def look(answer: Sync, *objects: JsonObject) -> tuple[Outcome, Told]:
    told = Told(answer)
    return ReplicasController(told, Settings()).reconcile(FakeView(*objects), "ns/j", 0), told


def test_only_children_that_the_job_controls_are_its_own() -> None:
    mine, theirs = pod("mine"), pod("theirs", owner="another")
    labelled = pod("labelled")
    labelled["metadata"]["ownerReferences"][0]["controller"] = False
    _, told = look(Sync(), JOB, mine, theirs, labelled)
    assert [p.metadata.name for p in told.asked.pods] == ["mine"]


def test_writes_are_done_in_order_and_on_conditions() -> None:
    child = decoded(pod())
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}}
    answer = Sync(
        alter=(Alteration(child, {"metadata": {"finalizers": None}}),),
        remove=(Removal(child),),
        create=(made,),
        status={"active": 1},
    )
    outcome, _ = look(answer, JOB, pod())
    alter, remove, create, status = outcome.writes
    assert isinstance(alter, Patch)
    assert alter.body == {"metadata": {"finalizers": None, "resourceVersion": "3"}}
    assert isinstance(remove, Delete)
    assert (remove.uid, remove.propagation) == ("uid-p", "Background")
    assert create == Create(made)
    assert isinstance(status, Patch)
    assert (status.subresource, status.body) == (
        "status",
        {"metadata": {"resourceVersion": "7"}, "status": {"active": 1}},
    )


def test_a_job_whose_time_is_over_is_deleted_by_its_uid() -> None:
    outcome, _ = look(Sync(delete_job=True), JOB)
    (delete,) = outcome.writes
    assert isinstance(delete, Delete)
    assert (delete.kind.kind, delete.name, delete.uid) == ("Job", "j", "u")


def test_what_the_kind_says_is_told_about_the_job() -> None:
    outcome, _ = look(Sync(said=(Said("R", "m", "Warning"),), wake_at_ms=5), JOB)
    (note,) = outcome.notes
    assert (note.reason, note.message, note.type) == ("R", "m", "Warning")
    assert note.about == {"apiVersion": "batch/v1", "kind": "Job", "namespace": "ns", "name": "j", "uid": "u"}
    assert outcome.wake_at_ms == 5


def test_nothing_is_done_about_a_job_that_is_not_there() -> None:
    outcome, _ = look(Sync(delete_job=True))
    assert outcome is NOTHING


@pytest.mark.parametrize("objects", [(), (JOB,)], ids=["gone", "another of its name"])
def test_a_child_whose_job_is_gone_loses_the_finalizer(objects: tuple[JsonObject, ...]) -> None:
    outcome, _ = look(Sync(), *objects, pod(owner="gone"))
    (patch,) = outcome.writes
    assert isinstance(patch, Patch)
    assert patch.body == {"metadata": {"resourceVersion": "3", "finalizers": ["x"]}}


def test_a_child_of_another_kind_or_namespace_keeps_it() -> None:
    other = pod("a")
    other["metadata"]["ownerReferences"][0].update(kind="CronThing", uid="gone")
    outcome, _ = look(Sync(), other, pod("b", owner="gone", namespace="elsewhere"))
    assert outcome.writes == ()


def test_it_watches_the_job_and_everything_it_makes() -> None:
    watches = ReplicasController(PyTorchReplicas(), Settings()).watches
    assert list(watches.keys) == [PyTorchJob, Pod, Service, HorizontalPodAutoscaler]
    with_gangs = ReplicasController(PyTorchReplicas(), Settings(gang_scheduler="volcano")).watches
    assert PodGroup in with_gangs.keys
    assert watches.labels == ()
    assert ReplicasController(JobReplicas(), Settings()).watches.labels == ("batch.kubernetes.io/job-name",)


def test_a_change_of_a_child_concerns_its_job() -> None:
    watches = ReplicasController(JobReplicas(), Settings()).watches
    assert list(watches.keys[Pod](decoded(pod()))) == ["ns/j"]
    assert list(watches.keys[Job](decoded(JOB))) == ["ns/j"]
    stranger = pod()
    stranger["metadata"]["ownerReferences"][0]["apiVersion"] = "batch.volcano.sh/v1alpha1"
    assert list(watches.keys[Pod](decoded(stranger))) == []


def test_gangs_are_told_the_values_of_priorities() -> None:
    told = Told(Sync())
    controller = ReplicasController(told, Settings(gang_scheduler="volcano"))
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    controller.reconcile(FakeView(JOB, high), "ns/j", 0)
    assert told.asked.priorities == {"high": 9}
    assert PriorityClass in controller.watches.keys
