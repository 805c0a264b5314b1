"""Cycle: the steps of admission, and no rule of its own.

    1  what could have been helped since is brought back                        requeue.py
    2  what must stop is evicted                                                stops.py
    3  the head of every open queue, in order                                   ../queues.py, order.py
    4     is tried: flavors, quota and nodes in one trial; kept whole or not    flavors.py, quota.py, ../placement/gang.py
    5     one that can't start is set aside with its record; in a StrictFIFO queue it blocks
       again from 3 until no queue has a head
    6  those who come in line and were not tried are told where they stand      records.py

Fixed point   every attempt admits a workload or sets a kind aside, and admitting helps nobody: the loop ends, and another
              cycle without input between them decides nothing.
Waiting       in a BestEffortFIFO queue smaller workloads pass a large one that can't start, again and again; where that is
              not wanted, StrictFIFO keeps its place.
Cost          O(attempts x (log n + an attempt)).
Source        Kueue: the scheduling cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.admission import flavors, records, requeue, stops
from kumi.engine.admission.order import Place
from kumi.engine.decisions import Admit, Decision, Hold
from kumi.engine.model import ClusterQueue

if TYPE_CHECKING:
    from kumi.engine.state import State


def decide(state: State, now_ms: int) -> list[Decision]:
    """Everything that admission has to say now: each decision is assumed."""
    decided: list[Decision] = []
    requeue.bring_back(state, now_ms)
    decided += stops.evictions(state)
    while heads := _heads(state):
        for _, key, queue in heads:
            decided += _attempt(state, key, queue, now_ms)
    decided += records.tell(state, now_ms)
    return decided


def _heads(state: State) -> list[tuple[Place, str, ClusterQueue]]:
    """One workload a queue, in the order in which they are tried."""
    heads = []
    for name in sorted(state.queues.hot):
        queue = state.catalog.cluster_queues.get(name)
        key = state.queues.head(name, queue.strategy) if queue is not None and not state.catalog.closed(name) else None
        if queue is None or key is None:
            state.queues.cool(name)
        else:
            heads.append((state.queues.spot[key].place, key, queue))
    return sorted(heads, key=lambda head: head[0])


def _attempt(state: State, key: str, queue: ClusterQueue, now_ms: int) -> list[Admit | Hold]:
    """Quota and nodes in one trial: all of it is kept, or nothing."""
    workload, spot = state.workloads[key], state.queues.spot[key]
    before = state.queues.woken.get(queue.name, {}).get(spot.kind)
    if before is not None and state.queues.position(key) > 1 and not requeue.may_fit(state, queue.name, before):
        state.queues.park(queue.name, spot.kind, before)
        return []
    with state.trial() as trial:
        found = flavors.assign(state, workload, queue)
        if not isinstance(found, flavors.Refused):
            admit = Admit(key, found)
            state.assume(admit)
            trial.commit()
            return [admit]
    parked = records.parked(state, workload, queue.name, found)
    state.queues.park(queue.name, spot.kind, parked)
    return [*records.hold(state, key, records.in_line(state, key, parked), now_ms)]
