"""A Job's spec with its defaults."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.jobs.job_plan import index_of, is_ours, plan_of
from tests.jobs.world import batch_job


def job(**spec: Any) -> Job:
    return msgspec.convert(batch_job(**spec), Job)


@pytest.mark.parametrize(
    ("spec", "parallelism", "completions"),
    [
        ({}, 1, 1),
        ({"parallelism": 3}, 3, None),
        ({"completions": 4}, 1, 4),
        ({"parallelism": 0, "completions": 4}, 0, 4),
    ],
)
def test_completions_default_only_where_parallelism_is_not_given(
    spec: dict[str, int], parallelism: int, completions: int | None
) -> None:
    plan = plan_of(job(**spec))
    assert (plan.parallelism, plan.completions) == (parallelism, completions)


def test_other_defaults() -> None:
    plan = plan_of(job())
    assert (plan.backoff_limit, plan.indexed, plan.replace_only_failed, plan.suspended) == (6, False, False, False)
    assert plan_of(job(backoffLimit=0)).backoff_limit == 0


def test_what_is_written_counts() -> None:
    plan = plan_of(job(completionMode="Indexed", podReplacementPolicy="Failed", suspend=True, restart="OnFailure"))
    assert (plan.indexed, plan.replace_only_failed, plan.suspended, plan.restart_policy) == (
        True,
        True,
        True,
        "OnFailure",
    )


def pod(**meta: Any) -> Pod:
    return msgspec.convert({"metadata": {"name": "p", **meta}}, Pod)


def test_a_pods_index_is_its_annotation_or_its_label() -> None:
    key = "batch.kubernetes.io/job-completion-index"
    assert index_of(pod(annotations={key: "3"})) == 3
    assert index_of(pod(labels={key: "4"})) == 4
    assert index_of(pod(annotations={key: "x"})) is None
    assert index_of(pod()) is None


@pytest.mark.parametrize(
    ("manager", "ours"), [(None, True), ("kubernetes.io/job-controller", True), ("kueue.x-k8s.io/multikueue", False)]
)
def test_jobs_of_other_managers_are_not_ours(manager: str | None, ours: bool) -> None:
    assert is_ours(job(managedBy=manager)) == ours
