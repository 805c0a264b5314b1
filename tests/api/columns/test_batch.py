from __future__ import annotations

import pytest

from kumi.api.columns.batch import HORIZONTAL_POD_AUTOSCALER, JOB
from kumi.api.scheme import Column
from kumi.api.wire import JsonObject


def cells(columns: tuple[Column, ...], obj: JsonObject, now_ms: int = 0) -> dict[str, object]:
    return {column.name: column.cell({"metadata": {}, **obj}, now_ms) for column in columns if column.cell is not None}


@pytest.mark.parametrize(
    ("types", "word"),
    [
        ([], "Running"),
        (["Suspended"], "Suspended"),
        (["SuccessCriteriaMet", "Complete"], "Complete"),
        (["FailureTarget"], "FailureTarget"),
    ],
)
def test_a_job_s_status_is_its_farthest_condition(types: list[str], word: str) -> None:
    conditions = [{"type": type_, "status": "True"} for type_ in types] + [{"type": "Failed", "status": "False"}]
    assert cells(JOB, {"status": {"conditions": conditions}})["Status"] == word


def test_a_job_that_is_being_deleted_is_terminating() -> None:
    assert cells(JOB, {"metadata": {"deletionTimestamp": "t"}})["Status"] == "Terminating"


@pytest.mark.parametrize(
    ("spec", "text"),
    [({"completions": 3}, "1/3"), ({"parallelism": 4}, "1/1 of 4"), ({"parallelism": 1}, "1/1"), ({}, "1/1")],
)
def test_completions_are_counted_against_what_is_wanted(spec: JsonObject, text: str) -> None:
    assert cells(JOB, {"spec": spec, "status": {"succeeded": 1}})["Completions"] == text


def test_a_duration_ends_when_the_job_does() -> None:
    start = {"startTime": "1970-01-01T00:00:00Z"}
    failed = {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": "1970-01-01T00:00:05Z"}]}
    assert cells(JOB, {"status": start}, 9000)["Duration"] == "9s"
    assert cells(JOB, {"status": {**start, "completionTime": "1970-01-01T00:00:07Z"}}, 9000)["Duration"] == "7s"
    assert cells(JOB, {"status": {**start, **failed}}, 9000)["Duration"] == "5s"
    assert cells(JOB, {})["Duration"] == ""


def test_a_job_s_containers_images_and_selector() -> None:
    containers = [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]
    spec = {"template": {"spec": {"containers": containers}}, "selector": {"matchLabels": {"k": "v"}}}
    found = cells(JOB, {"spec": spec})
    assert (found["Containers"], found["Images"], found["Selector"]) == ("a,b", "x,y", "k=v")


def test_an_autoscaler_s_targets_show_what_is_and_what_is_wanted() -> None:
    metrics = [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}},
        {"type": "Pods", "pods": {"target": {"averageValue": "10"}}},
        {"type": "External", "external": {"target": {"value": "5"}}},
    ]
    current = [{"type": "Resource", "resource": {"current": {"averageUtilization": 40}}}]
    spec = {"metrics": metrics, "scaleTargetRef": {"kind": "PyTorchJob", "name": "x"}}
    found = cells(HORIZONTAL_POD_AUTOSCALER, {"spec": spec, "status": {"currentMetrics": current}})
    assert found["Targets"] == "cpu: 40%/80%, <unknown>/10 (avg), <unknown>/5"
    assert (found["Reference"], found["MinPods"], found["Replicas"]) == ("PyTorchJob/x", "<unset>", 0)
    assert cells(HORIZONTAL_POD_AUTOSCALER, {"spec": {"minReplicas": 2}})["MinPods"] == "2"
