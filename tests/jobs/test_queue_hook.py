"""Admission of jobs that belong to a queue."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.kubeflow import PyTorchJob
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.jobs.queue_hook import QueueHook
from tests.jobs.world import batch_job, pytorch_job

KINDS = {"Job": load().of(Job), "PyTorchJob": load().of(PyTorchJob), "Pod": load().of(Pod)}
QUEUE, LIMIT, CLASS = (
    "kueue.x-k8s.io/queue-name",
    "kueue.x-k8s.io/max-exec-time-seconds",
    "kueue.x-k8s.io/priority-class",
)
HOOK = QueueHook()


def labelled(job: JsonObject, **labels: str) -> JsonObject:
    names = {"queue": QUEUE, "limit": LIMIT, "priority": CLASS}
    job["metadata"]["labels"] = {names[k]: v for k, v in labels.items()}
    return job


def created(job: JsonObject) -> JsonObject:
    new = copy.deepcopy(job)
    HOOK.mutate("CREATE", KINDS[new["kind"]], new, None)
    return new


def refused(new: JsonObject, old: JsonObject | None = None) -> list[str]:
    found = HOOK.validate("CREATE" if old is None else "UPDATE", KINDS[new["kind"]], new, old)
    return [e.path for e in found]


def test_a_job_with_a_queue_is_made_suspended() -> None:
    assert created(labelled(batch_job(), queue="q"))["spec"]["suspend"] is True
    job = created(labelled(pytorch_job(runPolicy={"backoffLimit": 1}), queue="q"))
    assert job["spec"]["runPolicy"] == {"backoffLimit": 1, "suspend": True}


def test_a_job_without_a_queue_is_left_alone() -> None:
    assert created(pytorch_job()) == pytorch_job()


def test_only_creation_suspends() -> None:
    job = labelled(batch_job(suspend=False), queue="q")
    HOOK.mutate("UPDATE", KINDS["Job"], job, job)
    assert job["spec"]["suspend"] is False


def test_what_another_queued_job_owns_waits_with_its_owner() -> None:
    job = labelled(batch_job(), queue="q")
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "p", "uid": "u", "controller": True}
    job["metadata"]["ownerReferences"] = [owner]
    assert created(job) == job
    job["metadata"]["ownerReferences"] = [{**owner, "apiVersion": "other/v1"}]
    assert created(job)["spec"]["suspend"] is True


def test_other_kinds_are_not_looked_at() -> None:
    pod: JsonObject = {"kind": "Pod", "metadata": {"name": "p", "labels": {QUEUE: "Not A Name"}}}
    assert created(pod) == pod
    assert refused(pod) == []


@pytest.mark.parametrize("name", ["q", "team-a.queue", "1"])
def test_names_of_queues(name: str) -> None:
    assert refused(labelled(batch_job(), queue=name)) == []


@pytest.mark.parametrize("name", ["Q", "a_b", "-a", "a..b", "a" * 254, ""])
def test_what_is_no_name_of_a_queue(name: str) -> None:
    assert refused(labelled(batch_job(), queue=name)) == [f"metadata.labels[{QUEUE}]"]


@pytest.mark.parametrize(("text", "right"), [("1", True), ("3600", True), ("0", False), ("-1", False), ("1h", False)])
def test_the_limit_of_time_is_a_positive_number(text: str, right: bool) -> None:
    assert (refused(labelled(batch_job(), limit=text)) == []) == right


@pytest.mark.parametrize(("job", "paths"), [(batch_job(), 0), (pytorch_job(), 1)])
def test_only_some_kinds_can_be_elastic(job: JsonObject, paths: int) -> None:
    elastic = copy.deepcopy(job)
    elastic["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    assert len(refused(elastic)) == paths


def suspended(job: JsonObject, value: bool) -> JsonObject:
    out = copy.deepcopy(job)
    out["spec"]["suspend"] = value
    return out


@pytest.mark.parametrize(
    ("old", "new", "label"),
    [
        ({"queue": "a"}, {"queue": "b"}, QUEUE),
        ({"queue": "a"}, {}, QUEUE),
        ({}, {"queue": "a"}, QUEUE),
        ({"queue": "a", "limit": "1"}, {"queue": "a", "limit": "2"}, LIMIT),
        ({"queue": "a"}, {"queue": "a", "priority": "p"}, CLASS),
        ({"queue": "a", "priority": "p"}, {"queue": "a"}, CLASS),
    ],
)
def test_what_can_not_change_while_a_job_runs_can_while_it_is_suspended(
    old: dict[str, Any], new: dict[str, Any], label: str
) -> None:
    before, after = labelled(batch_job(), **old), labelled(batch_job(), **new)
    assert refused(suspended(after, False), suspended(before, False)) == [f"metadata.labels[{label}]"]
    assert refused(suspended(after, True), suspended(before, True)) == []


def test_the_priority_of_a_running_job_may_change() -> None:
    before, after = labelled(batch_job(), queue="a", priority="p"), labelled(batch_job(), queue="a", priority="q")
    assert refused(after, before) == []


def test_a_field_that_was_replaced_is_warned_of() -> None:
    job = pytorch_job(master=0, elasticPolicy={"nProcPerNode": 2})
    said = HOOK.warnings("CREATE", KINDS["PyTorchJob"], job)
    assert said == ["spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead"]
    assert HOOK.warnings("CREATE", KINDS["PyTorchJob"], pytorch_job(elasticPolicy={})) == []
    assert HOOK.warnings("CREATE", KINDS["Job"], batch_job()) == []
