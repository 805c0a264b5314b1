"""What the failure of a Job's pod means, and when a Job has succeeded before all of its indexes have.

Failure policy     the first rule that a failed pod meets says what is done:
                     FailJob     the Job fails                    FailIndex   the pod's index fails, at once
                     Ignore      the pod is replaced and counts as nothing    Count   it counts
                     exit codes  one of the containers that are meant ended with a code, not 0, that is In or NotIn the values
                     conditions  the pod has one of the conditions, at that status
                   No rule: a pod that was disrupted (kumi.jobs.templates.is_disrupted) is ignored, any other counts.
Limit per index    a pod carries how often its index has failed before it (annotation); the index fails when one pod more than
                   backoffLimitPerIndex has failed. Pods that are ignored do not move the number.
Success policy     the first rule that is met: its indexes have succeeded, all of them, or as many as succeededCount says
Source     Kubernetes: KEP-3329 (pod failure policy), KEP-3850 (limit per index), KEP-3998 (success policy).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from kumi.api.core import ContainerStatus, Pod
from kumi.api.wire import JsonObject
from kumi.jobs import indexes
from kumi.jobs.job_plan import Plan, index_of
from kumi.jobs.templates import is_disrupted

FAILURES_KEY = "batch.kubernetes.io/job-index-failure-count"
IGNORED_KEY = "batch.kubernetes.io/job-index-ignored-failure-count"
COUNT, IGNORE, FAIL_JOB, FAIL_INDEX = "Count", "Ignore", "FailJob", "FailIndex"


class Failure(NamedTuple):
    """What a pod's failure means, and why."""

    action: str
    message: str = ""


def failure(plan: Plan, pod: Pod) -> Failure:
    """See the module; for pods that have failed."""
    for number, rule in enumerate(plan.failure_rules):
        why = _met(rule, pod)
        if why:
            action = str(rule.get("action", ""))
            return Failure(action, f"{why} matching {action} rule at index {number}")
    return Failure(IGNORE) if is_disrupted(pod) else Failure(COUNT)


def failed_indexes(plan: Plan, stored: str | None, pods: Iterable[Pod]) -> frozenset[int]:
    """Indexes that are given up; what was given up once stays so."""
    if plan.limit_per_index is None:
        return frozenset()
    failed = set(indexes.parse(stored or "", plan.completions or 0))
    for pod in pods:
        index = index_of(pod)
        if pod.status.phase != "Failed" or index is None or index >= (plan.completions or 0):
            continue
        action = failure(plan, pod).action
        spent = action == COUNT and failures_before(pod) >= plan.limit_per_index
        if spent or action == FAIL_INDEX:
            failed.add(index)
    return frozenset(failed)


def failures_before(pod: Pod) -> int:
    """How often the pod's index had failed when it was made."""
    return _number(pod, FAILURES_KEY)


def failure_marks(plan: Plan, index: int, pods: Iterable[Pod]) -> dict[str, str]:
    """The annotations of the next pod of an index."""
    counted = ignored = 0
    for pod in pods:
        if pod.status.phase == "Failed" and index_of(pod) == index:
            more = failure(plan, pod).action == IGNORE
            counted = max(counted, failures_before(pod) + (not more))
            ignored = max(ignored, _number(pod, IGNORED_KEY) + more)
    return {FAILURES_KEY: str(counted), **({IGNORED_KEY: str(ignored)} if ignored else {})}


def success(plan: Plan, completed: Collection[int]) -> str:
    """What says that the Job has succeeded, "" for nothing."""
    for number, rule in enumerate(plan.success_rules):
        text, count = rule.get("succeededIndexes"), rule.get("succeededCount")
        meant = indexes.parse(str(text), plan.completions or 0) if text is not None else None
        done = len(completed) if meant is None else len(meant.intersection(completed))
        needed = count if count is not None else len(meant or ())
        if done >= needed and (meant or count is not None):
            return f"Matched rules at index {number}"
    return ""


def _number(pod: Pod, key: str) -> int:
    text = pod.metadata.annotations.get(key, "")
    return int(text) if text.isdecimal() else 0


def _met(rule: JsonObject, pod: Pod) -> str:
    codes = rule.get("onExitCodes")
    if codes is not None:
        return _met_by_code(codes, pod)
    return _met_by_condition(rule.get("onPodConditions") or (), pod)


def _met_by_code(codes: JsonObject, pod: Pod) -> str:
    values, wants = codes.get("values") or [], codes.get("operator") == "In"
    for status in _ended(pod):
        if codes.get("containerName") not in (None, status.name):
            continue
        ended = status.state.terminated
        if ended is not None and ended.exit_code != 0 and (ended.exit_code in values) == wants:
            where = f"{pod.metadata.namespace}/{pod.metadata.name}"
            return f"Container {status.name} for pod {where} failed with exit code {ended.exit_code}"
    return ""


def _ended(pod: Pod) -> Sequence[ContainerStatus]:
    return (*pod.status.container_statuses, *pod.status.init_container_statuses)


def _met_by_condition(patterns: Iterable[JsonObject], pod: Pod) -> str:
    for pattern in patterns:
        status = pattern.get("status") or "True"
        for condition in pod.status.conditions:
            if (condition.type, condition.status) == (pattern.get("type"), status):
                where = f"{pod.metadata.namespace}/{pod.metadata.name}"
                return f"Pod {where} has condition {condition.type}"
    return ""
