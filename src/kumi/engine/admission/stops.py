"""Stops: which workloads that hold quota must be evicted, preemption aside.

The rule, in this order:
    Deactivated           its user made it inactive
    ClusterQueueStopped   its ClusterQueue's stopPolicy is HoldAndDrain
    LocalQueueStopped     its LocalQueue's stopPolicy is HoldAndDrain
    NodeFailures          something that it was promised is lost with a node (../reservations.py), or one of its pods needs a
                          place that is lost (../placement/session.py)
One that is being evicted is not evicted again. It keeps its quota until its admission is taken away.
Why            an eviction is decided once, and again only if its write was refused.
Order and ties by key.
Cost           O(those whose queue, object or node changed).
Source         Kueue: stopPolicy, Workload's active field, eviction reasons; node failures with topology-aware scheduling.
Not here       who must go for others: comes with preemption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.decisions import Evict
from kumi.engine.model import StopPolicy
from kumi.engine.placement import session
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


def evictions(state: State) -> list[Evict]:
    """Every eviction that is due, assumed."""
    decided = []
    for key in sorted(state.to_check):
        evict = _eviction(state, key)
        if evict is not None:
            state.assume(evict)
            decided.append(evict)
        state.journal.drop(state.to_check, key)
    return decided


def _eviction(state: State, key: str) -> Evict | None:
    admission, workload = state.holdings.admission.get(key), state.workloads.get(key)
    if admission is None or workload is None or state.is_stopping(key):
        return None
    if not workload.active:
        return Evict(key, "Deactivated", Reason(Code.INACTIVE))
    queue = state.catalog.cluster_queues.get(admission.cluster_queue)
    if queue is not None and queue.stop is StopPolicy.HOLD_AND_DRAIN:
        return Evict(key, "ClusterQueueStopped", Reason(Code.CLUSTER_QUEUE_STOPPED, where=queue.name))
    local = state.catalog.local_queues.get(workload.queue)
    if local is not None and local.stop is StopPolicy.HOLD_AND_DRAIN:
        return Evict(key, "LocalQueueStopped", Reason(Code.LOCAL_QUEUE_STOPPED, where=local.key))
    if state.profile.places:
        node = state.reservations.lost_node(workload, admission) or session.lost_place(state, workload)
        if node:
            return Evict(key, "NodeFailures", Reason(Code.RESERVATION_LOST, where=node))
    return None
