"""Requeue: when to try again.

The rule: a kind that couldn't start is set aside (../queues.py) with every no of its attempt, and each no says what may help:
    QUOTA_IN_USE            as much quota is available as the attempt needed there
    the nodes' noes         a node gained room, labels or readiness, takes one of the shapes that were looked for and has
                            room for one pod of it
    all others              the ClusterQueue, or one of its flavors, changed: then every kind of the queue is tried again
    an open-ended search    anything of the above
Not queued     a workload that waits for the end of a back-off comes in line when that is over; one that waits for a queue, a
               namespace or its own activation comes in line when that is there (../catalog.py).
Why            exactly those are tried that the event could help: an attempt fails for one of its noes as long as none of
               them has changed.
Cost           O(parked kinds of the queues where quota was freed), O(parked kinds x changed nodes); nothing when idle.
Source         Kueue: inadmissible workloads, requeueing strategy. The exact conditions are Kumi's own.
Not here       the noes: flavors.py; which events free what: ../state.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Layer

if TYPE_CHECKING:
    from kumi.engine.placement.nodes import Ints
    from kumi.engine.state import State


def bring_back(state: State, now_ms: int) -> None:
    """Everything that may be tried at this time is in line, and ready if something could have helped it."""
    state.bring_back(now_ms)
    _wake_for_quota(state)
    _wake_for_nodes(state)


def _wake_for_quota(state: State) -> None:
    for queue in sorted(state.queues.freed):
        for kind, parked in list(state.queues.parked.get(queue, {}).items()):
            if parked.open_ended or _quota_helps(state, queue, parked):
                state.queues.wake(queue, kind)
        state.journal.drop(state.queues.freed, queue)


def _quota_helps(state: State, queue: str, parked: Parked) -> bool:
    return any(
        reason.code is Code.QUOTA_IN_USE
        and reason.need <= state.quotas.available(queue, (reason.flavor, reason.resource))
        for reason in (parked.reason, *parked.others)
    )


def _wake_for_nodes(state: State) -> None:
    rows = state.nodes.gained_since(state.queues.nodes_seen)
    if not rows.size:
        return
    for queue in sorted(state.queues.parked):
        for kind, parked in list(state.queues.parked[queue].items()):
            if parked.open_ended or _nodes_help(state, rows, parked):
                state.queues.wake(queue, kind)
    state.journal.swap(state.queues, "nodes_seen", state.nodes.changed)


def _nodes_help(state: State, rows: Ints, parked: Parked) -> bool:
    if all(reason.code.layer < Layer.GANG for reason in (parked.reason, *parked.others)):
        return False
    for shape in parked.shapes:
        mask = state.site.plugins.filter.mask(state.nodes, shape)
        if state.nodes.fits(shape.requests, mask, rows).any():
            return True
    return False
