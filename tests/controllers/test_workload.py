from __future__ import annotations

from typing import Any

import pytest

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.kubeflow import PyTorchJob
from kumi.api.kueue import Workload
from kumi.api.wire import JsonObject
from kumi.controllers import workload_controllers
from kumi.controllers.workload_status import FINALIZER
from kumi.jobs.pytorchjob import QUEUED_PYTORCH
from kumi.jobs.workload import Priority, build
from kumi.runtime.reconcile import NOTHING, Create, Delete, Outcome, Patch
from kumi.testing.view import FakeView, decoded

from .made import GPU, NOW_MS, at, body_of, condition, flavor, meta, pod, pod_template

CONTROLLER = next(c for c in workload_controllers() if c.name == "workload-pytorchjob")
KEY = "team/bert/uid-bert"


def job(
    *,
    suspend: bool = True,
    status: JsonObject | None = None,
    gpus: int = 1,
    template: JsonObject | None = None,
    **fields: Any,
) -> JsonObject:
    spec = {"replicas": 1, "restartPolicy": "OnFailure", "template": template or pod_template(gpus)}
    labels = fields.pop("labels", {"kueue.x-k8s.io/queue-name": "lq"})
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": meta("bert", "team", labels=labels, **fields),
        "spec": {"runPolicy": {"suspend": suspend}, "pytorchReplicaSpecs": {"Master": spec}},
        "status": status or {},
    }


def workload_of(manifest: JsonObject, status: JsonObject | None = None, **fields: Any) -> JsonObject:
    owner = decoded(manifest)
    assert isinstance(owner, PyTorchJob)
    made = build(QUEUED_PYTORCH, owner, Priority())
    of_server = meta(made["metadata"]["name"], "team", finalizers=[FINALIZER])
    return {**made, "metadata": {**of_server, **made["metadata"], **fields}, "status": status or {}}


def held(*conditions: JsonObject) -> JsonObject:
    assigned = {"name": "master", "count": 1, "flavors": {GPU: "a100"}, "resourceUsage": {GPU: "1"}}
    admission = {"clusterQueue": "gpus", "podSetAssignments": [assigned]}
    told = [condition("QuotaReserved", "True"), condition("Admitted", "True"), *conditions]
    return {"admission": admission, "conditions": told}


def look(*manifests: JsonObject, now_ms: int = NOW_MS) -> Outcome:
    return CONTROLLER.reconcile(FakeView(*manifests), KEY, now_ms)


def reasons(outcome: Outcome) -> list[str]:
    return [note.reason for note in outcome.notes]


RUNNING = {"conditions": [condition("Running", "True")], "replicaStatuses": {"Master": {"active": 1}}}
SUCCEEDED = {"conditions": [condition("Succeeded", "True", message="PyTorchJob team/bert has succeeded")]}
A100 = flavor("a100", nodeLabels={"gpu": "a100"}, tolerations=[{"key": "gpu", "operator": "Exists"}])


# the job alone


def test_a_job_in_a_queue_gets_its_workload() -> None:
    outcome = look(job())
    (create,) = outcome.writes
    assert isinstance(create, Create)
    made = create.object
    assert made["metadata"]["finalizers"] == [FINALIZER]
    assert made["metadata"]["ownerReferences"][0]["uid"] == "uid-bert"
    assert made["metadata"]["labels"]["kueue.x-k8s.io/job-uid"] == "uid-bert"
    assert made["spec"]["queueName"] == "lq"
    assert [p["name"] for p in made["spec"]["podSets"]] == ["master"]
    assert reasons(outcome) == ["CreatedWorkload"]


def test_a_job_without_a_queue_is_left_alone() -> None:
    assert look(job(labels={})) == NOTHING


def test_a_child_of_a_queued_job_is_left_alone() -> None:
    parent = {"apiVersion": "batch/v1", "kind": "Job", "name": "p", "uid": "u", "controller": True}
    assert look(job(ownerReferences=[parent])) == NOTHING


def test_a_job_that_runs_without_a_workload_is_suspended_first() -> None:
    outcome = look(job(suspend=False))
    assert body_of(outcome)["spec"] == {"runPolicy": {"suspend": True}}
    assert body_of(outcome)["metadata"] == {"resourceVersion": "1"}
    assert reasons(outcome) == ["Suspended"]


def test_a_workload_is_made_only_when_the_pods_of_before_are_gone() -> None:
    assert look(job(status=RUNNING)) == NOTHING


def test_a_finished_job_never_gets_a_workload() -> None:
    assert look(job(suspend=False, status=SUCCEEDED)) == NOTHING


def priority_class(kind: str, name: str, value: int) -> JsonObject:
    group = "kueue.x-k8s.io/v1beta2" if kind == "WorkloadPriorityClass" else "scheduling.k8s.io/v1"
    return {"apiVersion": group, "kind": kind, "metadata": meta(name), "value": value}


RANKED = {"kueue.x-k8s.io/queue-name": "lq", "kueue.x-k8s.io/priority-class": "high"}


