"""Requeue: when to try again.

The rule: a kind that couldn't start is set aside (../queues.py) with every no of its attempt, and each no says what may help:
    QUOTA_IN_USE            as much quota is available as the attempt needed there
    the nodes' noes         a node gained room, labels or readiness, takes one of the pods that were looked for and has room for
                            it; and one of the pod sets that were looked for can be placed, were it alone
    all others              the ClusterQueue, or one of its flavors, changed: then every kind of the queue is tried again
    an open-ended search    anything of the above
The first of a line is tried also when what it waits for has changed and is not enough yet: its numbers are what people watch.
One that was brought back and is reached when others have taken what could have helped it is set aside again, untried.
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
from kumi.engine.reasons import Code, Layer, Reason

if TYPE_CHECKING:
    from kumi.engine.admission.order import Kind
    from kumi.engine.placement.nodes import Ints
    from kumi.engine.state import State


def bring_back(state: State, now_ms: int) -> None:
    """Everything that may be tried at this time is in line, and ready if something could have helped it."""
    state.bring_back(now_ms)
    _wake_for_quota(state)
    _wake_for_nodes(state)


def may_fit(state: State, queue: str, parked: Parked) -> bool:
    """Is one of the noes no longer one? If not, an attempt would meet them all again."""
    return parked.open_ended or _quota_is_enough(state, queue, parked) or _nodes_are_enough(state, parked)


def _wake_for_quota(state: State) -> None:
    for queue in sorted(state.queues.freed):
        for kind, parked in list(state.queues.parked.get(queue, {}).items()):
            first = _is_first(state, queue, kind) and any(r.code is Code.QUOTA_IN_USE for r in _noes(parked))
            if first or parked.open_ended or _quota_is_enough(state, queue, parked):
                state.queues.wake(queue, kind)
        state.journal.drop(state.queues.freed, queue)


def _wake_for_nodes(state: State) -> None:
    rows = state.nodes.gained_since(state.queues.nodes_seen)
    if not rows.size:
        return
    for queue in sorted(state.queues.parked):
        for kind, parked in list(state.queues.parked[queue].items()):
            concerned = parked.open_ended or _may_go_there(state, rows, parked)
            if concerned and (_is_first(state, queue, kind) or may_fit(state, queue, parked)):
                state.queues.wake(queue, kind)
    state.journal.swap(state.queues, "nodes_seen", state.nodes.changed)


def _is_first(state: State, queue: str, kind: Kind) -> bool:
    return state.queues.members[queue][kind][0] == state.queues.line[queue][0]


def _noes(parked: Parked) -> tuple[Reason, ...]:
    return (parked.reason, *parked.others)


def _quota_is_enough(state: State, queue: str, parked: Parked) -> bool:
    return any(
        reason.code is Code.QUOTA_IN_USE
        and reason.need <= state.quotas.available(queue, (reason.flavor, reason.resource))
        for reason in _noes(parked)
    )


def _nodes_are_enough(state: State, parked: Parked) -> bool:
    """Can one of the pod sets that could not be placed, alone or with the others, now be placed alone?"""
    if all(reason.code.layer < Layer.GANG for reason in _noes(parked)):
        return False
    return any(int(state.site.fits(pods).clip(max=pods.count).sum()) >= pods.count for pods in parked.looked_for)


def _may_go_there(state: State, rows: Ints, parked: Parked) -> bool:
    """Does one of the rows take, and have room for, a pod that was looked for?"""
    if all(reason.code.layer < Layer.GANG for reason in _noes(parked)):
        return False
    return any(state.nodes.fits(pods.shape.requests, state.site.mask(pods), rows).any() for pods in parked.looked_for)
