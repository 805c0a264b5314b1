"""Order: who goes first.

The rule   higher priority first; then the earlier time; then the smaller uid; then the smaller key.
The time   is the workload's creation, or its `queued_ms` where it has one.
Equal      workloads of one priority whose pod sets are equal are of one kind: where one of them can't start now, none can.
Why        a total order: two runs, two replicas and the time machine decide alike. A kind that can't start is set aside
           at once, so a thousand equal jobs cost one attempt an event.
Units      milliseconds.
Cost       O(1); a kind remembers its hash.
Source     Kueue: queueing order, scheduling equivalence classes.
Not here   queues in line: ../queues.py; when a kind is tried again: requeue.py.
"""

from __future__ import annotations

from typing import TypeAlias

from kumi.engine.model import PodSet, Workload

Place: TypeAlias = tuple[int, int, str, str]
"""(-priority, time, uid, key): a place in line; smaller is nearer to the head"""


class Kind:
    """Priority and pod sets: what an attempt reads of a workload, apart from its queue."""

    __slots__ = ("_hash", "pod_sets", "priority")

    def __init__(self, priority: int, pod_sets: tuple[PodSet, ...]) -> None:
        self.priority, self.pod_sets = priority, pod_sets
        self._hash = hash((priority, pod_sets))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Kind)
            and self._hash == other._hash
            and self.priority == other.priority
            and self.pod_sets == other.pod_sets
        )


def place(workload: Workload) -> Place:
    """Where the workload stands among others of its queue."""
    return (-workload.priority, workload.queued_ms or workload.created_ms, workload.uid, workload.key)


def kind(workload: Workload) -> Kind:
    """The workload's kind."""
    return Kind(workload.priority, workload.pod_sets)
