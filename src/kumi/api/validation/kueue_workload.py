"""Validation of kueue.x-k8s.io Workload.

The rules of what is asked for:
    no container asks for `pods`, nor for a negative amount; one pod set at most can do with fewer pods, and none of an
    elastic job; slices have at least one pod
    gates in the annotation admission-gated-by are different `domain/name`s; priority-boost is a number
The rules of what was given (status):
    quota is taken with an admission; its pod sets are the workload's, each usage is a multiple of its count
    a check changes pod sets that exist, with valid labels, annotations, node selector and tolerations
    no more pods are given back than there are
On update:
    while quota is held, pod sets, queue and admission stay (its topology may be assigned anew; elastic jobs may shrink)
    what a check that is Ready changed stays; pods given back stay so (down to the count of a pod set that shrank)
    gates go, none comes
Optional   rules that Kueue has a feature gate for are listed by its name in GATED, and can be left out one by one.
Source     Kueue v0.20: webhooks of Workload; its API's CEL rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy

from kumi.api.errors import FieldError
from kumi.api.kueue import BOOST_ANNOTATION, ELASTIC_ANNOTATION, GATES_ANNOTATION
from kumi.api.quantity import QuantityError, nano, parse
from kumi.api.validation.metadata import validate_annotations, with_metadata
from kumi.api.validation.names import labels, qualified, subdomain
from kumi.api.validation.placement import tolerations
from kumi.api.validation.words import immutable, not_supported, required
from kumi.api.wire import JsonObject

_INT32 = range(-(2**31), 2**31)

Rule = Callable[[JsonObject, JsonObject | None], list[FieldError]]


def _pod_sets(workload: JsonObject) -> list[JsonObject]:
    return (workload.get("spec") or {}).get("podSets") or []


def _holds_quota(workload: JsonObject) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or ()
    return any(c.get("type") == "QuotaReserved" and c.get("status") == "True" for c in conditions)


def _name(pod_set: JsonObject) -> str:
    return str(pod_set.get("name") or "main")


def _count(pod_set: JsonObject) -> int:
    count = pod_set.get("count")
    return 1 if count is None else int(count)


def _resources(workload: JsonObject) -> Iterable[tuple[str, JsonObject]]:
    """Every map of requests or limits, with its path."""
    for p, pod_set in enumerate(_pod_sets(workload)):
        spec, path = (pod_set.get("template") or {}).get("spec") or {}, f"spec.podSets[{p}].template.spec"
        places = [(f"{path}.resources", spec)]
        for field in ("initContainers", "containers"):
            places += [(f"{path}.{field}[{c}].resources", one) for c, one in enumerate(spec.get(field) or ())]
        for here, holder in places:
            for part in ("requests", "limits"):
                yield f"{here}.{part}", (holder.get("resources") or {}).get(part) or {}


def _no_pods(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    detail = "the resource `pods` is counted by the queues and can't be asked for"
    return [FieldError(f"{path}[pods]", detail, value="pods") for path, found in _resources(new) if "pods" in found]


def _not_negative(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    errors = []
    for path, found in _resources(new):
        for resource, value in found.items():
            try:
                negative = nano(value) < 0
            except QuantityError:
                continue  # the schema tells
            if negative:
                errors.append(FieldError(f"{path}[{resource}]", "must be greater than or equal to 0", value=value))
    return errors


def _template_metadata(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    errors = []
    for p, pod_set in enumerate(_pod_sets(new)):
        metadata, path = (pod_set.get("template") or {}).get("metadata") or {}, f"spec.podSets[{p}].template.metadata"
        errors += labels(metadata.get("labels"), f"{path}.labels")
        errors += validate_annotations(metadata.get("annotations"), f"{path}.annotations")
    return errors


def _slice_sizes(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    errors = []
    for p, pod_set in enumerate(_pod_sets(new)):
        request, path = pod_set.get("topologyRequest") or {}, f"spec.podSets[{p}].topologyRequest"
        size = request.get("podSetSliceSize")
        if size is not None and size < 1:
            errors.append(FieldError(f"{path}.podSetSliceSize", "must be greater than or equal to 1", value=size))
        for c, constraint in enumerate(request.get("podsetSliceRequiredTopologyConstraints") or ()):
            size = constraint.get("size") or 0
            if size < 1:
                here = f"{path}.podsetSliceRequiredTopologyConstraints[{c}].size"
                errors.append(FieldError(here, "must be greater than or equal to 1", value=size))
    return errors


def _counts(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    fewer = [pod_set for pod_set in _pod_sets(new) if pod_set.get("minCount") is not None]
    elastic = _is_elastic(new)
    if len(fewer) > 1:
        return [FieldError("spec.podSets", "at most one pod set can use minCount", value=len(fewer))]
    if fewer and elastic:
        return [FieldError("spec.podSets", "minCount does not go with an elastic job", value=len(fewer))]
    return []


def _gates(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    path = f"metadata.annotations[{GATES_ANNOTATION}]"
    text = ((new.get("metadata") or {}).get("annotations") or {}).get(GATES_ANNOTATION)
    gates = _split(text)
    errors = []
    for index, gate in enumerate(gates):
        wrong = qualified(gate) if "/" in gate else "must be a domain, a slash and a name"
        if wrong:
            errors.append(FieldError(path, wrong, value=gate))
        if gate in gates[:index]:
            errors.append(FieldError(path, "a gate must be given once", value=gate))
    if old is not None:
        before = _split(((old.get("metadata") or {}).get("annotations") or {}).get(GATES_ANNOTATION))
        added = [gate for gate in gates if gate not in before]
        errors += [FieldError(path, "a gate can't be added to an existing workload", value=gate) for gate in added]
    return errors


def _split(text: str | None) -> list[str]:
    return [] if not text else [part.strip() for part in text.split(",")]


def _boost(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    text = ((new.get("metadata") or {}).get("annotations") or {}).get(BOOST_ANNOTATION)
    if text is None:
        return []
    try:
        good = int(text) in _INT32 and text.strip() == text and "_" not in text
    except ValueError:
        good = False
    path = f"metadata.annotations[{BOOST_ANNOTATION}]"
    return [] if good else [FieldError(path, "must be a number of 32 bits", value=text)]


def _admission(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    if not _holds_quota(new):
        return []
    admission = (new.get("status") or {}).get("admission")
    if admission is None:
        return (
            []
            if old is not None and _holds_quota(old)
            else [required("status.admission", "must be set where quota is reserved")]
        )
    counts = {_name(pod_set): _count(pod_set) for pod_set in _pod_sets(new)}
    errors = []
    for a, assigned in enumerate(admission.get("podSetAssignments") or ()):
        name, path = _name(assigned), f"status.admission.podSetAssignments[{a}]"
        if name not in counts:
            errors.append(FieldError(f"{path}.name", "", "FieldValueNotFound", name))
        count = assigned.get("count", counts.get(name, 1))
        for resource, value in (assigned.get("resourceUsage") or {}).items():
            if count and parse(value, resource) % count:
                here = f"{path}.resourceUsage[{resource}]"
                errors.append(FieldError(here, f"must be a multiple of the count, {count}", value=value))
    return errors


def _checks(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    names = [_name(pod_set) for pod_set in _pod_sets(new)]
    errors = []
    for c, state in enumerate((new.get("status") or {}).get("admissionChecks") or ()):
        for u, update in enumerate(state.get("podSetUpdates") or ()):
            path = f"status.admissionChecks[{c}].podSetUpdates[{u}]"
            if update.get("name") not in names:
                errors.append(not_supported(f"{path}.name", update.get("name"), names))
            errors += labels(update.get("labels"), f"{path}.labels")
            errors += validate_annotations(update.get("annotations"), f"{path}.annotations")
            errors += labels(update.get("nodeSelector"), f"{path}.nodeSelector")
            errors += tolerations(update.get("tolerations") or [], f"{path}.tolerations")
    return errors


def _reclaimable(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    counts = {_name(pod_set): _count(pod_set) for pod_set in _pod_sets(new)}
    given = _given_back(new)
    errors = []
    for name, count in given.items():
        path = f"status.reclaimablePods[{name}]"
        if name not in counts:
            errors.append(not_supported(f"{path}.name", name, counts))
        elif count > counts[name]:
            detail = f"should be less or equal to {counts[name]}"
            errors.append(FieldError(f"{path}.count", detail, value=count))
    if old is None or not (_holds_quota(new) and _holds_quota(old)):
        return errors
    for name, before in _given_back(old).items():
        path = f"status.reclaimablePods[{name}]"
        if name not in given:
            errors.append(required(path, "can't be removed"))
        elif given[name] < min(before, counts.get(name, before)):
            errors.append(FieldError(f"{path}.count", f"can't be less than {before}", value=given[name]))
    return errors


def _given_back(workload: JsonObject) -> dict[str, int]:
    return {_name(r): int(r.get("count") or 0) for r in (workload.get("status") or {}).get("reclaimablePods") or ()}


def _fixed_pod_sets(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    return _changed_pod_sets(new, old, lambda now, was: now == was)


def _shrinking_pod_sets(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """As fixed as the others, but for a count that falls."""
    return _changed_pod_sets(
        new, old, lambda now, was: _count(now) <= _count(was) and {**now, "count": 0} == {**was, "count": 0}
    )


def _changed_pod_sets(
    new: JsonObject, old: JsonObject | None, may_be: Callable[[JsonObject, JsonObject], bool]
) -> list[FieldError]:
    if old is None or not _holds_quota(old):
        return []
    now, before = _pod_sets(new), _pod_sets(old)
    if len(now) != len(before):
        return [FieldError("spec.podSets", "field is immutable", value=len(now))]
    return [
        FieldError(f"spec.podSets.{p}", "field is immutable while quota is reserved", value=_name(pod_set))
        for p, (pod_set, was) in enumerate(zip(now, before, strict=True))
        if not may_be(pod_set, was)
    ]


def _is_elastic(workload: JsonObject) -> bool:
    annotations = (workload.get("metadata") or {}).get("annotations") or {}
    return bool(annotations.get(ELASTIC_ANNOTATION) == "true")


def _fixed_queue(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    if old is None or not (_holds_quota(old) and _holds_quota(new)):
        return []
    queues = [(workload.get("spec") or {}).get("queueName") or "" for workload in (new, old)]
    return immutable("spec.queueName", *queues) if all(queues) else []


def _fixed_admission(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    if old is None or not (_holds_quota(old) and _holds_quota(new)):
        return []
    now, before = (_without_topology((workload.get("status") or {}).get("admission")) for workload in (new, old))
    if now is None or before is None or now == before:
        return []
    return [FieldError("status.admission", "field is immutable while quota is reserved", value="object")]


def _without_topology(admission: JsonObject | None) -> JsonObject | None:
    if admission is None:
        return None
    admission = deepcopy(admission)
    for assigned in admission.get("podSetAssignments") or ():
        for field in ("topologyAssignment", "delayedTopologyRequest"):
            assigned.pop(field, None)
    return admission


def _fixed_updates(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    before = {s.get("name"): s for s in ((old or {}).get("status") or {}).get("admissionChecks") or ()}
    errors = []
    for c, state in enumerate((new.get("status") or {}).get("admissionChecks") or ()):
        was = before.get(state.get("name"))
        if was is not None and was.get("state") == state.get("state") == "Ready":
            path = f"status.admissionChecks[{c}].podSetUpdates"
            if (was.get("podSetUpdates") or []) != (state.get("podSetUpdates") or []):
                errors.append(FieldError(path, "field is immutable while the check is Ready", value="list"))
    return errors


ALWAYS: tuple[Rule, ...] = (
    _counts,
    _no_pods,
    _admission,
    _checks,
    _reclaimable,
    _fixed_queue,
    _fixed_admission,
    _fixed_updates,
)
GATED: dict[str, Rule] = {
    "WorkloadValidateResourcesAreNonNegative": _not_negative,
    "WorkloadValidationForPodSetMetadata": _template_metadata,
    "TASValidateWorkloadSliceSize": _slice_sizes,
    "AdmissionGatedBy": _gates,
    "PriorityBoost": _boost,
}
FIXED_POD_SETS = "FixedPodSets"
"""left out, pod sets of any workload may shrink in place, not only those of elastic jobs (Kueue's gate
ElasticJobsViaWorkloadSlices)"""


def workload_rules(new: JsonObject, old: JsonObject | None, without: frozenset[str] = frozenset()) -> list[FieldError]:
    """A Workload, beside metadata and schema; `without` names rules of GATED (or FIXED_POD_SETS) to leave out."""
    rules = [*ALWAYS, *(rule for gate, rule in GATED.items() if gate not in without)]
    shrinks = _is_elastic(new) or FIXED_POD_SETS in without
    rules.append(_shrinking_pod_sets if shrinks else _fixed_pod_sets)
    return [error for rule in rules for error in rule(new, old)]


validate_workload = with_metadata(subdomain, workload_rules)
