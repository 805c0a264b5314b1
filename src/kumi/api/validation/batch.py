"""Validation of Job and CronJob.

The rules:
    no negative count, limit or time; Indexed says its completions; the selector selects the template's labels
    pods restart OnFailure or Never (never Always); a failure policy needs Never, a success policy needs Indexed
    what is fixed: completions (an Indexed job may change them with parallelism), completionMode, selector, template,
    managedBy and the policies
    a CronJob's schedule and zone can be read, its name leaves room for those of its jobs, and its template is a job's
    while suspended: the template's labels, annotations, node selector, affinity, tolerations, gates and resources may
    change; a write that suspends may restore them (that is how a queue takes back what admission added)
Not here   what the policies say: job_policies.py.
Source     Kubernetes: CronJob, Job (mutable scheduling directives, elastic indexed jobs, pod failure policy).
"""

from __future__ import annotations

from copy import deepcopy

from kumi.api import cron
from kumi.api.errors import FieldError
from kumi.api.validation.job_policies import failure_policy, success_policy
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import label_value, subdomain
from kumi.api.validation.pod import pod_template
from kumi.api.validation.selector import label_selector, selects
from kumi.api.validation.words import forbidden, immutable, not_negative, not_supported, required
from kumi.api.wire import JsonObject

MOST_INDEXED = 100_000
_MODES = ("NonIndexed", "Indexed")
_REPLACEMENT = ("Failed", "TerminatingOrFailed")
_RESTART = ("OnFailure", "Never")
_COUNTS = (
    "parallelism",
    "completions",
    "backoffLimit",
    "activeDeadlineSeconds",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_FIXED = (
    "completionMode",
    "selector",
    "manualSelector",
    "backoffLimitPerIndex",
    "podFailurePolicy",
    "successPolicy",
    "managedBy",
)
_CONCURRENCY = ("Allow", "Forbid", "Replace")
LONGEST_CRON_NAME = 52
"""letters: a job's name adds eleven to it, and has to fit in a label"""
_DIRECTIVES = ("nodeSelector", "affinity", "tolerations", "schedulingGates")


def job_rules(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """A Job, beside its metadata."""
    spec = new.get("spec") or {}
    errors = [error for field in _COUNTS for error in not_negative(f"spec.{field}", spec.get(field))]
    name = str((new.get("metadata") or {}).get("name", ""))
    if old is None and label_value(name):
        errors.append(FieldError("metadata.name", "must be usable as a label of the job's pods", value=name))
    errors += _modes(spec)
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    if spec.get("selector") is None:
        errors.append(required("spec.selector"))
    else:
        errors += label_selector(spec["selector"], "spec.selector")
        if not selects(spec["selector"], labels):
            detail = "`selector` does not match template `labels`"
            errors.append(FieldError("spec.template.metadata.labels", detail, value=labels))
    errors += pod_template(template, "spec.template")
    errors += failure_policy(spec) + success_policy(spec)
    errors += _restart_policy(spec, (template.get("spec") or {}).get("restartPolicy"))
    if old is not None:
        errors += _update(spec, old.get("spec") or {})
    return errors


validate_job = with_metadata(subdomain, job_rules)


def _modes(spec: JsonObject) -> list[FieldError]:
    errors = []
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        errors.append(not_supported("spec.completionMode", mode, _MODES))
    replacement = spec.get("podReplacementPolicy")
    if replacement is not None and replacement not in _REPLACEMENT:
        errors.append(not_supported("spec.podReplacementPolicy", replacement, _REPLACEMENT))
    if mode == "Indexed":
        if spec.get("completions") is None:
            errors.append(required("spec.completions", "when completion mode is Indexed"))
        for field in ("parallelism", "completions"):
            count = spec.get(field)
            if field == "parallelism" and count is not None and count > MOST_INDEXED:
                detail = f"must be less than or equal to {MOST_INDEXED} when completion mode is Indexed"
                errors.append(FieldError(f"spec.{field}", detail, value=count))
    else:
        for field in ("backoffLimitPerIndex", "successPolicy"):
            if spec.get(field) is not None:
                errors.append(FieldError(f"spec.{field}", "requires indexed completion mode", value=str(spec[field])))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    return errors


def _restart_policy(spec: JsonObject, policy: str | None) -> list[FieldError]:
    path = "spec.template.spec.restartPolicy"
    words = ", ".join(f'"{word}"' for word in _RESTART)
    if not policy:
        return [required(path, f"valid values: {words}")]
    if policy not in _RESTART:
        return [not_supported(path, policy, _RESTART)]
    if policy != "Never" and (spec.get("podFailurePolicy") or spec.get("backoffLimitPerIndex") is not None):
        return [FieldError(path, "only 'Never' goes with a pod failure policy or a limit per index", value=policy)]
    return []


def _update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    errors = [error for field in _FIXED for error in immutable(f"spec.{field}", new.get(field), old.get(field))]
    if new.get("completions") != old.get("completions"):
        elastic = new.get("completionMode") == "Indexed" and new.get("completions") == new.get("parallelism")
        if not elastic or old.get("completions") is None or new.get("completions") is None:
            errors += immutable("spec.completions", new.get("completions"), old.get("completions"))
    template = deepcopy(new.get("template") or {})
    if old.get("suspend") or new.get("suspend"):
        _put_back(template, old.get("template") or {})
    before = old.get("template") or {}
    for part in ("metadata", "spec"):
        if (template.get(part) or {}) != (before.get(part) or {}):
            errors.append(FieldError(f"spec.template.{part}", "field is immutable", value="the pod template"))
    return errors


def _put_back(template: JsonObject, old: JsonObject) -> None:
    """Undoes what may change while the job is suspended."""
    metadata, before = template.setdefault("metadata", {}), old.get("metadata") or {}
    for key in ("labels", "annotations"):
        _copy(metadata, before, key)
    if not metadata and "metadata" not in old:
        del template["metadata"]
    spec, was = template.get("spec") or {}, old.get("spec") or {}
    for key in _DIRECTIVES:
        _copy(spec, was, key)
    for name in ("containers", "initContainers"):
        for container, earlier in zip(spec.get(name) or (), was.get(name) or (), strict=False):
            _copy(container, earlier, "resources")


def _copy(to: JsonObject, source: JsonObject, key: str) -> None:
    to.pop(key, None)
    if key in source:
        to[key] = source[key]


def cron_job_rules(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """A CronJob, beside its metadata."""
    spec = new.get("spec") or {}
    name = str((new.get("metadata") or {}).get("name", ""))
    errors = []
    if old is None and len(name) > LONGEST_CRON_NAME:
        errors.append(FieldError("metadata.name", f"must be no more than {LONGEST_CRON_NAME} characters", value=name))
    errors += _schedule(spec)
    policy = spec.get("concurrencyPolicy")
    if not policy:
        errors.append(required("spec.concurrencyPolicy"))
    elif policy not in _CONCURRENCY:
        errors.append(not_supported("spec.concurrencyPolicy", policy, _CONCURRENCY))
    for field in ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        errors += not_negative(f"spec.{field}", spec.get(field))
    return errors + _job_template(spec.get("jobTemplate") or {})


validate_cron_job = with_metadata(subdomain, cron_job_rules)


def _schedule(spec: JsonObject) -> list[FieldError]:
    errors = []
    schedule, zone = str(spec.get("schedule") or ""), spec.get("timeZone")
    if not schedule:
        errors.append(required("spec.schedule"))
    elif "TZ" in schedule:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(FieldError("spec.schedule", detail, value=schedule))
    else:
        try:
            cron.parse(schedule)
        except cron.ScheduleError as error:
            errors.append(FieldError("spec.schedule", str(error), value=schedule))
    if zone is not None:
        wrong = "timeZone must be nil or non-empty string" if not zone else ""
        if str(zone).lower() == "local":
            wrong = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        try:
            cron.zone_of(str(zone))
        except cron.ScheduleError as error:
            wrong = wrong or str(error)
        if wrong:
            errors.append(FieldError("spec.timeZone", wrong, value=zone))
    return errors


def _job_template(template: JsonObject) -> list[FieldError]:
    """The rules of a Job, but for the selector, which each job gets when it is made."""
    path, job = "spec.jobTemplate.spec", template.get("spec") or {}
    errors = [error for field in _COUNTS for error in not_negative(f"{path}.{field}", job.get(field))]
    if job.get("selector") is not None:
        errors.append(forbidden(f"{path}.selector", "`selector` will be auto-generated"))
    if job.get("manualSelector"):
        errors.append(not_supported(f"{path}.manualSelector", job["manualSelector"], ("nil", "false")))
    inner = job.get("template") or {}
    own = [*_modes(job), *failure_policy(job), *success_policy(job)]
    own += pod_template(inner, "spec.template") + _restart_policy(job, (inner.get("spec") or {}).get("restartPolicy"))
    return errors + [error._replace(path=error.path.replace("spec.", f"{path}.", 1)) for error in own]
