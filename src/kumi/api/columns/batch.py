"""Columns of the batch and autoscaling groups."""

from __future__ import annotations

from kumi.api.columns.cells import NONE, UNKNOWN, condition, duration, joined, pairs
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
