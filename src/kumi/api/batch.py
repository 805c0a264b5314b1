"""The batch group (v1), partial: Job."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns.batch import JOB
from kumi.api.defaulting.batch import default_job
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.batch import validate_job
from kumi.api.wire import JsonObject


class JobSpec(View):
    """A Job's spec; `template` is the pod template as written."""

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False
    manual_selector: bool | None = None
    selector: LabelSelector | None = None
    template: JsonObject = {}
    managed_by: str | None = None
    pod_replacement_policy: str | None = None


class JobStatus(View):
    """A Job's status."""

    active: int = 0
    succeeded: int = 0
    failed: int = 0
    ready: int | None = None
    terminating: int | None = None
    start_time: str | None = None
    completion_time: str | None = None
    completed_indexes: str = ""
    conditions: list[Condition] = []
    uncounted_terminated_pods: dict[str, Any] | None = None


class Job(Object):
    """batch/v1 Job."""

    spec: JobSpec = field(default_factory=JobSpec)
    status: JobStatus = field(default_factory=JobStatus)


SCHEME.register(
    Kind(
        "batch",
        "v1",
        "Job",
        "jobs",
        Job,
        categories=("all",),
        subresources=("status",),
        columns=JOB,
        default=default_job,
        validate=validate_job,
        schema="io.k8s.api.batch.v1.Job",
    )
)
