from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from kumi.api.defaulting.batch import default_job
from kumi.api.validation.batch import validate_cron_job, validate_job
from kumi.api.wire import JsonObject

LABELS = {"batch.kubernetes.io/controller-uid": "u"}


RULE = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


def job(name: str = "j", restart: str = "Never", **spec: Any) -> JsonObject:
    template = {
        "metadata": {"labels": dict(LABELS)},
        "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": restart},
    }
    found: JsonObject = {
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": dict(LABELS)}, "template": template, **spec},
    }
    default_job(found)
    return found


def wrong(new: JsonObject, old: JsonObject | None = None) -> list[str]:
    return [error.path for error in validate_job(new, old)]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({}, []),
        ({"parallelism": -1}, ["spec.parallelism"]),
        ({"completions": -1}, ["spec.completions"]),
        ({"backoffLimit": -1, "activeDeadlineSeconds": -1}, ["spec.backoffLimit", "spec.activeDeadlineSeconds"]),
        ({"ttlSecondsAfterFinished": -1}, ["spec.ttlSecondsAfterFinished"]),
        ({"restart": "Always"}, ["spec.template.spec.restartPolicy"]),
        ({"restart": "OnFailure"}, []),
        ({"restart": "OnFailure", "podFailurePolicy": {"rules": [RULE]}}, ["spec.template.spec.restartPolicy"]),
        ({"completionMode": "Indexed", "completions": 3}, []),
        ({"completionMode": "Indexed", "parallelism": 2}, ["spec.completions"]),
        ({"completionMode": "Sorted"}, ["spec.completionMode"]),
        ({"completionMode": "Indexed", "completions": 1, "parallelism": 100_001}, ["spec.parallelism"]),
        ({"podReplacementPolicy": "x"}, ["spec.podReplacementPolicy"]),
        ({"backoffLimitPerIndex": 1}, ["spec.backoffLimitPerIndex"]),
        ({"completionMode": "Indexed", "completions": 1, "maxFailedIndexes": 1}, ["spec.backoffLimitPerIndex"]),
        ({"selector": {"matchLabels": {"a": "b"}}}, ["spec.template.metadata.labels"]),
        ({"selector": None}, ["spec.selector"]),
    ],
)
def test_what_a_job_may_say(spec: dict[str, Any], paths: list[str]) -> None:
    assert wrong(job(**spec)) == paths


def test_a_job_s_name_is_a_label_of_its_pods() -> None:
    assert wrong(job("a" * 63)) == []
    assert wrong(job("a" * 64)) == ["metadata.name"]


def edited(old: JsonObject, **template_spec: Any) -> JsonObject:
    new = deepcopy(old)
    new["spec"]["template"]["spec"].update(template_spec)
    return new


def test_what_controls_a_running_job_may_change() -> None:
    old = job()
    new = deepcopy(old)
    new["spec"] |= {
        "parallelism": 5,
        "suspend": True,
        "backoffLimit": 1,
        "activeDeadlineSeconds": 9,
        "ttlSecondsAfterFinished": 1,
    }
    assert wrong(new, old) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("completions", 7), ("completionMode", "Indexed"), ("selector", {"matchExpressions": []}), ("managedBy", "x.y/z")],
)
def test_what_a_job_is_stays(field: str, value: object) -> None:
    old = job()
    new = deepcopy(old)
    new["spec"][field] = value
    assert f"spec.{field}" in wrong(new, old)


def test_an_indexed_job_grows_by_completions_and_parallelism_together() -> None:
    old = job(completionMode="Indexed", completions=2, parallelism=2)
    new = deepcopy(old)
    new["spec"] |= {"completions": 4, "parallelism": 4}
    assert wrong(new, old) == []
    new["spec"]["parallelism"] = 3
    assert wrong(new, old) == ["spec.completions"]


def test_the_template_of_a_running_job_stays() -> None:
    old = job()
    assert wrong(edited(old, nodeSelector={"a": "b"}), old) == ["spec.template.spec"]


def test_a_suspended_job_may_be_bound_elsewhere_but_runs_what_it_ran() -> None:
    old = job(suspend=True)
    new = edited(
        old, nodeSelector={"a": "b"}, tolerations=[{"operator": "Exists"}], schedulingGates=[{"name": "x.y/z"}]
    )
    new["spec"]["template"]["metadata"]["annotations"] = {"a": "b"}
    new["spec"]["template"]["metadata"]["labels"]["extra"] = "x"
    new["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    assert wrong(new, old) == []
    new["spec"]["suspend"] = False
    assert wrong(new, old) == []
    new["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    assert wrong(new, old) == ["spec.template.spec"]


def test_the_write_that_suspends_may_take_back_what_admission_added() -> None:
    running = edited(job(), nodeSelector={"a": "b"})
    stopped = deepcopy(running)
    stopped["spec"]["suspend"] = True
    del stopped["spec"]["template"]["spec"]["nodeSelector"]
    assert wrong(stopped, running) == []


def test_a_template_that_had_no_metadata_may_get_some_while_suspended() -> None:
    old = job(suspend=True)
    del old["spec"]["template"]["metadata"]
    old["spec"]["selector"] = {}
    new = deepcopy(old)
    new["spec"]["template"]["metadata"] = {"annotations": {"a": "b"}}
    assert wrong(new, old) == []


def cron_job(name: str = "tick", **spec: Any) -> JsonObject:
    template = {"spec": {"restartPolicy": "Never", "dnsPolicy": "ClusterFirst", "containers": [CONTAINER]}}
    given = {"schedule": "* * * * *", "concurrencyPolicy": "Allow", "jobTemplate": {"spec": {"template": template}}}
    return {"metadata": {"name": name}, "spec": {**given, **spec}}


CONTAINER = {
    "name": "c",
    "image": "i",
    "imagePullPolicy": "Always",
    "terminationMessagePath": "/x",
    "terminationMessagePolicy": "File",
}


@pytest.mark.parametrize(
    ("made", "paths"),
    [
        (cron_job(), []),
        (cron_job(schedule=""), ["spec.schedule"]),
        (cron_job(schedule="* * *"), ["spec.schedule"]),
        (cron_job(schedule="CRON_TZ=UTC * * * * *"), ["spec.schedule"]),
        (cron_job(timeZone="Europe/Paris"), []),
        (cron_job(timeZone="Nowhere"), ["spec.timeZone"]),
        (cron_job(timeZone="Local"), ["spec.timeZone"]),
        (cron_job(timeZone=""), ["spec.timeZone"]),
        (
            cron_job(concurrencyPolicy="Maybe", startingDeadlineSeconds=-1),
            ["spec.concurrencyPolicy", "spec.startingDeadlineSeconds"],
        ),
        (cron_job("x" * 53), ["metadata.name"]),
        (
            cron_job(jobTemplate={"spec": {"selector": {}, "manualSelector": True, "parallelism": -1}}),
            [
                "spec.jobTemplate.spec.parallelism",
                "spec.jobTemplate.spec.selector",
                "spec.jobTemplate.spec.manualSelector",
                "spec.jobTemplate.spec.template.spec.containers",
                "spec.jobTemplate.spec.template.spec.restartPolicy",
                "spec.jobTemplate.spec.template.spec.dnsPolicy",
                "spec.jobTemplate.spec.template.spec.restartPolicy",
            ],
        ),
    ],
)
def test_what_a_cron_job_may_say(made: JsonObject, paths: list[str]) -> None:
    assert [error.path for error in validate_cron_job(made, None)] == paths
