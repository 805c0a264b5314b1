"""Order: who goes first in a queue.

The rule   higher priority first; then the earlier time; then the smaller uid; then the smaller key.
The time   is the workload's creation, or its `queued_ms` where it has one.
By usage   in a ClusterQueue that admits by usage, LocalQueues take turns first: whose past usage is smaller (usage.py). Each of
           them has a lane of its own in the line, in the order above (../queues.py).
Equal      workloads of which an attempt reads the same (priority, pod sets, flavors allowed, slice replaced) are of one kind:
           where one of them can't start now, none can. Labels that a server or a controller gives the pods of each job as its
           own (JOBS_OWN) make no kind: who looks for them says so in his affinity, which is a part of the pod set.
Why        a total order: two runs, two replicas and the time machine decide alike. A kind that can't start is set aside
           at once, so a thousand equal jobs cost one attempt an event.
Units      milliseconds.
Cost       O(1); a kind remembers its hash.
Source     Kueue: queueing order, scheduling equivalence classes.
Not here   queues in line: ../queues.py; heads of different queues: entries.py; when a kind is tried again: requeue.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from kumi.engine.model import PodSet, Workload

Place: TypeAlias = tuple[int, int, str, str]
"""(-priority, time, uid, key): a place in line; smaller is nearer to the head"""


JOBS_OWN = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
    "training.kubeflow.org/job-name",
)
"""labels of which no two jobs have the same"""


class Kind:
    """What an attempt reads of a workload, apart from its queue: priority, pod sets, and whatever else `apart` has."""

    __slots__ = ("_hash", "apart", "pod_sets", "priority")

    def __init__(self, priority: int, pod_sets: tuple[PodSet, ...], apart: tuple[object, ...] = ()) -> None:
        self.priority, self.pod_sets, self.apart = priority, pod_sets, apart
        self._hash = hash((priority, pod_sets, apart))

    def __reduce__(self) -> tuple[type[Kind], tuple[int, tuple[PodSet, ...], tuple[object, ...]]]:
        """Made anew where it is read: a hash holds for one process only."""
        return Kind, (self.priority, self.pod_sets, self.apart)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Kind)
            and self._hash == other._hash
            and self.priority == other.priority
            and self.pod_sets == other.pod_sets
            and self.apart == other.apart
        )


def stamp_ms(workload: Workload) -> int:
    """Since when it queues, as far as the order is concerned."""
    return workload.queued_ms or workload.created_ms


def place(workload: Workload) -> Place:
    """Where the workload stands among others of its lane."""
    return (-workload.priority, workload.queued_ms or workload.created_ms, workload.uid, workload.key)


def kind(workload: Workload) -> Kind:
    """The workload's kind."""
    apart: tuple[object, ...] = ()
    if workload.allowed_flavors is not None or workload.replaces:
        apart = (workload.allowed_flavors, workload.replaces)
    return Kind(workload.priority, tuple(map(_shared, workload.pod_sets)), apart)


def _shared(pods: PodSet) -> PodSet:
    """The pod set without what is its own job's alone."""
    if not any(key in JOBS_OWN for key, _ in pods.labels):
        return pods
    return replace(pods, labels=tuple(label for label in pods.labels if label[0] not in JOBS_OWN))
