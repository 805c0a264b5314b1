"""Exact: Kumi's way to set workloads aside and bring them back.

The rule, after an attempt
    a kind that can't start is set aside with every no of its attempt; a workload that waits for its victims is set aside alone,
    until its claim is taken up (live.py); where the order is strict either keeps the line waiting
    one that fits, and may not start before the pods of others are ready, stays and is tried again when they are
Each no says what may help:
    QUOTA_IN_USE            as much quota is available as the attempt needed there; where eviction was thought of, any quota that
                            is given back in the tree
    the nodes' noes         a node gained room, labels or readiness, takes one of the pods that were looked for and has room for
                            it; and one of the pod sets that were looked for can be placed, were it alone
    all others              the ClusterQueue, its cohorts, or one of its flavors changed: then every kind is tried again
    an open-ended search    anything of the above
The first of a line is tried also when what it waits for has changed and is not enough yet: its numbers are what people watch.
One that was brought back and is reached when others have taken what could have helped it is set aside again, untried.
Why            exactly those are tried that the event could help: an attempt fails for one of its noes as long as none of
               them has changed.
Order          queues by name.
Cost           O(parked kinds of the trees where quota was freed), O(parked kinds x changed nodes); nothing when idle.
Source         Kumi's own; Kueue's way is moves.py.
Not here       the noes: flavors.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.admission.verdicts import Outcome
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code, Layer, Reason

if TYPE_CHECKING:
    from kumi.engine.admission.order import Kind
    from kumi.engine.placement.nodes import Ints
    from kumi.engine.state import State


class Exact:
    """See the module and requeue.Way."""

    def settle(self, state: State, workload: str, outcome: Outcome, met: Parked) -> None:
        """See the module."""
        spot = state.queues.spot[workload]
        if outcome is Outcome.PENDING:
            state.queues.park_alone(workload, met)
        elif outcome is Outcome.HELD:
            state.queues.try_later(workload, met)
        else:
            state.queues.park(spot.queue, spot.kind, met)

    def bring_back(self, state: State) -> None:
        """See the module."""
        _wake_for_quota(state)
        _wake_for_nodes(state)


def may_fit(state: State, queue: str, parked: Parked) -> bool:
    """Is one of the noes no longer one? If not, an attempt would meet them all again."""
    return (
        parked.open_ended
        or parked.evicting
        or _quota_is_enough(state, queue, parked)
        or _nodes_are_enough(state, parked)
    )


def _wake_for_quota(state: State) -> None:
    queues = state.queues
    for root in sorted({state.quotas.root(queue) for queue in queues.freed}):
        for queue in state.quotas.queues(root):
            for kind, parked in list(queues.parked.get(queue, {}).items()):
                first = queue in queues.freed and _is_first(state, queue, kind)
                first = first and any(r.code is Code.QUOTA_IN_USE for r in _noes(parked))
                if first or parked.open_ended or parked.evicting or _quota_is_enough(state, queue, parked):
                    queues.wake(queue, kind)
    for queue in list(queues.freed):
        state.journal.drop(queues.freed, queue)


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
    return state.queues.spot[state.queues.first(queue)].kind == kind


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
    return any(state.site.may_fit(pods) for pods in parked.looked_for)


def _may_go_there(state: State, rows: Ints, parked: Parked) -> bool:
    """Does one of the rows take, and have room for, a pod that was looked for? A pod that looks at others may find any row
    changed by who left one."""
    if all(reason.code.layer < Layer.GANG for reason in _noes(parked)):
        return False
    for pods in parked.looked_for:
        looked_at = slice(None) if pods.shape.neighbours is not None else rows
        if state.nodes.places(pods.shape, state.site.mask(pods), looked_at).any():
            return True
    return False


WAY = Exact()
