"""A Job's spec with its defaults in place, and what a pod says about its own index.

Defaults   parallelism 1; completions 1 when neither is given, otherwise none (a work queue: the first pod that
           succeeds ends it); backoffLimit 6; podReplacementPolicy TerminatingOrFailed; NonIndexed.
           The API server fills them in at creation; they are repeated here for Jobs that came another way.
Source     Kubernetes: batch/v1 API reference.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.wire import JsonObject

INDEX_KEY = "batch.kubernetes.io/job-completion-index"
MANAGER = "kubernetes.io/job-controller"


@dataclass(frozen=True)
class Plan:
    """What the rules read of the spec. `completions` None: a work queue."""

    parallelism: int
    completions: int | None
    indexed: bool
    backoff_limit: int
    restart_policy: str
    replace_only_failed: bool
    suspended: bool
    limit_per_index: int | None = None
    """failures that an index may have; None: the Job's own limit counts all"""
    most_failed_indexes: int | None = None
    failure_rules: tuple[JsonObject, ...] = ()
    success_rules: tuple[JsonObject, ...] = ()


def plan_of(job: Job) -> Plan:
    """The spec with its defaults."""
    spec = job.spec
    completions = 1 if spec.completions is None and spec.parallelism is None else spec.completions
    return Plan(
        parallelism=1 if spec.parallelism is None else spec.parallelism,
        completions=completions,
        indexed=spec.completion_mode == "Indexed",
        backoff_limit=6 if spec.backoff_limit is None else spec.backoff_limit,
        restart_policy=str((spec.template.get("spec") or {}).get("restartPolicy") or "Never"),
        replace_only_failed=spec.pod_replacement_policy == "Failed",
        suspended=spec.suspend,
        limit_per_index=spec.backoff_limit_per_index,
        most_failed_indexes=spec.max_failed_indexes,
        failure_rules=tuple((spec.pod_failure_policy or {}).get("rules") or ()),
        success_rules=tuple((spec.success_policy or {}).get("rules") or ()),
    )


def index_of(pod: Pod) -> int | None:
    """The completion index that a pod carries; None if it has none that can be read."""
    text = pod.metadata.annotations.get(INDEX_KEY) or pod.metadata.labels.get(INDEX_KEY, "")
    return int(text) if text.isdecimal() else None


def is_ours(job: Job) -> bool:
    """Whether this controller runs the Job: managedBy is unset or Kubernetes' own name for it."""
    return job.spec.managed_by in (None, "", MANAGER)
