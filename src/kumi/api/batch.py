"""The batch group (v1), partial: Job, CronJob."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns.batch import CRON_JOB, JOB
from kumi.api.defaulting.batch import default_cron_job, default_job
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.batch import validate_cron_job, validate_job
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
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    pod_failure_policy: JsonObject | None = None
    success_policy: JsonObject | None = None


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
    failed_indexes: str | None = None
    conditions: list[Condition] = []
    uncounted_terminated_pods: dict[str, Any] | None = None


class Job(Object):
    """batch/v1 Job."""

    spec: JobSpec = field(default_factory=JobSpec)
    status: JobStatus = field(default_factory=JobStatus)


class CronJobSpec(View):
    """A CronJob's spec; `job_template` is the template of its jobs as written."""

    schedule: str = ""
    time_zone: str | None = None
    suspend: bool = False
    concurrency_policy: str = "Allow"
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JsonObject = {}


class CronJobStatus(View):
    """A CronJob's status; `active` refers to its running jobs."""

    active: list[dict[str, Any]] = []
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(Object):
    """batch/v1 CronJob."""

    spec: CronJobSpec = field(default_factory=CronJobSpec)
    status: CronJobStatus = field(default_factory=CronJobStatus)


SCHEME.register(
    Kind(
        "batch",
        "v1",
        "CronJob",
        "cronjobs",
        CronJob,
        short_names=("cj",),
        categories=("all",),
        subresources=("status",),
        columns=CRON_JOB,
        default=default_cron_job,
        validate=validate_cron_job,
        schema="io.k8s.api.batch.v1.CronJob",
    )
)
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
