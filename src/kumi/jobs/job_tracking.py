"""Counting a Job's finished pods, each exactly once, whatever is deleted or dies in between.

The rule   A pod carries the finalizer `batch.kubernetes.io/job-tracking` from its birth, so it can't vanish uncounted:
             1. it has finished: its uid is written into status.uncountedTerminatedPods (Indexed and succeeded: its index
                into status.completedIndexes, which is a set);
             2. once that is stored, the finalizer is taken off;
             3. once the finalizer is seen to be gone (or the pod is), the uid becomes one in status.succeeded or
                status.failed.
           A pod that is being deleted from outside has failed: at once, or with podReplacementPolicy Failed when it ends.
Why        Each step reads only what an earlier one has stored and looks at the pod itself, so a lost write or a crash
           between any two repeats a step and never counts twice. Step 3 waits for what is *seen*: views only move
           forward, so a pod that was counted is never again seen with its finalizer.
Ours       A pod that Kumi removes (suspended, too many) loses its finalizer first, on the condition that it is as it was
           read, and is deleted then: it never counts as a failure. If it finished in between, the condition fails
           and it is counted after all. Pods that a failing Job takes down keep theirs and are counted, as Kubernetes
           does: the verdict is in, no budget is used up.
           A pod whose failure is to be ignored (job_policies.py: a rule says so, or its node stopped, `kumi down`, an
           eviction) is replaced and counts as nothing, also while it is still being deleted: it uses up no retry.
Totals     succeeded, failed = counted + uncounted: what every other rule reads.
Cost       O(pods).
Source     Kubernetes: KEP-2307 (job tracking with finalizers), KEP-3939 (pod replacement policy).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.api.batch import Job, JobStatus
from kumi.api.core import Pod
from kumi.jobs import indexes
from kumi.jobs.base import Alteration
from kumi.jobs.job_plan import Plan, index_of
from kumi.jobs.job_policies import IGNORE, failed_indexes, failure

FINALIZER = "batch.kubernetes.io/job-tracking"


@dataclass(frozen=True)
class Count:
    """Where the count stands. `open`: pods that are not through all three steps yet."""

    succeeded: int
    failed: int
    completed: frozenset[int]
    counted_succeeded: int
    counted_failed: int
    uncounted: dict[str, list[str]]
    release: tuple[Pod, ...]
    open: bool
    given_up: frozenset[int] = frozenset()
    """indexes that have failed for good"""


def count(plan: Plan, status: JobStatus, pods: Sequence[Pod]) -> Count:
    """One look at the pods; see the module."""
    by_uid = {pod.metadata.uid: pod for pod in pods}
    stored = status.uncounted_terminated_pods or {}
    counters = {"succeeded": status.succeeded, "failed": status.failed}
    waiting: dict[str, list[str]] = {"succeeded": [], "failed": []}
    release: list[Pod] = []
    known: set[str] = set()
    for outcome, still in waiting.items():
        for uid in stored.get(outcome) or ():
            known.add(uid)
            pod = by_uid.get(uid)
            if pod is not None and is_tracked(pod):
                still.append(uid)
                release.append(pod)
            else:
                counters[outcome] += 1
    completed = set(indexes.parse(status.completed_indexes, plan.completions or 0)) if plan.indexed else set()
    was_completed = frozenset(completed)
    fresh = False
    for pod in pods:
        ended = outcome_of(plan, pod)
        if not ended or not is_tracked(pod) or pod.metadata.uid in known:
            continue
        index = index_of(pod) if plan.indexed else None
        if _is_ignored(plan, pod) or (plan.indexed and (index is None or index >= (plan.completions or 0))):
            release.append(pod)
        elif index is not None and ended == "succeeded":
            completed.add(index)
            if index in was_completed:
                release.append(pod)
            else:
                fresh = True
        else:
            waiting[ended].append(pod.metadata.uid)
    if plan.indexed:
        counters["succeeded"] = len(completed)
    total_succeeded = counters["succeeded"] + (0 if plan.indexed else len(waiting["succeeded"]))
    uncounted = {outcome: uids for outcome, uids in waiting.items() if uids}
    return Count(
        succeeded=total_succeeded,
        failed=counters["failed"] + len(waiting["failed"]),
        completed=frozenset(completed),
        counted_succeeded=counters["succeeded"],
        counted_failed=counters["failed"],
        uncounted=uncounted,
        release=tuple(release),
        open=bool(uncounted or release or fresh),
        given_up=failed_indexes(plan, status.failed_indexes, pods) - completed,
    )


def _is_ignored(plan: Plan, pod: Pod) -> bool:
    return pod.status.phase != "Succeeded" and failure(plan, pod).action == IGNORE


def outcome_of(plan: Plan, pod: Pod) -> str:
    """`succeeded`, `failed`, or "" for a pod that may yet become either."""
    if pod.status.phase == "Succeeded":
        return "succeeded"
    if pod.status.phase == "Failed":
        return "failed"
    if pod.metadata.deletion_timestamp is None:
        return ""
    never_started = not pod.spec.node_name
    return "failed" if not plan.replace_only_failed or never_started else ""


def is_tracked(pod: Pod) -> bool:
    """Whether it still carries the finalizer."""
    return FINALIZER in pod.metadata.finalizers


def released(pod: Pod) -> Alteration:
    """Takes the finalizer off."""
    left = [f for f in pod.metadata.finalizers if f != FINALIZER]
    return Alteration(pod, {"metadata": {"finalizers": left or None}})


def tracked(pod: Pod) -> Alteration:
    """Puts the finalizer (back) on a live pod that lost it: its removal was decided but never came to a deletion."""
    return Alteration(pod, {"metadata": {"finalizers": [*pod.metadata.finalizers, FINALIZER]}})


def leftovers(job: Job, pods: Sequence[Pod]) -> tuple[Alteration, ...]:
    """Finalizers of a Job that is finished or going away: nothing is counted any more."""
    gone = job.metadata.deletion_timestamp is not None
    return tuple(
        released(pod)
        for pod in pods
        if is_tracked(pod) and (gone or pod.metadata.deletion_timestamp or pod.status.phase in ("Succeeded", "Failed"))
    )
