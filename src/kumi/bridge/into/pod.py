"""Pod -> Pod: its shape, where it is, and which place of which Workload it takes.

The rule   workload   annotation kueue.x-k8s.io/workload, in the pod's namespace; pod set: label kueue.x-k8s.io/podset
           index      the kind's own number: label training.kubeflow.org/replica-index or
                      batch.kubernetes.io/job-completion-index (older kinds have it as an annotation); None where there is
                      none, or where it is not a number
           devices    annotation kumi.dev/gpu-index: the GPUs that it has on its node
           finished   phase Succeeded or Failed
           gated      it has scheduling gates, or another scheduler places it: it holds room once it is bound, and Kumi
                      never binds it; so has one that is for Volcano and has no PodGroup yet: one is made for it
           gang       annotation scheduling.k8s.io/group-name; one that another scheduler places is no task of Kumi's gangs
Source     Kubernetes: pod life cycle, scheduling gates. Kueue: pod labels. Training operator: pod labels.
"""

from __future__ import annotations

from kumi.api import core, gpu_sharing, volcano
from kumi.api.kueue import POD_SET_LABEL, WORKLOAD_ANNOTATION
from kumi.api.meta import parse_time
from kumi.bridge.into.podgroup import preemptable
from kumi.bridge.into.shape import Shapes, volume_claims
from kumi.bridge.scheduler_names import SCHEDULERS, VOLCANO_SCHEDULER
from kumi.engine import gangs, model
from kumi.jobs.due import due

INDEX_KEYS = ("training.kubeflow.org/replica-index", "batch.kubernetes.io/job-completion-index")
ANY_ZONE = "*"
"""every revocable zone; naming one of them is not supported by Volcano either"""


def pod(
    view: core.Pod,
    shapes: Shapes,
    schedulers: tuple[str, ...] = SCHEDULERS,
    spread: tuple[model.SpreadTerm, ...] = (),
) -> model.Pod:
    """See the module. `spread`: see companions.py. KumiError for a quantity that can't be read."""
    meta, spec = view.metadata, view.spec
    name = meta.annotations.get(WORKLOAD_ANNOTATION, "")
    ours = spec.scheduler_name in schedulers
    return model.Pod(
        uid=meta.uid,
        key=view.key,
        shape=shapes.of(
            spec, volume_claims(meta.namespace, meta.name, spec.volumes), meta.labels, meta.annotations, spread
        ),
        created_ms=parse_time(meta.creation_timestamp) or 0,
        priority=spec.priority or 0,
        node=spec.node_name,
        workload=f"{meta.namespace}/{name}" if name else "",
        pod_set=meta.labels.get(POD_SET_LABEL, ""),
        index=_index(view),
        finished=view.status.phase in ("Succeeded", "Failed"),
        terminating=meta.deletion_timestamp is not None,
        gated=bool(spec.scheduling_gates) or not ours or lacks_group(view),
        phase=view.status.phase or "Pending",
        member=member(view, in_gang=ours),
        labels=tuple(sorted(meta.labels.items())),
        started_ms=parse_time(view.status.start_time) or 0,
        devices=gpu_sharing.numbers(meta.annotations),
    )


def lacks_group(view: core.Pod) -> bool:
    """Is it for Volcano, and in no gang, admitted or not?"""
    said = view.metadata.annotations
    if view.spec.scheduler_name != VOLCANO_SCHEDULER:
        return False
    return not (said.get(volcano.GROUP_NAME_ANNOTATION) or said.get(WORKLOAD_ANNOTATION))


def member(view: core.Pod, *, in_gang: bool = True) -> gangs.Member:
    """Its part in a gang; what it says of itself counts where it is in none as well. `in_gang`: may it be in one?"""
    meta, said = view.metadata, view.metadata.annotations
    group = said.get(volcano.GROUP_NAME_ANNOTATION, "") if in_gang else ""
    annotated = said.get(volcano.TASK_SPEC_ANNOTATION, "")
    gives_way, said_due = preemptable(view), due(meta)
    zone = said.get(volcano.REVOCABLE_ZONE_ANNOTATION)
    if zone is None and said.get(volcano.PREEMPTABLE) == "true":
        zone = ANY_ZONE
    made = gangs.Member(
        group=f"{meta.namespace}/{group}" if group else "",
        role=annotated or meta.labels.get(volcano.TASK_SPEC_ANNOTATION, ""),
        annotated_role=annotated,
        priority=_priority(view),
        preemptable=gives_way,
        zone=zone if zone == ANY_ZONE else "",
        never_preempts=view.spec.preemption_policy == "Never",
        nominated=view.status.nominated_node_name,
        numa_policy=said.get(volcano.NUMA_POLICY_ANNOTATION, ""),
        priority_class=view.spec.priority_class_name,
        deadline_ms=said_due.deadline_ms,
        execution_ms=said_due.execution_ms,
    )
    return gangs.ALONE if made == gangs.ALONE else made


def _priority(view: core.Pod) -> int | None:
    text = view.metadata.annotations.get(volcano.TASK_PRIORITY_ANNOTATION, "")
    try:
        return int(text)
    except ValueError:
        return view.spec.priority


def _index(view: core.Pod) -> int | None:
    for key in INDEX_KEYS:
        text = view.metadata.labels.get(key) or view.metadata.annotations.get(key)
        if text and text.isascii() and text.isdigit():
            return int(text)
    return None
