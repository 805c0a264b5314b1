"""batch/v1 Job: runs pods until enough of them have succeeded.

The rule, in this order:
    1. finished (Complete or Failed): stays so. Nothing is made; leftovers lose their finalizer; after
       ttlSecondsAfterFinished the Job is deleted.
    2. count     every finished pod once (job_tracking.py).
    3. verdict   failing: a pod whose failure fails the Job (podFailurePolicy); more failures than backoffLimit; or, where
                 containers restart in place (OnFailure), their restarts have reached it; or active longer than
                 activeDeadlineSeconds; more indexes given up than maxFailedIndexes, or all through and one given up.
                 succeeding: successPolicy is met; completions reached, or a work queue with one success and no live
                 pod left.
                 A verdict is first written as FailureTarget or SuccessCriteriaMet; Failed or Complete follows, with the
                 same reason, when no pod is left and all are counted.
    4. suspended all live pods are removed, uncounted; condition Suspended; startTime is cleared, so that the deadline
                 starts anew.
    5. running   the right number of pods (job_pods.py); Suspended turns False where it was True.
Why 3      Whoever waits for Complete or Failed may take the pods' nodes for free.
Status     active and ready are live pods, terminating those on their way out; conditions keep their order, one a type.
Queues     one pod set `main` of min(parallelism, completions) pods. With the annotation
           `kueue.x-k8s.io/job-min-parallelism` it may start with fewer; with `job-completions-equal-parallelism` it then
           needs fewer completions, too. What is left to complete is less than its parallelism: the rest of the pods is
           given back.
Source     Kubernetes: Jobs; KEP-3939 (terminal conditions wait for pods), KEP-2232 (suspend), KEP-592 (ttl).
Not here   what the policies say of a pod, an index, a Job: job_policies.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from kumi.api.batch import Job, JobStatus
from kumi.api.core import Pod
from kumi.api.meta import Condition, Object, find_condition, format_time, is_true, parse_time
from kumi.api.wire import JsonObject
from kumi.jobs import indexes
from kumi.jobs.base import Alteration, Children, PodSetInfo, PodSetShape, Removal, Said, Settings, Standing, Sync
from kumi.jobs.job_plan import INDEX_KEY, Plan, is_ours, plan_of
from kumi.jobs.job_pods import NAME_LABEL, Moves, moves
from kumi.jobs.job_policies import FAIL_JOB, failure, success
from kumi.jobs.job_tracking import FINALIZER, Count, count, is_tracked, leftovers, released, tracked
from kumi.jobs.podset import paired, restored, start_template, stop_template
from kumi.jobs.status import status_patch
from kumi.jobs.templates import FINISHED, is_live, is_ready, restarts

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
SAME_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"


@dataclass(frozen=True)
class Verdict:
    """Why a Job is over, before its pods are."""

    succeeded: bool
    reason: str
    message: str

    @property
    def target(self) -> str:
        """The condition that announces it."""
        return "SuccessCriteriaMet" if self.succeeded else "FailureTarget"

    @property
    def terminal(self) -> str:
        """The condition that ends it."""
        return "Complete" if self.succeeded else "Failed"


class JobReplicas:
    """Makes a Job's pods."""

    view_type = Job
    name_label = NAME_LABEL
    finalizer = FINALIZER

    def child_types(self, settings: Settings) -> tuple[type[Object], ...]:
        """Pods only."""
        return (Pod,)

    def sync(self, job: Job, children: Children, settings: Settings, now_ms: int) -> Sync:
        """See the module."""
        if not is_ours(job):
            return Sync()
        pods = children.pods
        if job.metadata.deletion_timestamp is not None:
            return Sync(alter=leftovers(job, pods))
        if _finished(job.status) is not None:
            return _after(job, pods, now_ms)
        plan = plan_of(job)
        counted = count(plan, job.status, pods)
        verdict = _announced(job.status) or _verdict(job, plan, counted, pods, now_ms)
        if verdict is not None:
            return _wind_up(job, plan, counted, verdict, pods, now_ms)
        if plan.suspended:
            return _suspend(job, plan, counted, pods, now_ms)
        return _run(job, plan, counted, pods, now_ms)


def _finished(status: JobStatus) -> Condition | None:
    return next((c for c in status.conditions if c.type in ("Complete", "Failed") and c.status == "True"), None)


