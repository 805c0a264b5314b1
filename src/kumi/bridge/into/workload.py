"""Workload -> Workload: what it asks for, what it got, whether it may start.

The rule   admission  status.admission, pod set by pod set: flavors, total usage in base units, count, and the nodes of its
                      topology assignment in the order of pod indices (kumi.bridge.topology)
           evicted    condition Evicted is True, or it is being deleted, and the admission is still there: it is being
                      stopped and keeps its quota
           finished   condition Finished is True
           active     spec.active, and it is not being deleted
           back-off   status.requeueState.requeueAt
           queue      spec.queueName, a LocalQueue of its own namespace: `namespace/name`
           turn       its creation; the time of its eviction where that was for pods that were not ready in time, or for an
                      admission check: it goes behind those that came meanwhile
           job        `Kind namespace/name` of its controller owner, for people
Law        admission(out.admit.admission_json(a)) == a for every Admission a.
Source     Kueue: Workload.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import Condition, find_condition, is_true, parse_time
from kumi.api.quantity import parse_amount
from kumi.bridge import topology
from kumi.bridge.into.shape import Shapes
from kumi.engine import model

TO_THE_BACK = ("PodsReadyTimeout", "AdmissionCheck")
"""reasons of an eviction after which a workload's turn counts from the eviction"""


def workload(view: kueue.Workload, shapes: Shapes) -> model.Workload:
    """See the module. KumiError if a template, a quantity or the assignment can't be read."""
    meta, spec, status = view.metadata, view.spec, view.status
    held = admission(status.admission) if status.admission is not None else None
    deleting = meta.deletion_timestamp is not None
    return model.Workload(
        key=view.key,
        uid=meta.uid,
        namespace=meta.namespace,
        queue=f"{meta.namespace}/{spec.queue_name}",
        priority=spec.priority or 0,
        created_ms=parse_time(meta.creation_timestamp) or 0,
        pod_sets=tuple(model.PodSet(p.name, p.count, shapes.of_template(p.template)) for p in spec.pod_sets),
        job=job_text(view),
        admission=held,
        evicted=held is not None and (deleting or is_true(status.conditions, "Evicted")),
        finished=is_true(status.conditions, "Finished"),
        active=spec.active and not deleting,
        requeue_at_ms=parse_time((status.requeue_state or {}).get("requeueAt")) or 0,
        queued_ms=_queued_ms(status.conditions),
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


def _queued_ms(conditions: list[Condition]) -> int:
    found = find_condition(conditions, "Evicted")
    if found is None or found.status != "True" or found.reason not in TO_THE_BACK:
        return 0
    return parse_time(found.last_transition_time) or 0


def _assigned(view: kueue.PodSetAssignment) -> model.PodSetAssigned:
    return model.PodSetAssigned(
        name=view.name,
        count=view.count or 0,
        flavors=tuple(sorted(view.flavors.items())),
        usage=tuple(sorted((name, parse_amount(name, q)) for name, q in view.resource_usage.items())),
        nodes=topology.nodes(view.topology_assignment),
    )
