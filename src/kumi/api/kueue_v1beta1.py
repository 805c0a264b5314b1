"""kueue.x-k8s.io v1beta1, both ways: what its users write becomes v1beta2, and is shown to them as they wrote it.

    ClusterQueue     cohort <-> cohortName
                     admissionChecks: [a] <-> admissionChecksStrategy.admissionChecks: [{name: a}] (while none is for certain
                     flavors only; where both are given the strategy counts)
                     whenCanBorrow: Borrow, whenCanPreempt: Preempt <-> MayStopSearch
    Cohort           parent <-> parentName
    LocalQueue       status.flavorUsage <-> status.flavorsUsage
    Workload         priorityClassName, priorityClassSource <-> priorityClassRef
                     topologyAssignment.domains <-> slices, in order
                     accumulatedPastExexcutionTimeSeconds (spelled so) <-> accumulatedPastExecutionTimeSeconds
    all others       are alike
Gone       retryDelayMinutes, status.flavors and pendingWorkloadsStatus, which nothing reads.
Why        the short form of admissionChecks is given back so that `kubectl apply` of a v1beta1 manifest finds the field that
           it set, and can change or drop it.
Law        to v1beta2 and back is the identity for what users write.
Source     Kueue: API reference v1beta1, v1beta2.
Not here   the types of v1beta1: kueue_v1beta1_types.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api.scheme import Convert
from kumi.api.wire import JsonObject

WORKLOAD_SOURCE, POD_SOURCE = "kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass"
_CLASSES = {
    WORKLOAD_SOURCE: ("kueue.x-k8s.io", "WorkloadPriorityClass"),
    POD_SOURCE: ("scheduling.k8s.io", "PriorityClass"),
}
_STOP = {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}
_MAY_STOP = "MayStopSearch"
_OLD_TIME, _TIME = "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds"


def same(obj: JsonObject) -> JsonObject:
    """For kinds that are alike in both versions."""
    return dict(obj)


def cluster_queue_up(obj: JsonObject) -> JsonObject:
    """v1beta1 -> v1beta2."""
    out, spec = _open(obj, "spec")
    _rename(spec, "cohort", "cohortName")
    checks = spec.pop("admissionChecks", None)
    if checks and not spec.get("admissionChecksStrategy"):
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in checks]}
    _fungibility(spec, dict.fromkeys(_STOP.items(), _MAY_STOP))
    _status(out, drop="pendingWorkloadsStatus")
    return out


def cluster_queue_down(obj: JsonObject) -> JsonObject:
    """v1beta2 -> v1beta1."""
    out, spec = _open(obj, "spec")
    _rename(spec, "cohortName", "cohort")
    rules = (spec.get("admissionChecksStrategy") or {}).get("admissionChecks") or []
    if rules and not any(rule.get("onFlavors") for rule in rules):
        del spec["admissionChecksStrategy"]
        spec["admissionChecks"] = [rule.get("name") for rule in rules]
    _fungibility(spec, {(field, _MAY_STOP): word for field, word in _STOP.items()})
    return out


def cohort_up(obj: JsonObject) -> JsonObject:
    """v1beta1 -> v1beta2."""
    out, spec = _open(obj, "spec")
    _rename(spec, "parent", "parentName")
    return out


def cohort_down(obj: JsonObject) -> JsonObject:
    """v1beta2 -> v1beta1."""
    out, spec = _open(obj, "spec")
    _rename(spec, "parentName", "parent")
    return out


def local_queue_up(obj: JsonObject) -> JsonObject:
    """v1beta1 -> v1beta2."""
    out, status = _open(obj, "status")
    _rename(status, "flavorUsage", "flavorsUsage")
    status.pop("flavors", None)
    return out


def local_queue_down(obj: JsonObject) -> JsonObject:
    """v1beta2 -> v1beta1."""
    out, status = _open(obj, "status")
    _rename(status, "flavorsUsage", "flavorUsage")
    return out


def admission_check_up(obj: JsonObject) -> JsonObject:
    """v1beta1 -> v1beta2."""
    out, spec = _open(obj, "spec")
    spec.pop("retryDelayMinutes", None)
    return out


def workload_up(obj: JsonObject) -> JsonObject:
    """v1beta1 -> v1beta2."""
    out, spec = _open(obj, "spec")
    name, source = spec.pop("priorityClassName", None), spec.pop("priorityClassSource", None)
    if name and source in _CLASSES:
        group, kind = _CLASSES[source]
        spec["priorityClassRef"] = {"group": group, "kind": kind, "name": name}
    _assignments(out, slices)
    _rename(_opened(out, "status"), _OLD_TIME, _TIME)
    return out


def workload_down(obj: JsonObject) -> JsonObject:
    """v1beta2 -> v1beta1."""
    out, spec = _open(obj, "spec")
    ref = spec.pop("priorityClassRef", None)
    for source, (group, kind) in _CLASSES.items():
        if ref and (ref.get("group"), ref.get("kind")) == (group, kind):
            spec["priorityClassName"], spec["priorityClassSource"] = ref.get("name", ""), source
    _assignments(out, domains)
    _rename(_opened(out, "status"), _TIME, _OLD_TIME)
    return out


def slices(assignment: JsonObject) -> JsonObject:
    """A topology assignment by columns (v1beta2) from one by domains (v1beta1)."""
    if "domains" not in assignment:
        return assignment
    given = assignment["domains"] or []
    out = {key: value for key, value in assignment.items() if key != "domains"}
    if given:
        levels = len(assignment.get("levels") or ())
        columns = [[domain["values"][level] for domain in given] for level in range(levels)]
        counts = [domain["count"] for domain in given]
        values = [{"universal": c[0]} if _alike(c) else {"individual": {"roots": c}} for c in columns]
        pods = {"universal": counts[0]} if _alike(counts) else {"individual": counts}
        out["slices"] = [{"domainCount": len(given), "valuesPerLevel": values, "podCounts": pods}]
    return out


def domains(assignment: JsonObject) -> JsonObject:
    """A topology assignment by domains from one by columns, prefixes and suffixes written out."""
    if "slices" not in assignment:
        return assignment
    found = []
    for part in assignment["slices"] or ():
        size = part["domainCount"]
        columns = [_column(values, size) for values in part["valuesPerLevel"]]
        counts = part["podCounts"]
        pods = counts["individual"] if "individual" in counts else [counts["universal"]] * size
        found += [{"values": [c[i] for c in columns], "count": pods[i]} for i in range(size)]
    return {**{key: value for key, value in assignment.items() if key != "slices"}, "domains": found}


def _column(values: JsonObject, size: int) -> list[str]:
    if "universal" in values:
        return [values["universal"]] * size
    own = values["individual"]
    prefix, suffix = own.get("prefix") or "", own.get("suffix") or ""
    return [f"{prefix}{root}{suffix}" for root in own["roots"]]


def _alike(values: Sequence[object]) -> bool:
    return all(value == values[0] for value in values)


def _open(obj: JsonObject, key: str) -> tuple[JsonObject, JsonObject]:
    """A copy of the object, and its member `key` copied too, to be changed."""
    out = dict(obj)
    return out, _opened(out, key)


def _opened(out: JsonObject, key: str) -> JsonObject:
    """A member of `out`, copied so that it can be changed; what is absent stays absent."""
    if not isinstance(out.get(key), dict):
        return {}
    out[key] = dict(out[key])
    member: JsonObject = out[key]
    return member


def _rename(members: JsonObject, old: str, new: str) -> None:
    if old in members:
        members[new] = members.pop(old)


def _status(out: JsonObject, drop: str) -> None:
    _opened(out, "status").pop(drop, None)


def _fungibility(spec: JsonObject, words: dict[tuple[str, str], str]) -> None:
    given = spec.get("flavorFungibility")
    if given:
        spec["flavorFungibility"] = {field: words.get((field, word), word) for field, word in given.items()}


def _assignments(out: JsonObject, convert: Convert) -> None:
    admission = _opened(_opened(out, "status"), "admission")
    if admission.get("podSetAssignments"):
        admission["podSetAssignments"] = [
            {**a, "topologyAssignment": convert(a["topologyAssignment"])} if a.get("topologyAssignment") else a
            for a in admission["podSetAssignments"]
        ]
