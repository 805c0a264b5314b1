"""PodGroup -> PodGroup: minima, needs in base units, phase, and what its annotations say.

The rule   preemptable   annotation volcano.sh/preemptable, else the label; what can't be read is no
           waiting time  annotation sla-waiting-time, like 1h30m
           budget        annotations volcano.sh/jdb-max-unavailable, -min-available
           roles         annotations volcano.sh/task-topology-affinity "a,b;c,d", -anti-affinity, -task-order "a,b"
           deadline      kumi.jobs.due, the group's own
           needs         minResources; what no node has of it (requests.cpu, count/pods: Volcano's controllers write them) only
                         quotas of namespaces count
           workload      annotation kueue.x-k8s.io/workload: the Workload that was admitted with these pods
Source     Volcano: PodGroup, annotations of the sla, tdm and task-topology plug-ins.
"""

from __future__ import annotations

from kumi.api import volcano
from kumi.api.kueue import WORKLOAD_ANNOTATION
from kumi.api.meta import Object, parse_time
from kumi.api.wire import JsonObject
from kumi.bridge.into.queue import amounts, on_nodes
from kumi.engine import gangs
from kumi.engine.placement.times import duration_ms
from kumi.jobs.due import due

PHASES = {p.value: p for p in gangs.Phase}
YES = ("1", "t", "T", "true", "TRUE", "True")


def podgroup(view: volcano.PodGroup) -> gangs.PodGroup:
    """See the module. KumiError for a quantity that can't be read."""
    meta, spec = view.metadata, view.spec
    said = meta.annotations
    workload, said_due = said.get(WORKLOAD_ANNOTATION, ""), due(meta)
    needs = amounts(spec.min_resources)
    return gangs.PodGroup(
        key=view.key,
        queue=spec.queue,
        created_ms=parse_time(meta.creation_timestamp) or 0,
        uid=meta.uid,
        least=spec.min_member,
        least_of=tuple(sorted(spec.min_task_member.items())),
        resources=on_nodes(needs) if needs else None,
        priority_class=spec.priority_class_name,
        phase=PHASES.get(view.status.phase, gangs.Phase.UNKNOWN),
        preemptable=preemptable(view),
        waiting_ms=duration_ms(said.get(volcano.SLA_ANNOTATION, "")),
        unavailable=said.get(volcano.MAX_UNAVAILABLE_ANNOTATION, ""),
        available=said.get(volcano.MIN_AVAILABLE_ANNOTATION, ""),
        affinity=_roles(said, volcano.ROLE_AFFINITY_ANNOTATION),
        anti_affinity=_roles(said, volcano.ROLE_ANTI_AFFINITY_ANNOTATION),
        role_order=tuple(r for r in said.get(volcano.ROLE_ORDER_ANNOTATION, "").split(",") if r),
        workload=f"{meta.namespace}/{workload}" if workload else "",
        deadline_ms=said_due.deadline_ms,
        execution_ms=said_due.execution_ms,
        counted=tuple(one for one in needs if one not in on_nodes(needs)),
        revision=int(meta.resource_version) if meta.resource_version.isdecimal() else 0,
    )


def preemptable(view: Object) -> bool | None:
    """What a pod or a pod group says of it; None: nothing."""
    for words in (view.metadata.annotations, view.metadata.labels):
        text = words.get(volcano.PREEMPTABLE)
        if text is not None:
            return text in YES
    return None


def _roles(said: JsonObject, annotation: str) -> tuple[tuple[str, ...], ...]:
    groups = str(said.get(annotation, "")).split(";")
    return tuple(tuple(r for r in group.split(",") if r) for group in groups if group)
