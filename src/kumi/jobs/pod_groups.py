"""Plain pods in a queue, alone or as a group: what their Workload is, and where they stand.

Alone      a pod with a queue's label is a workload of one pod set `main` of one pod, named after it.
Group      pods with one label `kueue.x-k8s.io/pod-group-name`, of which each says in its annotation
           `pod-group-total-count` how many there are. The Workload has the group's name; pods of one shape are a pod set
           whose name is the shape's hash.
           It is made when all pods are there; with the annotation `pod-group-fast-admission` on the first one, when that is
           there: all are taken to be like it.
Counted    a pod that has failed, or that goes without having succeeded, no longer counts: it waits for another to take its place.
           More pods than the group has are excess: the newest gated ones first, then the newest.
Over       alone: with the pod. A group: as many have succeeded as it has pods; or one says that it is not to be replaced
           (annotation `retriable-in-group: "false"`) or nothing is left that could be, and none runs.
Ready      all pods are ready or have succeeded.
Source     Kueue: plain pods, groups of pods.
Not here   what is done about it: kumi.controllers.pod_groups.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kumi.api.core import Pod
from kumi.api.kueue import POD_SET_LABEL, PRIORITY_CLASS_LABEL, QUEUE_LABEL, PriorityClassRef
from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetShape, Standing
from kumi.jobs.status import to_json
from kumi.jobs.templates import is_live, is_ready
from kumi.jobs.workload import pod_set

POD = "Pod"
GATE = "kueue.x-k8s.io/admission"
MANAGED = "kueue.x-k8s.io/managed"
"""label, and finalizer that keeps a pod of a group until it was counted"""
GROUP_LABEL = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
FAST = "kueue.x-k8s.io/pod-group-fast-admission"
ROLE = "kueue.x-k8s.io/role-hash"
RETRIABLE = "kueue.x-k8s.io/retriable-in-group"
INDEX_LABEL = "kueue.x-k8s.io/pod-group-pod-index"
ALONE = "main"
SHAPE = (
    "affinity",
    "containers",
    "initContainers",
    "nodeSelector",
    "overhead",
    "priorityClassName",
    "restartPolicy",
    "tolerations",
)
"""the fields of a pod's spec that its Workload has"""
HASH_LETTERS = 8
ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Group:
    """Pods of one workload, by their age. `name` "" is a pod on its own."""

    name: str
    pods: tuple[Pod, ...]

    @property
    def counted(self) -> list[Pod]:
        """Those that count: they live, or have succeeded."""
        return [p for p in self.pods if is_live(p) or p.status.phase == "Succeeded"]

    @property
    def total(self) -> int:
        """How many pods it has; 0: nobody says."""
        return 1 if not self.name else max((total_of(p.metadata.annotations) for p in self.pods), default=0)

    @property
    def excess(self) -> list[Pod]:
        """Live pods that there are too many of."""
        over = len(self.counted) - self.total
        live = sorted((p for p in self.counted if is_live(p)), key=lambda p: (not is_gated(p), _age(p)))
        newest_first = [*reversed([p for p in live if is_gated(p)]), *reversed([p for p in live if not is_gated(p)])]
        return newest_first[:over] if self.total and over > 0 else []

    @property
    def replaced(self) -> list[Pod]:
        """Those that no longer count and whose place is taken, or need not be."""
        lost = [p for p in self.pods if p not in self.counted]
        missing = max(0, self.total - len(self.counted))
        return lost[: len(lost) - missing] if missing < len(lost) else []

    @property
    def complete(self) -> bool:
        """Whether its Workload can be made."""
        if not self.name:
            return bool(self.counted)
        fast = any(p.metadata.annotations.get(FAST) == "true" for p in self.counted)
        return bool(self.total and self.counted) and (fast or len(self.counted) >= self.total)