def test_its_priority_is_that_of_its_class() -> None:
    (create,) = look(job(labels=RANKED), priority_class("WorkloadPriorityClass", "high", 100)).writes
    assert isinstance(create, Create)
    assert create.object["spec"]["priority"] == 100
    assert create.object["spec"]["priorityClassRef"]["name"] == "high"


def test_a_class_that_is_not_there_is_waited_for() -> None:
    outcome = look(job(labels=RANKED))
    assert outcome.writes == ()
    assert outcome.wake_at_ms is not None
    assert reasons(outcome) == ["PriorityClassNotFound"]


# waiting


def test_a_job_that_waits_is_left_alone() -> None:
    assert look(job(), workload_of(job())) == NOTHING


def test_an_edit_while_it_waits_changes_the_workload() -> None:
    outcome = look(job(gpus=2), workload_of(job()))
    (patch,) = outcome.writes
    assert isinstance(patch, Patch)
    assert patch.kind.kind == "Workload"
    assert body_of(outcome)["metadata"] == {"resourceVersion": "1"}
    container = body_of(outcome)["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    assert container["resources"]["requests"] == {GPU: "2"}
    assert reasons(outcome) == ["UpdatedWorkload"]


def test_another_queue_while_it_waits_changes_the_workload() -> None:
    outcome = look(job(labels={"kueue.x-k8s.io/queue-name": "other"}), workload_of(job()))
    assert body_of(outcome)["spec"]["queueName"] == "other"


def test_another_class_while_it_waits_changes_the_priority() -> None:
    outcome = look(job(labels=RANKED), workload_of(job()), priority_class("WorkloadPriorityClass", "high", 7))
    assert body_of(outcome)["spec"]["priority"] == 7


def test_a_job_that_is_started_by_hand_is_stopped() -> None:
    outcome = look(job(suspend=False, status=RUNNING), workload_of(job()))
    assert body_of(outcome)["spec"]["runPolicy"]["suspend"] is True
    assert reasons(outcome) == ["Suspended"]


# admitted


def test_an_admitted_job_is_started_with_what_was_decided() -> None:
    outcome = look(job(), workload_of(job(), held()), A100)
    body = body_of(outcome)
    assert body["metadata"]["resourceVersion"] == "1"
    assert body["spec"]["runPolicy"]["suspend"] is False
    template = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    assert template["metadata"]["labels"] == {
        "kueue.x-k8s.io/podset": "master",
        "kueue.x-k8s.io/local-queue-name": "lq",
        "kueue.x-k8s.io/cluster-queue-name": "gpus",
    }
    assert template["metadata"]["annotations"]["kueue.x-k8s.io/workload"].startswith("pytorchjob-bert-")
    assert template["spec"]["nodeSelector"] == {"gpu": "a100"}
    assert template["spec"]["tolerations"] == [{"key": "gpu", "operator": "Exists"}]
    assert reasons(outcome) == ["Started"]


def test_a_flavor_that_is_not_there_is_waited_for() -> None:
    outcome = look(job(), workload_of(job(), held()))
    assert outcome.writes == ()
    assert outcome.wake_at_ms is not None


def test_a_users_selector_that_contradicts_the_flavor_ends_the_workload() -> None:
    template = pod_template()
    template["spec"]["nodeSelector"] = {"gpu": "h100"}
    manifest = job(template=template)
    outcome = look(manifest, workload_of(manifest, held()), A100)
    told = {c["type"]: c["reason"] for c in body_of(outcome)["status"]["conditions"]}
    assert told["Finished"] == "FailedToStart"
    assert reasons(outcome) == ["FailedToStart"]


def test_an_edit_between_admission_and_start_gets_a_new_workload() -> None:
    (write,) = look(job(gpus=2), workload_of(job(), held()), A100).writes
    assert isinstance(write, Delete)
    assert write.kind.kind == "Workload"


def test_pods_that_are_ready_are_told() -> None:
    ready = {**RUNNING, "replicaStatuses": {"Master": {"active": 1}}}
    outcome = look(job(suspend=False, status=ready), workload_of(job(), held()))
    told = {c["type"]: c["status"] for c in body_of(outcome)["status"]["conditions"]}
    assert told["PodsReady"] == "True"


# stopping


EVICTED = condition("Evicted", "True", "ClusterQueueStopped", message="It is drained.")


def test_an_evicted_job_is_stopped_and_keeps_its_quota_until_its_pods_are_gone() -> None:
    stop = look(job(suspend=False, status=RUNNING), workload_of(job(), held(EVICTED)))
    assert body_of(stop)["spec"]["runPolicy"]["suspend"] is True
    assert [(n.reason, n.message) for n in stop.notes] == [("Stopped", "It is drained.")]
    assert look(job(status=RUNNING), workload_of(job(), held(EVICTED))) == NOTHING


def test_once_its_pods_are_gone_the_quota_is_given_back_if_the_job_is_as_it_was_read() -> None:
    outcome = look(job(), workload_of(job(), held(EVICTED)))
    guard, release = outcome.writes
    assert isinstance(guard, Patch)
    assert (guard.kind.kind, guard.body) == ("PyTorchJob", {"metadata": {"resourceVersion": "1"}})
    assert isinstance(release, Patch)
    assert body_of(outcome, 1)["status"]["admission"] is None


def test_what_was_given_back_is_not_given_back_again() -> None:
    released = {"conditions": [condition("QuotaReserved", "False"), condition("Admitted", "False"), EVICTED]}
    assert look(job(), workload_of(job(), released)) == NOTHING


def test_a_stop_puts_the_templates_back() -> None:
    template = pod_template()
    template["metadata"] = {"labels": {"kueue.x-k8s.io/podset": "master"}}
    template["spec"]["nodeSelector"] = {"gpu": "a100"}
    running = job(suspend=False, status=RUNNING, template=template)
    body = body_of(look(running, workload_of(job(), held(EVICTED))))
    master = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    assert master == {"metadata": {"labels": None}, "spec": {"nodeSelector": None}}


def test_a_deleted_workload_stops_its_job_before_it_goes() -> None:
    going = {"deletionTimestamp": at(0)}
    stop = look(job(suspend=False, status=RUNNING), workload_of(job(), held(), **going))
    assert body_of(stop)["spec"]["runPolicy"]["suspend"] is True
    assert look(job(status=RUNNING), workload_of(job(), held(), **going)) == NOTHING
    guard, release = look(job(), workload_of(job(), held(), **going)).writes
    assert isinstance(guard, Patch)
    assert isinstance(release, Patch)
    assert release.type == "json"


def test_a_label_that_is_taken_off_takes_the_workload_along() -> None:
    (write,) = look(job(labels={}), workload_of(job())).writes
    assert isinstance(write, Delete)
    (patch,) = look(job(labels={}), workload_of(job(), deletionTimestamp=at(0))).writes
    assert isinstance(patch, Patch)


# the end


def test_a_finished_job_finishes_its_workload() -> None:
    outcome = look(job(suspend=False, status=SUCCEEDED), workload_of(job(), held()))
    (told,) = [c for c in body_of(outcome)["status"]["conditions"] if c["type"] == "Finished"]
    assert (told["status"], told["reason"]) == ("True", "Succeeded")
    assert reasons(outcome) == ["FinishedWorkload"]


def test_a_finished_workload_is_not_written_again() -> None:
    done = held(condition("Finished", "True", "Succeeded"))
    assert look(job(suspend=False, status=SUCCEEDED), workload_of(job(), done)) == NOTHING


def test_a_job_whose_workload_has_ended_does_not_run() -> None:
    failed = {"conditions": [condition("Finished", "True", "FailedToStart")]}
    assert look(job(), workload_of(job(), failed)) == NOTHING
    outcome = look(job(suspend=False, status=RUNNING), workload_of(job(), failed))
    assert body_of(outcome)["spec"]["runPolicy"]["suspend"] is True


def owned_pod(phase: str) -> JsonObject:
    owner = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "name": "bert",
        "uid": "uid-bert",
        "controller": True,
    }
    return pod("bert-master-0", ownerReferences=[owner], status={"phase": phase}, deletionTimestamp=at(0))


