"""Columns of the batch and autoscaling groups."""

from __future__ import annotations

from kumi.api.columns.cells import NONE, UNKNOWN, age, condition, duration, images, joined, pairs, selected
from kumi.api.meta import parse_time
from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject


def _status(job: JsonObject, _now_ms: int) -> str:
    for type_, word in (
        ("Complete", "Complete"),
        ("Failed", "Failed"),
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ):
        found = condition(job, type_)
        if found is not None and found.get("status") == "True":
            return word
    return "Terminating" if job["metadata"].get("deletionTimestamp") else "Running"


def _completions(job: JsonObject, _now_ms: int) -> str:
    spec, done = job.get("spec") or {}, (job.get("status") or {}).get("succeeded") or 0
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _duration(job: JsonObject, now_ms: int) -> str:
    status = job.get("status") or {}
    start = parse_time(status.get("startTime"))
    if start is None:
        return ""
    end = parse_time(status.get("completionTime"))
    if end is None:
        failed = condition(job, "Failed")
        over = failed is not None and failed.get("status") == "True"
        end = parse_time(failed.get("lastTransitionTime")) if failed is not None and over else None
    return duration(((now_ms if end is None else end) - start) // 1000)


def _containers(key: str) -> Column:
    def cell(job: JsonObject, _now_ms: int) -> str:
        template = (job.get("spec") or {}).get("template") or {}
        return joined(c.get(key, "") for c in (template.get("spec") or {}).get("containers") or ())

    return Column("Containers" if key == "name" else "Images", priority=1, cell=cell)


def _selector(job: JsonObject, _now_ms: int) -> str:
    selector = (job.get("spec") or {}).get("selector") or {}
    return pairs(selector.get("matchLabels"))


JOB = (
    Column("Status", cell=_status),
    Column("Completions", cell=_completions),
    Column("Duration", cell=_duration),
    AGE,
    _containers("name"),
    _containers("image"),
    Column("Selector", priority=1, cell=_selector),
)


def _cron_template(cron_job: JsonObject) -> JsonObject:
    template: JsonObject = ((cron_job.get("spec") or {}).get("jobTemplate") or {}).get("spec") or {}
    return template


def _last(cron_job: JsonObject, now_ms: int) -> str:
    last = (cron_job.get("status") or {}).get("lastScheduleTime")
    return age(last, now_ms) if last else NONE


def _cron_images(key: str) -> Column:
    def cell(cron_job: JsonObject, _now_ms: int) -> str:
        return images(_cron_template(cron_job).get("template") or {}, key)

    return Column("Containers" if key == "name" else "Images", priority=1, cell=cell)


CRON_JOB = (
    Column("Schedule", ".spec.schedule"),
    Column("Timezone", cell=lambda c, _now_ms: str((c.get("spec") or {}).get("timeZone") or NONE)),
    Column("Suspend", cell=lambda c, _now_ms: "True" if (c.get("spec") or {}).get("suspend") else "False"),
    Column("Active", type="integer", cell=lambda c, _now_ms: len((c.get("status") or {}).get("active") or ())),
    Column("Last Schedule", cell=_last),
    AGE,
    _cron_images("name"),
    _cron_images("image"),
    Column("Selector", priority=1, cell=lambda c, _now_ms: selected(_cron_template(c).get("selector"))),
)


def _reference(autoscaler: JsonObject, _now_ms: int) -> str:
    target = (autoscaler.get("spec") or {}).get("scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _target_of(metric: JsonObject, current: JsonObject) -> str:
    kind = str(metric.get("type", ""))
    key = kind[:1].lower() + kind[1:]
    wanted = (metric.get(key) or {}).get("target") or {}
    now = (current.get(key) or {}).get("current") or {}
    name = str((metric.get(key) or {}).get("name") or "")
    head = f"{name}: " if kind in ("Resource", "ContainerResource") else ""
    if wanted.get("averageUtilization") is not None:
        have = f"{now['averageUtilization']}%" if now.get("averageUtilization") is not None else UNKNOWN
        return f"{head}{have}/{wanted['averageUtilization']}%"
    if wanted.get("averageValue") is not None:
        return f"{head}{now.get('averageValue') or UNKNOWN}/{wanted['averageValue']} (avg)"
    return f"{head}{now.get('value') or UNKNOWN}/{wanted.get('value', UNKNOWN)}"


def _targets(autoscaler: JsonObject, _now_ms: int) -> str:
    metrics = (autoscaler.get("spec") or {}).get("metrics") or []
    current = (autoscaler.get("status") or {}).get("currentMetrics") or []
    texts = [_target_of(m, current[i] if i < len(current) else {}) for i, m in enumerate(metrics)]
    return ", ".join(texts) or NONE


def _minimum(autoscaler: JsonObject, _now_ms: int) -> str:
    minimum = (autoscaler.get("spec") or {}).get("minReplicas")
    return "<unset>" if minimum is None else str(minimum)


HORIZONTAL_POD_AUTOSCALER = (
    Column("Reference", cell=_reference),
    Column("Targets", cell=_targets),
    Column("MinPods", cell=_minimum),
    Column("MaxPods", ".spec.maxReplicas"),
    Column("Replicas", cell=lambda o, _now_ms: (o.get("status") or {}).get("currentReplicas") or 0),
    AGE,
)