def total_of(annotations: Mapping[str, str]) -> int:
    """How many pods a group has; 0 where that is no number."""
    text = annotations.get(TOTAL, "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def is_gated(pod: Pod) -> bool:
    """Whether admission still holds it back."""
    return any(gate.name == GATE for gate in pod.spec.scheduling_gates)


def role_of(pod: Pod) -> str:
    """Its pod set's name in its group."""
    return pod.metadata.annotations.get(ROLE) or role_hash(_spec(pod))


def role_hash(spec: JsonObject) -> str:
    """The hash of a pod's shape; `spec` as JSON."""
    shape = {field: spec[field] for field in SHAPE if spec.get(field)}
    text = json.dumps(shape, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LETTERS]


def shapes(group: Group) -> list[JsonObject]:
    """The pod sets of its Workload, by name."""
    if not group.name:
        return [pod_set_of(group.pods[0], _spec(group.pods[0]), 1)]
    count = Counter(role_of(p) for p in group.counted)
    first = {role_of(p): p for p in reversed(group.counted)}
    missing = group.total - len(group.counted)
    if missing > 0:
        count[role_of(group.counted[0])] += missing
    return [pod_set_of(first[role], _spec(first[role]), count[role], role) for role in sorted(first)]


def pod_set_of(pod: Pod, spec: JsonObject, count: int, name: str = ALONE) -> JsonObject:
    """A pod set of pods like this one; `spec` is the pod's, as JSON."""
    template: JsonObject = {"spec": {key: value for key, value in spec.items() if key != "schedulingGates"}}
    return pod_set(PodSetShape(name, count, template, index_label=INDEX_LABEL, asked=pod.metadata.annotations))


def priority_source(group: Group) -> PriorityClassRef | None:
    """Which class gives the priority: a WorkloadPriorityClass that a pod names, else the first pods' PriorityClass."""
    for pod in group.pods:
        name = pod.metadata.labels.get(PRIORITY_CLASS_LABEL, "")
        if name:
            return PriorityClassRef(group="kueue.x-k8s.io", kind="WorkloadPriorityClass", name=name)
    classes = [p.spec.priority_class_name for p in group.pods if p.spec.priority_class_name]
    return PriorityClassRef(group="scheduling.k8s.io", kind="PriorityClass", name=classes[0]) if classes else None


def queue_of(group: Group) -> str:
    """The LocalQueue that its pods name."""
    return next((q for p in group.pods if (q := p.metadata.labels.get(QUEUE_LABEL, ""))), "")


def standing(group: Group) -> Standing:
    """Where it stands."""
    running = [p for p in group.pods if not is_gated(p) and p.status.phase not in ENDED]
    succeeded = [p for p in group.pods if p.status.phase == "Succeeded"]
    live = [p for p in group.pods if is_live(p)]
    finished, success = _finished(group, len(succeeded), running)
    ready = [p for p in group.counted if p.status.phase == "Succeeded" or (is_ready(p) and not is_gated(p))]
    given_back = Counter(p.metadata.labels.get(POD_SET_LABEL) or role_of(p) for p in succeeded)
    return Standing(
        suspended=all(is_gated(p) for p in live),
        active=bool(running),
        pods_ready=bool(group.total) and len(ready) >= group.total,
        finished=finished,
        succeeded=success,
        message=_message(group, len(succeeded)) if finished else "",
        reclaimable=dict(given_back) if group.name else {},
    )


def _finished(group: Group, succeeded: int, running: Sequence[Pod]) -> tuple[bool, bool]:
    if not group.name:
        phases = [p.status.phase for p in group.pods]
        return any(phase in ENDED for phase in phases), "Succeeded" in phases
    if group.total and succeeded >= group.total:
        return True, True
    given_up = any(p.metadata.annotations.get(RETRIABLE) == "false" for p in group.pods)
    gated = any(is_gated(p) and is_live(p) for p in group.pods)
    return given_up and not running and not gated, False


def _message(group: Group, succeeded: int) -> str:
    if not group.name:
        return f"The pod has ended: {group.pods[0].status.phase}."
    return f"Of {group.total} pods {succeeded} have succeeded."


def _spec(pod: Pod) -> JsonObject:
    written = to_json(pod.spec)
    assert isinstance(written, dict)
    return {field: written[field] for field in SHAPE if written.get(field)}


def _age(pod: Pod) -> tuple[str, str]:
    return pod.metadata.creation_timestamp or "", pod.metadata.name
