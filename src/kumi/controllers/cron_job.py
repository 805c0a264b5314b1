"""CronJob: a Job whenever its schedule says so.

The rule   due       the newest time of the schedule since the last one that was used (or since the CronJob was made) and
                     not later than now; one that is missed for longer than startingDeadlineSeconds is passed over
           policy    Forbid: while a job of it runs, a due time waits;  Replace: running jobs are deleted first
           name      `<cronjob>-<minutes since the epoch of the due time>`: a repetition finds the name taken
           history   finished jobs beyond the limits go, the oldest first
           suspended nothing is made; what runs goes on
Status     active: jobs that run; lastScheduleTime: the due time that was used; lastSuccessfulTime.
Why newest Times that were missed while nothing ran here are not caught up one by one: one job stands for them all.
Source     Kubernetes: CronJob.
Not here   schedules: kumi.api.cron.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from kumi.api import cron
from kumi.api.batch import CronJob, CronJobStatus, Job
from kumi.api.meta import find_condition, format_time, is_true, owner_reference, parse_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.controllers.own_status import written
from kumi.controllers.owners import owner_keys, reference
from kumi.runtime.reconcile import NOTHING, Create, Delete, Note, Outcome, Watches, Write, own_key
from kumi.runtime.view import View

KIND = ("batch/v1", "CronJob")
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
MINUTE_MS = 60_000
MOST_MISSED = 100_000
"""due times that are looked through for the newest one"""


class CronJobController:
    """See the module."""

    name = "cronjob-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({CronJob: own_key, Job: owner_keys("batch", "CronJob")})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        found = view.get(CronJob, namespace, name)
        if found is None or found.metadata.deletion_timestamp is not None:
            return NOTHING
        jobs = list(view.owned(Job, found.metadata.uid))
        running = [job for job in jobs if not _ended(job) and job.metadata.deletion_timestamp is None]
        status = _status(found, jobs, running)
        writes: list[Write] = [_delete(job) for job in _surplus(found, jobs)]
        notes: list[Note] = []
        wake_at_ms = None
        if not found.spec.suspend:
            try:
                due_ms, wake_at_ms = _due(found, now_ms)
            except cron.ScheduleError:
                due_ms = None
            if due_ms is not None:
                started, notes = _start(found, running, due_ms)
                writes += started
                if any(isinstance(write, Create) for write in started):
                    status.last_schedule_time = format_time(due_ms)
        writes += written(found, found.status, status)
        return Outcome(tuple(writes), tuple(notes), wake_at_ms)


def _due(found: CronJob, now_ms: int) -> tuple[int | None, int | None]:
    """The due time to use, and when to look again."""
    schedule, zone = cron.parse(found.spec.schedule), found.spec.time_zone or ""
    last_ms = parse_time(found.status.last_schedule_time) or parse_time(found.metadata.creation_timestamp) or now_ms
    deadline = found.spec.starting_deadline_seconds
    if deadline is not None:
        last_ms = max(last_ms, now_ms - 1000 * deadline)
    newest = None
    next_ms = schedule.next_ms(last_ms, zone)
    for _ in range(MOST_MISSED):
        if next_ms is None or next_ms > now_ms:
            break
        newest, next_ms = next_ms, schedule.next_ms(next_ms, zone)
    return newest, next_ms


def _start(found: CronJob, running: Sequence[Job], due_ms: int) -> tuple[list[Write], list[Note]]:
    about = reference(found)
    if running and found.spec.concurrency_policy == "Forbid":
        text = "Not starting job because prior execution is running and concurrency policy is Forbid"
        return [], [Note(about, "JobAlreadyActive", text)]
    writes: list[Write] = []
    notes = []
    if found.spec.concurrency_policy == "Replace":
        writes += [_delete(job) for job in running]
        notes += [Note(about, "SuccessfulDelete", f"Deleted job {job.metadata.name}") for job in running]
    job = job_for(found, due_ms)
    name = job["metadata"]["name"]
    return [*writes, Create(job)], [*notes, Note(about, "SuccessfulCreate", f"Created job {name}")]


def job_for(found: CronJob, due_ms: int) -> JsonObject:
    """The job of a due time."""
    template = deepcopy(found.spec.job_template)
    meta = template.get("metadata") or {}
    metadata: JsonObject = {
        "name": f"{found.metadata.name}-{due_ms // MINUTE_MS}",
        "namespace": found.metadata.namespace,
        "annotations": {**(meta.get("annotations") or {}), SCHEDULED: format_time(due_ms)},
        "ownerReferences": [owner_reference(found, *KIND)],
    }
    if meta.get("labels"):
        metadata["labels"] = dict(meta["labels"])
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template.get("spec") or {}}


def _status(found: CronJob, jobs: Sequence[Job], running: Sequence[Job]) -> CronJobStatus:
    succeeded = [j.status.completion_time for j in jobs if is_true(j.status.conditions, "Complete")]
    last = max((time for time in succeeded if time), default=found.status.last_successful_time)
    return CronJobStatus(
        active=[reference(job) for job in running],
        last_schedule_time=found.status.last_schedule_time,
        last_successful_time=max(last or "", found.status.last_successful_time or "") or None,
    )


def _surplus(found: CronJob, jobs: Sequence[Job]) -> list[Job]:
    """Finished jobs beyond the limits."""
    gone: list[Job] = []
    for condition, limit in (
        ("Complete", found.spec.successful_jobs_history_limit),
        ("Failed", found.spec.failed_jobs_history_limit),
    ):
        ended = [job for job in jobs if is_true(job.status.conditions, condition)]
        ended.sort(key=lambda job: (job.status.start_time or "", job.metadata.name))
        if limit is not None:
            gone += ended[: max(0, len(ended) - limit)]
    return [job for job in gone if job.metadata.deletion_timestamp is None]


def _ended(job: Job) -> bool:
    return any(
        (found := find_condition(job.status.conditions, type_)) is not None and found.status == "True"
        for type_ in ("Complete", "Failed")
    )


def _delete(job: Job) -> Delete:
    return Delete(SCHEME.of(Job), job.metadata.namespace, job.metadata.name, job.metadata.uid)
