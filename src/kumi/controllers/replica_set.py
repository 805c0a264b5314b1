"""ReplicaSet: as many pods of one template as it says.

The rule   active pods are those that it has, that have not ended and are not being deleted
           too few: new ones, BURST at a time; too many: those over go, the least useful first
Who goes   unassigned before assigned, pending before running, not ready before ready, the cheaper to lose (annotation
           pod-deletion-cost) first, the shorter ready first, the more often restarted first, the younger first, then by name.
Names      From the set's uid and the version that was read: a repetition finds the name taken, a later pod has another one.
Status     counts of what it has; ready for minReadySeconds is available.
Source     Kubernetes: ReplicaSet, controller.kubernetes.io/pod-deletion-cost.
Not here   which pods it has: adoption.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api.apps import ReplicaSet, ReplicaSetStatus
from kumi.api.core import Pod
from kumi.api.meta import parse_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.controllers.adoption import claim
from kumi.controllers.availability import available_at_ms
from kumi.controllers.own_status import written
from kumi.controllers.owners import owner_keys, reference, takers
from kumi.jobs.pod_names import pod_name
from kumi.jobs.templates import is_live, is_ready, pod_of, restarts
from kumi.runtime.reconcile import NOTHING, Create, Delete, Note, Outcome, Watches, Write, own_key
from kumi.runtime.view import View

BURST = 500
COST = "controller.kubernetes.io/pod-deletion-cost"
KIND = ("apps/v1", "ReplicaSet")


class ReplicaSetController:
    """See the module."""

    name = "replicaset-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({ReplicaSet: own_key, Pod: owner_keys("apps", "ReplicaSet")}, related={Pod: takers(ReplicaSet)})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        found = view.get(ReplicaSet, namespace, name)
        if found is None:
            return NOTHING
        pods, claims = claim(found, found.spec.selector, view.list(Pod, namespace))
        if claims:
            return Outcome(tuple(claims))
        active = [pod for pod in pods if is_live(pod)]
        writes: list[Write] = []
        notes: list[Note] = []
        if found.metadata.deletion_timestamp is None:
            writes, notes = _moves(found, active, {pod.metadata.name for pod in pods})
        status, wake_at_ms = _status(found, pods, active, now_ms)
        writes += written(found, found.status, status)
        return Outcome(tuple(writes), tuple(notes), wake_at_ms)


def _moves(found: ReplicaSet, active: list[Pod], names: set[str]) -> tuple[list[Write], list[Note]]:
    wanted = 1 if found.spec.replicas is None else found.spec.replicas
    about = reference(found)
    writes: list[Write] = []
    notes: list[Note] = []
    for _ in range(min(max(0, wanted - len(active)), BURST)):
        name = pod_name(found.metadata.uid, f"{found.metadata.name}-", names, found.metadata.resource_version)
        names.add(name)
        writes.append(Create(_pod(found, name)))
        notes.append(Note(about, "SuccessfulCreate", f"Created pod: {name}"))
    for pod in sorted(active, key=_use)[: max(0, len(active) - wanted)]:
        writes.append(Delete(SCHEME.of(Pod), pod.metadata.namespace, pod.metadata.name, pod.metadata.uid))
        notes.append(Note(about, "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}"))
    return writes, notes


def _pod(found: ReplicaSet, name: str) -> JsonObject:
    pod = pod_of(found, KIND, found.spec.template, name, {})
    pod["metadata"]["generateName"] = f"{found.metadata.name}-"
    finalizers = (found.spec.template.get("metadata") or {}).get("finalizers")
    if finalizers:
        pod["metadata"]["finalizers"] = list(finalizers)
    return pod


def _use(pod: Pod) -> tuple[bool, int, bool, int, int, int, int, str]:
    """The smaller, the less it is missed."""
    phase = {"Pending": 0, "Unknown": 1, "Running": 2}.get(pod.status.phase, 1)
    since = available_at_ms(pod, 0) or 0
    cost = pod.metadata.annotations.get(COST, "0")
    price = int(cost) if cost.removeprefix("-").isdecimal() else 0
    born = parse_time(pod.metadata.creation_timestamp) or 0
    return (bool(pod.spec.node_name), phase, is_ready(pod), price, -since, -restarts(pod), -born, pod.metadata.name)


def _status(
    found: ReplicaSet, pods: Sequence[Pod], active: Sequence[Pod], now_ms: int
) -> tuple[ReplicaSetStatus, int | None]:
    """The status, and when another ready pod will be available."""
    template_labels = (found.spec.template.get("metadata") or {}).get("labels") or {}
    due = [at for pod in active if (at := available_at_ms(pod, found.spec.min_ready_seconds)) is not None]
    terminating = [p for p in pods if p.metadata.deletion_timestamp and p.status.phase not in ("Succeeded", "Failed")]
    status = ReplicaSetStatus(
        observed_generation=found.metadata.generation,
        replicas=len(active),
        fully_labeled_replicas=sum(template_labels.items() <= pod.metadata.labels.items() for pod in active),
        ready_replicas=len(due),
        available_replicas=sum(at <= now_ms for at in due),
        terminating_replicas=len(terminating),
        conditions=found.status.conditions,
    )
    return status, min((at for at in due if at > now_ms), default=None)
