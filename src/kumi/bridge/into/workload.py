"""Workload -> Workload: what it asks for, what it got, whether it may start.

The rule   admission  status.admission, pod set by pod set: flavors, total usage in base units, count, and the nodes of its
                      topology assignment in the order of pod indices (kumi.bridge.topology)
           evicted    condition Evicted is True, or it is being deleted, and the admission is still there: it is being
                      stopped and keeps its quota
           finished   condition Finished is True
           active     spec.active, and it is not being deleted
           priority   spec.priority, and the boost of its annotation where that is a number and settings say so
           back-off   status.requeueState.requeueAt
           queue      spec.queueName, a LocalQueue of its own namespace: `namespace/name`
           turn       its creation; the time of its eviction where that was for pods that were not ready in time (where
                      settings say so) or for an admission check: it goes behind those that came meanwhile; where the heads of
                      a cohort don't go by priority, just behind whoever took its place by borrowing
           checks     what admission checks say of it, by name
           gates      annotation admission-gated-by: who keeps it out of its queue
           flavors    annotation workload-allowed-resource-flavors: the only ones that it may get
           replaces   annotation workload-slice-replacement-for: the slice of its job whose place it takes
           pod sets   as their pods will be (adjusted.py), and what these count for (requests.py); the fewest pods it can do
                      with; its topology request as sorted JSON text; pods given back
           refused    what is wrong with its resources, while it has no admission (within_limits.py)
           job        `Kind namespace/name` of its controller owner, for people
Law        admission(out.admit.admission_json(a)) == a for every Admission a.
Source     Kueue: Workload.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from kumi.api import kueue
from kumi.api.errors import FieldError
from kumi.api.limits import LimitRangeItem
from kumi.api.meta import Condition, find_condition, is_true, parse_time
from kumi.api.quantity import parse_amount
from kumi.api.wire import JsonObject
from kumi.bridge import topology
from kumi.bridge.into.adjusted import Around, adjusted
from kumi.bridge.into.due import turn_ms
from kumi.bridge.into.requests import counted
from kumi.bridge.into.shape import Shapes
from kumi.bridge.into.within_limits import above_limits, outside_range
from kumi.engine import model
from kumi.engine.reasons import Code, Reason
from kumi.engine.settings import QueueOrder, RequeueTime, Settings

BY_SETTING = "PodsReadyTimeout"
ALWAYS = "AdmissionCheck"
"""reasons of an eviction after which a workload's turn counts from the eviction"""

BOOST = re.compile(r"[+-]?[0-9]{1,10}")


def workload(
    view: kueue.Workload, shapes: Shapes, settings: Settings | None = None, around: Around | None = None
) -> model.Workload:
    """See the module. KumiError if a template, a quantity or the assignment can't be read."""
    meta, spec, status = view.metadata, view.spec, view.status
    settings, around = settings or Settings(), around or Around()
    limits = around.limits(meta.namespace)
    templates = [adjusted(p.template, limits, around.classes) for p in spec.pod_sets]
    held = admission(status.admission) if status.admission is not None else None
    deleting = meta.deletion_timestamp is not None
    reserved = find_condition(status.conditions, "QuotaReserved")
    flavors = meta.annotations.get(kueue.FLAVORS_ANNOTATION)
    return model.Workload(
        key=view.key,
        uid=meta.uid,
        namespace=meta.namespace,
        queue=f"{meta.namespace}/{spec.queue_name}",
        priority=(spec.priority or 0) + (boost(view) if settings.priority_boost else 0),
        created_ms=parse_time(meta.creation_timestamp) or 0,
        pod_sets=_pod_sets(view, templates, shapes, settings),
        job=job_text(view),
        admission=held,
        evicted=held is not None and (deleting or is_true(status.conditions, "Evicted")),
        finished=is_true(status.conditions, "Finished"),
        active=spec.active and not deleting,
        requeue_at_ms=parse_time((status.requeue_state or {}).get("requeueAt")) or 0,
        queued_ms=_turn_ms(view, templates, settings),
        reserved_ms=_since(reserved) if reserved is not None and reserved.status == "True" else 0,
        admitted=is_true(status.conditions, "Admitted"),
        checks=tuple(model.CheckState(str(c["name"]), str(c["state"])) for c in status.admission_checks),
        gates=words(meta.annotations.get(kueue.GATES_ANNOTATION)),
        allowed_flavors=words(flavors) if flavors else None,
        replaces=meta.annotations.get(kueue.SLICE_OF_ANNOTATION, ""),
        refused=None if held is not None else _refused(templates, limits),
        pods_ready=is_true(status.conditions, "PodsReady"),
        waiting=reserved is not None and reserved.reason == "WaitingForPreemptedWorkloads",
        revision=int(meta.resource_version) if meta.resource_version.isdecimal() else 0,
    )