def _announced(status: JobStatus) -> Verdict | None:
    for kind, good in (("SuccessCriteriaMet", True), ("FailureTarget", False)):
        found = find_condition(status.conditions, kind)
        if found is not None and found.status == "True":
            return Verdict(good, found.reason, found.message)
    return None


def _verdict(job: Job, plan: Plan, counted: Count, pods: Sequence[Pod], now_ms: int) -> Verdict | None:
    """The first reason for which it is over."""
    return (
        _failed_by_pod(plan, pods)
        or _failed_by_count(job, plan, counted, pods, now_ms)
        or _failed_by_index(plan, counted)
        or _succeeded(plan, counted, pods)
    )


def _failed_by_pod(plan: Plan, pods: Sequence[Pod]) -> Verdict | None:
    for pod in pods:
        if pod.status.phase == "Failed":
            found = failure(plan, pod)
            if found.action == FAIL_JOB:
                return Verdict(False, "PodFailurePolicy", found.message)
    return None


def _failed_by_index(plan: Plan, counted: Count) -> Verdict | None:
    most, given_up = plan.most_failed_indexes, len(counted.given_up)
    if most is not None and given_up > most:
        text = "Job has exceeded the specified maximal number of failed indexes"
        return Verdict(False, "MaxFailedIndexesExceeded", text)
    if given_up and given_up + counted.succeeded >= (plan.completions or 0):
        return Verdict(False, "FailedIndexes", "Job has failed indexes")
    return None


def _failed_by_count(job: Job, plan: Plan, counted: Count, pods: Sequence[Pod], now_ms: int) -> Verdict | None:
    in_place = [restarts(p) for p in pods if p.status.phase in ("Running", "Pending")]
    restarted = sum(in_place) if plan.restart_policy == "OnFailure" else 0
    if counted.failed > plan.backoff_limit or restarted >= max(plan.backoff_limit, 1):
        failed = _counted_as(counted.failed, "pod") + " failed"
        tries = failed if counted.failed > plan.backoff_limit else _counted_as(restarted, "restart")
        return Verdict(False, "BackoffLimitExceeded", f"{tries}: the backoff limit is {plan.backoff_limit}")
    deadline = _deadline_ms(job)
    if deadline is not None and now_ms >= deadline and not plan.suspended:
        limit = job.spec.active_deadline_seconds
        return Verdict(False, "DeadlineExceeded", f"The job was active for longer than its deadline of {limit} s")
    return None


def _succeeded(plan: Plan, counted: Count, pods: Sequence[Pod]) -> Verdict | None:
    met = success(plan, counted.completed)
    if met:
        return Verdict(True, "SuccessPolicy", met)
    if plan.completions is None:
        done = counted.succeeded > 0 and not any(is_live(p) for p in pods)
    else:
        done = counted.succeeded >= plan.completions
    if done:
        return Verdict(
            True, "CompletionsReached", f"{_counted_as(counted.succeeded, 'pod')} succeeded, as many as the job needs"
        )
    return None