def test_a_workload_of_a_job_that_is_gone_goes_when_no_pod_is_left() -> None:
    going = workload_of(job(), held(), deletionTimestamp=at(0))
    assert look(going, owned_pod("Running")) == NOTHING
    (patch,) = look(going, owned_pod("Succeeded")).writes
    assert isinstance(patch, Patch)
    assert patch.type == "json"
    assert look(workload_of(job(), held())) == NOTHING


def test_another_job_of_the_name_is_another_job() -> None:
    assert look(job(uid="uid-again")) == NOTHING


# keys


def test_keys_name_the_job_and_its_uid() -> None:
    keys = CONTROLLER.watches.keys
    assert keys[PyTorchJob](decoded(job())) == (KEY,)
    assert keys[Workload](decoded(workload_of(job()))) == (KEY,)
    assert keys[Pod](decoded(owned_pod("Running"))) == (KEY,)


def test_pods_that_stay_and_children_of_others_concern_nobody() -> None:
    keys = CONTROLLER.watches.keys
    staying = owned_pod("Running")
    del staying["metadata"]["deletionTimestamp"]
    assert keys[Pod](decoded(staying)) == ()
    assert keys[Pod](decoded(pod(deletionTimestamp=at(0)))) == ()


@pytest.mark.parametrize("view_type", [Job, PyTorchJob], ids=lambda t: t.__name__)
def test_every_queued_kind_has_its_own_loop(view_type: type) -> None:
    assert [c.name for c in workload_controllers() if view_type in c.watches.keys] == [
        f"workload-{view_type.__name__.lower()}"
    ]


def test_a_deadline_that_is_said_later_is_said_of_the_workload_that_waits() -> None:
    said = {"kumi.dev/deadline": "2026-01-01T00:00:00Z"}
    outcome = look(job(annotations=said), workload_of(job(), annotations={"mine": "x"}))
    assert body_of(outcome)["metadata"] == {"resourceVersion": "1", "annotations": said}
    assert look(job(annotations=said), workload_of(job(annotations=said))) == NOTHING