def admission(view: kueue.Admission) -> model.Admission:
    """What it got."""
    return model.Admission(view.cluster_queue, tuple(_assigned(a) for a in view.pod_set_assignments))


def job_text(view: kueue.Workload) -> str:
    """The job for people; the Workload's own key where nobody owns it."""
    owner = view.metadata.controller
    if owner is None:
        return f"Workload {view.key}"
    return f"{owner.kind} {view.metadata.namespace}/{owner.name}"


def words(text: str | None) -> tuple[str, ...]:
    """The words of an annotation that lists them with commas between."""
    return tuple(word for part in (text or "").split(",") if (word := part.strip()))


def resource_errors(
    templates: list[JsonObject], limits: Mapping[str, LimitRangeItem]
) -> tuple[list[FieldError], list[FieldError]]:
    """What is wrong with the resources of a workload's templates: requests above their limits, and what is outside of the
    namespace's LimitRanges. KumiError for a quantity that can't be read."""
    above: list[FieldError] = []
    outside: list[FieldError] = []
    for n, template in enumerate(templates):
        path = f"spec.podSets[{n}].template.spec"
        above.extend(above_limits(template, path))
        outside.extend(outside_range(template, limits, path) if limits else ())
    return above, outside


def boost(view: kueue.Workload) -> int:
    """What its annotation adds to its priority; 0 where that is no 32-bit number."""
    text = view.metadata.annotations.get(kueue.BOOST_ANNOTATION, "")
    if BOOST.fullmatch(text) is None:
        return 0
    value = int(text)
    return value if -(2**31) <= value < 2**31 else 0


def _refused(templates: list[JsonObject], limits: Mapping[str, LimitRangeItem]) -> Reason | None:
    above, outside = resource_errors(templates, limits)
    for errors, code in ((above, Code.REQUESTS_ABOVE_LIMITS), (outside, Code.OUTSIDE_LIMIT_RANGE)):
        for error in errors:
            names = error.value if isinstance(error.value, list) else []
            return Reason(code, resource=", ".join(names), detail=error.path)
    return None


def _pod_sets(
    view: kueue.Workload, templates: list[JsonObject], shapes: Shapes, settings: Settings
) -> tuple[model.PodSet, ...]:
    given_back = {str(r["name"]): int(r["count"]) for r in view.status.reclaimable_pods}
    shaped = [shapes.of_template(template, view.metadata.namespace) for template in templates]
    return tuple(
        model.PodSet(
            p.name,
            p.count,
            shape,
            least=p.min_count,
            group=str((p.topology_request or {}).get("podSetGroupName") or ""),
            topology=msgspec.json.encode(p.topology_request, order="sorted").decode() if p.topology_request else "",
            quota=counted(shape.requests, settings),
            reclaimed=given_back.get(p.name, 0),
            namespace=view.metadata.namespace,
            labels=_labels(template),
        )
        for p, shape, template in zip(view.spec.pod_sets, shaped, templates, strict=True)
    )


def _labels(template: JsonObject) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(((template.get("metadata") or {}).get("labels") or {}).items()))


def _turn_ms(view: kueue.Workload, templates: list[JsonObject], settings: Settings) -> int:
    """Its time in the order of the queue where that isn't its creation; 0: it is."""
    queued = _queued_ms(view.status.conditions, settings)
    if settings.order in (QueueOrder.TIME, QueueOrder.FAIR):
        return queued
    otherwise = queued or parse_time(view.metadata.creation_timestamp) or 0
    return turn_ms(settings.order, view.metadata, templates, otherwise)


def _queued_ms(conditions: list[Condition], settings: Settings) -> int:
    evicted, preempted = (find_condition(conditions, type_) for type_ in ("Evicted", "Preempted"))
    if evicted is not None and evicted.status == "True":
        by_eviction = evicted.reason == BY_SETTING and settings.requeue_time is RequeueTime.EVICTION
        if by_eviction or evicted.reason == ALWAYS:
            return _since(evicted)
    if settings.priority_in_cohort or preempted is None or preempted.status != "True":
        return 0
    return _since(preempted) + 1 if preempted.reason == "InCohortReclaimWhileBorrowing" else 0


def _since(condition: Condition) -> int:
    return parse_time(condition.last_transition_time) or 0


def _assigned(view: kueue.PodSetAssignment) -> model.PodSetAssigned:
    return model.PodSetAssigned(
        name=view.name,
        count=view.count or 0,
        flavors=tuple(sorted(view.flavors.items())),
        usage=tuple(sorted((name, parse_amount(name, q)) for name, q in view.resource_usage.items())),
        nodes=topology.nodes(view.topology_assignment),
    )
