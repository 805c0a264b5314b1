"""Defaults of Job and CronJob.

    neither parallelism nor completions     one of each
    completions only                        parallelism 1
    parallelism only                        completions stay open: a work queue, done when one pod is
    backoffLimit                            6; without bound where each index has its own limit
Source     Kubernetes: Job API reference.
Not here   the selector and labels that a new job gets from its uid (kumi.registry.kinds.jobs).
"""

from __future__ import annotations

from kumi.api.defaulting.pod import default_template
from kumi.api.wire import JsonObject

BACKOFF_LIMIT = 6
NO_LIMIT = 2**31 - 1


def default_job(job: JsonObject) -> None:
    """A whole Job."""
    spec = job.setdefault("spec", {})
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    spec.setdefault("backoffLimit", BACKOFF_LIMIT if spec.get("backoffLimitPerIndex") is None else NO_LIMIT)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed")
    default_template(spec.setdefault("template", {}))


def default_cron_job(cron_job: JsonObject) -> None:
    """Jobs side by side, three good ones and a bad one kept; each job is completed when it is made."""
    spec = cron_job.setdefault("spec", {})
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    default_template(spec.setdefault("jobTemplate", {}).setdefault("spec", {}).setdefault("template", {}))
