"""The PodGroup of a kubeflow.org/v1 job: how a training job asks a gang scheduler to start it whole.

The rule   `Settings.gang_scheduler` (the training operator's flag of that name):
             "" or None    no PodGroup
             volcano       scheduling.volcano.sh/v1beta1; pods wait until its phase is set and not Pending
             another       scheduling.x-k8s.io/v1alpha1, that scheduler's name; pods are made at once
           name = the job's, annotations copied, a deadline as a time (due.py).
           minMember = schedulingPolicy.minAvailable, else all replicas.
           minResources = given, else the containers' requests (limits where a container has no requests at all) of the
           first minMember pods, replica types ordered by the value of their PriorityClass, the highest first.
           An existing PodGroup keeps its queue.
Pods       schedulerName where the template names none. volcano: annotations `scheduling.k8s.io/group-name` and
           `volcano.sh/task-spec` (the replica type); others: label `scheduling.x-k8s.io/pod-group`.
           A template that names another scheduler keeps it, with a warning.
Units      minResources in the base units of kumi.api.quantity, written back as exact quantities.
Source     Kubeflow training operator 1.9; Volcano: PodGroup; scheduler-plugins: coscheduling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kumi.api import quantity
from kumi.api.coscheduling import PodGroup as CoschedulingPodGroup
from kumi.api.meta import Object, owner_reference
from kumi.api.volcano import GROUP_NAME_ANNOTATION, TASK_SPEC_ANNOTATION, PodGroup
from kumi.api.wire import JsonObject
from kumi.jobs.base import J
from kumi.jobs.due import told
from kumi.jobs.training import Replica, Training

VOLCANO = "volcano"
POD_GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
POD_GROUP_KIND = {True: "scheduling.volcano.sh/v1beta1", False: "scheduling.x-k8s.io/v1alpha1"}


def uses_gang(scheduler: str) -> bool:
    """Whether jobs get a PodGroup."""
    return scheduler not in ("", "None")


def pod_group_types(scheduler: str) -> tuple[type[Object], ...]:
    """The sort of PodGroup that this scheduler reads."""
    if not uses_gang(scheduler):
        return ()
    return (PodGroup,) if scheduler == VOLCANO else (CoschedulingPodGroup,)


def is_pod_group(obj: Object) -> bool:
    """Whether a child is the job's PodGroup, of either sort."""
    return isinstance(obj, PodGroup | CoschedulingPodGroup)


def ranked(training: Training[J], priorities: Mapping[str, int]) -> Training[J]:
    """The job with the values of its templates' PriorityClasses."""
    return replace(
        training,
        replicas=tuple(
            replace(r, priority=priorities.get((r.template.get("spec") or {}).get("priorityClassName") or "", 0))
            for r in training.replicas
        ),
    )


def pod_group(training: Training[J], scheduler: str, existing: Object | None) -> JsonObject:
    """The PodGroup that the job should have."""
    policy = training.policy.scheduling_policy
    total = sum(r.count for r in training.replicas)
    minimum = total if policy is None or policy.min_available is None else policy.min_available
    resources = (
        dict(policy.min_resources) if policy and policy.min_resources else _resources(training.replicas, minimum)
    )
    spec: JsonObject = {"minMember": minimum, "minResources": resources}
    volcano = scheduler == VOLCANO
    if volcano:
        kept = existing.spec.queue if isinstance(existing, PodGroup) else ""
        spec["queue"] = kept or (policy.queue if policy else "") or "default"
        if policy and policy.priority_class:
            spec["priorityClassName"] = policy.priority_class
    elif policy and policy.schedule_timeout_seconds is not None:
        spec["scheduleTimeoutSeconds"] = policy.schedule_timeout_seconds
    meta = training.meta
    metadata: JsonObject = {"name": meta.name, "namespace": meta.namespace}
    annotations = {**meta.annotations, **told(meta)}
    if annotations:
        metadata["annotations"] = annotations
    metadata["ownerReferences"] = [owner_reference(training.job, *training.names.reference)]
    return {"apiVersion": POD_GROUP_KIND[volcano], "kind": "PodGroup", "metadata": metadata, "spec": spec}


def pods_must_wait(scheduler: str, existing: Object | None) -> bool:
    """Whether the gang is not let in yet (volcano)."""
    if scheduler != VOLCANO:
        return False
    return not isinstance(existing, PodGroup) or existing.status.phase in ("", "Pending")


def join(pod: JsonObject, training: Training[J], replica: Replica, scheduler: str) -> bool:
    """Puts a pod into the gang; False when its template names another scheduler."""
    spec, meta = pod["spec"], pod["metadata"]
    mine = spec.setdefault("schedulerName", scheduler) or scheduler
    spec["schedulerName"] = mine
    if scheduler == VOLCANO:
        annotations = meta.setdefault("annotations", {})
        annotations[GROUP_NAME_ANNOTATION] = training.meta.name
        annotations[TASK_SPEC_ANNOTATION] = replica.type.lower()
    else:
        meta["labels"][POD_GROUP_LABEL] = training.meta.name
    return bool(mine == scheduler)


def _resources(replicas: Sequence[Replica], minimum: int) -> dict[str, str]:
    total: dict[str, int] = {}
    left = minimum
    for replica in sorted(replicas, key=lambda r: -r.priority):
        pods = min(left, replica.count)
        left -= pods
        for container in (replica.template.get("spec") or {}).get("containers") or ():
            written = container.get("resources") or {}
            for name, value in (written.get("requests") or written.get("limits") or {}).items():
                total[name] = total.get(name, 0) + pods * quantity.parse(value, name)
    return {name: quantity.format(amount, name) for name, amount in sorted(total.items())}
