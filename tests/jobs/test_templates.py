"""Parts of children."""

from __future__ import annotations

import msgspec
import pytest

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.wire import JsonObject
from kumi.jobs.templates import is_disrupted, is_live, is_ready, pod_of, restarts

DISRUPTED = {"type": "DisruptionTarget", "status": "True"}
JOB = msgspec.convert({"metadata": {"name": "j", "namespace": "ns", "uid": "u"}}, Job)


def pod(**status: object) -> Pod:
    return msgspec.convert({"metadata": {"name": "p"}, "status": status}, Pod)


def test_only_a_failed_pod_with_the_mark_and_one_that_is_being_deleted_with_it_was_disrupted() -> None:
    assert is_disrupted(pod(phase="Failed", conditions=[DISRUPTED]))
    for phase, disrupted in (("Pending", True), ("Running", True), ("Failed", True), ("Succeeded", False)):
        evicted = pod(phase=phase, conditions=[DISRUPTED])
        evicted.metadata.deletion_timestamp = "2027-01-15T08:00:00Z"
        assert is_disrupted(evicted) is disrupted
        evicted.status.conditions = []
        assert not is_disrupted(evicted)
    assert not is_disrupted(pod(phase="Running", conditions=[DISRUPTED]))
    assert not is_disrupted(pod(phase="Succeeded", conditions=[DISRUPTED]))
    assert not is_disrupted(pod(phase="Failed", conditions=[{**DISRUPTED, "status": "False"}]))
    assert not is_disrupted(pod(phase="Failed", conditions=[{"type": "Ready", "status": "True"}]))


def test_labels_of_the_job_win_over_those_of_the_template() -> None:
    template: JsonObject = {"metadata": {"labels": {"a": "template", "b": "kept"}}, "spec": {}}
    made = pod_of(JOB, ("batch/v1", "Job"), template, "p", {"a": "job"})
    assert made["metadata"]["labels"] == {"a": "job", "b": "kept"}


def test_the_templates_own_name_and_namespace_mean_nothing() -> None:
    made = pod_of(JOB, ("batch/v1", "Job"), {"metadata": {"name": "x", "namespace": "y"}}, "p", {})
    assert (made["metadata"]["name"], made["metadata"]["namespace"]) == ("p", "ns")


def test_the_job_controls_its_pod() -> None:
    (reference,) = pod_of(JOB, ("batch/v1", "Job"), {}, "p", {})["metadata"]["ownerReferences"]
    assert reference == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "j",
        "uid": "u",
        "controller": True,
        "blockOwnerDeletion": True,
    }


def test_changing_a_pod_leaves_the_template_as_it_was() -> None:
    template: JsonObject = {"metadata": {"annotations": {}}, "spec": {"containers": [{"name": "c"}]}}
    made = pod_of(JOB, ("batch/v1", "Job"), template, "p", {})
    made["spec"]["containers"][0]["env"] = []
    made["metadata"]["annotations"] = {"x": "y"}
    assert template == {"metadata": {"annotations": {}}, "spec": {"containers": [{"name": "c"}]}}


@pytest.mark.parametrize(
    ("phase", "live"), [("Pending", True), ("Running", True), ("Succeeded", False), ("Failed", False)]
)
def test_a_pod_lives_until_it_ends(phase: str, live: bool) -> None:
    assert is_live(pod(phase=phase)) == live


def test_a_pod_that_is_being_deleted_does_not_live() -> None:
    gone = msgspec.convert({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, Pod)
    assert not is_live(gone)


def test_ready_is_a_condition() -> None:
    assert is_ready(pod(conditions=[{"type": "Ready", "status": "True"}]))
    assert not is_ready(pod(conditions=[{"type": "Ready", "status": "False"}]))
    assert not is_ready(pod())


def test_restarts_of_all_containers_add_up() -> None:
    found = pod(
        containerStatuses=[{"restartCount": 1}, {"restartCount": 2}], initContainerStatuses=[{"restartCount": 4}]
    )
    assert restarts(found) == 7