def _counted_as(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _deadline_ms(job: Job) -> int | None:
    start = parse_time(job.status.start_time)
    if start is None or job.spec.active_deadline_seconds is None:
        return None
    return start + job.spec.active_deadline_seconds * 1000


def _after(job: Job, pods: Sequence[Pod], now_ms: int) -> Sync:
    """A finished Job: only its leftovers and its time to live."""
    loose = [p for p in pods if is_live(p)]
    alter = (*leftovers(job, pods), *(released(p) for p in loose if is_tracked(p)))
    remove = tuple(Removal(p) for p in loose)
    ended = _finished(job.status)
    since = parse_time(ended.last_transition_time) if ended else None
    ttl = job.spec.ttl_seconds_after_finished
    if ttl is None or since is None:
        return Sync(alter=alter, remove=remove)
    expires = since + ttl * 1000
    if now_ms >= expires:
        return Sync(alter=alter, remove=remove, delete_job=True)
    return Sync(alter=alter, remove=remove, wake_at_ms=expires)


def _wind_up(job: Job, plan: Plan, counted: Count, verdict: Verdict, pods: Sequence[Pod], now_ms: int) -> Sync:
    """The verdict is in: its announcement is stored first, then the pods go, then the end is written."""
    status = _counted(job.status, plan, counted, pods, Moves())
    announced = is_true(job.status.conditions, verdict.target)
    said: list[Said] = []
    status.conditions = _with(status.conditions, verdict.target, "True", verdict.reason, verdict.message, now_ms)
    live = [p for p in pods if is_live(p)]
    left = live or any(p.status.phase not in FINISHED for p in pods) or counted.open
    if not left:
        status.conditions = _with(status.conditions, verdict.terminal, "True", verdict.reason, verdict.message, now_ms)
        if verdict.succeeded:
            status.completion_time = format_time(now_ms)
        status.active, status.ready, status.terminating = 0, 0, 0
        kind = "Normal" if verdict.succeeded else "Warning"
        said.append(Said("Completed" if verdict.succeeded else verdict.reason, verdict.message, kind))
    going = live if announced else []
    alter = [released(p) for p in counted.release]
    if verdict.succeeded:
        alter += [released(p) for p in going if is_tracked(p)]
    return Sync(
        alter=tuple(alter),
        remove=tuple(Removal(p) for p in going),
        status=status_patch(job.status, status),
        said=tuple(said),
    )


def _suspend(job: Job, plan: Plan, counted: Count, pods: Sequence[Pod], now_ms: int) -> Sync:
    live = [p for p in pods if is_live(p)]
    status = _counted(job.status, plan, counted, pods, Moves())
    status.start_time = None
    said = [] if is_true(job.status.conditions, "Suspended") else [Said("Suspended", "The job is suspended")]
    status.conditions = _with(status.conditions, "Suspended", "True", "JobSuspended", "The job is suspended", now_ms)
    return Sync(
        alter=(*(released(p) for p in counted.release), *(released(p) for p in live if is_tracked(p))),
        remove=tuple(Removal(p) for p in live),
        status=status_patch(job.status, status),
        said=(*said, *(Said("SuccessfulDelete", f"Deleted pod: {p.metadata.name}") for p in live)),
    )


def _run(job: Job, plan: Plan, counted: Count, pods: Sequence[Pod], now_ms: int) -> Sync:
    todo = moves(job, plan, counted, pods, now_ms)
    status = _counted(job.status, plan, counted, pods, todo)
    said: list[Said] = []
    if is_true(job.status.conditions, "Suspended"):
        status.conditions = _with(status.conditions, "Suspended", "False", "JobResumed", "The job is resumed", now_ms)
        status.start_time = format_time(now_ms)
        said.append(Said("Resumed", "The job is resumed"))
    if status.start_time is None:
        status.start_time = format_time(now_ms)
    strays = [p for p in pods if is_live(p) and not is_tracked(p) and p not in todo.remove]
    alter: list[Alteration] = [released(p) for p in (*counted.release, *(p for p in todo.remove if is_tracked(p)))]
    said += [Said("SuccessfulDelete", f"Deleted pod: {p.metadata.name}") for p in todo.remove]
    said += [Said("SuccessfulCreate", f"Created pod: {p['metadata']['name']}") for p in todo.create]
    deadline = _deadline_ms(job)
    if deadline is None and job.spec.active_deadline_seconds is not None:
        deadline = now_ms + job.spec.active_deadline_seconds * 1000
    wakes = [t for t in (deadline, todo.wait_until_ms) if t is not None]
    return Sync(
        alter=(*alter, *(tracked(p) for p in strays)),
        remove=tuple(Removal(p) for p in todo.remove),
        create=todo.create,
        status=status_patch(job.status, status),
        said=tuple(said),
        wake_at_ms=min(wakes, default=None),
    )


def _counted(old: JobStatus, plan: Plan, counted: Count, pods: Sequence[Pod], todo: Moves) -> JobStatus:
    """The status with its numbers, as they are once `todo` is done."""
    live = [p for p in pods if is_live(p) and p not in todo.remove]
    leaving = [p for p in pods if p.metadata.deletion_timestamp and p.status.phase not in FINISHED]
    return msgspec.structs.replace(
        old,
        active=len(live) + len(todo.create),
        ready=sum(is_ready(p) for p in live),
        terminating=len(leaving),
        succeeded=counted.counted_succeeded,
        failed=counted.counted_failed,
        completed_indexes=indexes.text_of(counted.completed) if plan.indexed else "",
        failed_indexes=indexes.text_of(counted.given_up) if plan.limit_per_index is not None else None,
        uncounted_terminated_pods=dict(counted.uncounted),
        conditions=list(old.conditions),
    )


def _with(
    conditions: list[Condition], kind: str, value: str, reason: str, message: str, now_ms: int
) -> list[Condition]:
    """The list with that condition: changed in its place, or at the end; untouched where it says so already."""
    found = find_condition(conditions, kind)
    if found is not None and (found.status, found.reason) == (value, reason):
        return conditions
    now = format_time(now_ms)
    since = found.last_transition_time if found is not None and found.status == value else now
    new = Condition(
        type=kind, status=value, reason=reason, message=message, last_probe_time=now, last_transition_time=since
    )
    if found is None:
        return [*conditions, new]
    return [new if c is found else c for c in conditions]


class QueuedBatchJob:
    """How the queues see a Job."""

    view_type = Job

    def pod_sets(self, job: Job) -> list[PodSetShape]:
        """One, `main`."""
        plan = plan_of(job)
        size = plan.parallelism if plan.completions is None else min(plan.parallelism, plan.completions)
        least = job.metadata.annotations.get(MIN_PARALLELISM, "")
        minimum = int(least) if least.isdecimal() else None
        return [PodSetShape("main", size, job.spec.template, minimum, INDEX_KEY)]

    def standing(self, job: Job) -> Standing:
        """Active until no pod is left, also while the suspension has not been seen yet."""
        status, plan = job.status, plan_of(job)
        unseen = plan.suspended and status.start_time is not None and not is_true(status.conditions, "Suspended")
        ended = _finished(status)
        size = plan.parallelism if plan.completions is None else min(plan.parallelism, plan.completions)
        through = status.succeeded + len((status.uncounted_terminated_pods or {}).get("succeeded") or ())
        return Standing(
            suspended=plan.suspended,
            active=bool(status.active or status.terminating) or (unseen and ended is None),
            pods_ready=(status.ready or 0) + through >= size,
            finished=ended is not None,
            succeeded=ended is not None and ended.type == "Complete",
            message=ended.message if ended is not None else "",
            managed_elsewhere=not is_ours(job),
            reclaimable=_reclaimable(plan, status),
        )

    def priority_class(self, job: Job) -> str:
        """No rule of its own."""
        return ""

    def suspend_patch(self) -> JsonObject:
        """spec.suspend."""
        return {"spec": {"suspend": True}}

    def start_patch(self, job: Job, infos: Sequence[PodSetInfo]) -> JsonObject:
        """Resumes with what admission decided; fewer pods where it may start with fewer."""
        spec: JsonObject = {"suspend": False}
        for shape, info in paired(self.pod_sets(job), infos):
            template = start_template(shape.template, info)
            if template:
                spec["template"] = template
            if shape.min_count is not None and info.count != shape.count:
                spec.update(_sized(job, info.count))
        return {"spec": spec}

    def stop_patch(self, job: Job, stored: Sequence[PodSetShape]) -> JsonObject:
        """First the suspension; the template can follow when the start time is cleared."""
        if not job.spec.suspend:
            return {"spec": {"suspend": True}}
        if job.status.start_time is not None:
            return {}
        spec: JsonObject = {}
        for shape, before in restored(self.pod_sets(job), stored):
            template = stop_template(shape.template, before.template)
            if template:
                spec["template"] = template
            if shape.min_count is not None and before.count != shape.count:
                spec.update(_sized(job, before.count))
        return {"spec": spec} if spec else {}


def _sized(job: Job, count: int) -> JsonObject:
    """The job with so many pods."""
    if job.metadata.annotations.get(SAME_COMPLETIONS) == "true":
        return {"parallelism": count, "completions": count}
    return {"parallelism": count}


def _reclaimable(plan: Plan, status: JobStatus) -> dict[str, int]:
    """Pods that nothing is left to do for."""
    if plan.completions is None or not status.succeeded:
        return {}
    spare = min(plan.parallelism, plan.completions) - (plan.completions - status.succeeded)
    return {"main": spare} if spare > 0 else {}
