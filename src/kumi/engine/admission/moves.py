"""Moves: Kueue's way to set workloads aside and bring them back.

The rule, after an attempt
    StrictFIFO        it stays where it is, unless its namespace may not use the queue
    BestEffortFIFO    it stays if an earlier entry outran it, it waits for its victims, or its search left flavors to look at; of
                      these, who waits for victims sticks to the head of its lane. If it doesn't fit, or nobody may go for it, all
                      of its kind are set aside; for any other reason it alone is.
    who stays is tried again in the next cycle before which something happened in its tree
Events         quota given back, in the tree of the queue: everybody who was set aside there comes back; a queue, cohort, flavor
               or check that changed (../tree.py) does the same. Room on a node: everybody everywhere.
Why            it is what Kueue does. exact.py is how Kumi does it.
Order          queues by name.
Cost           O(those set aside in the tree) an event.
Source         Kueue: inadmissible workloads, requeueing strategy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kumi.engine.admission.verdicts import Outcome
from kumi.engine.model import ClusterQueue, Strategy
from kumi.engine.queues import Parked

if TYPE_CHECKING:
    from kumi.engine.state import State

STAYS = (Outcome.OUTRUN, Outcome.PENDING, Outcome.MIGRATING, Outcome.PREEMPTION_FAILED, Outcome.HELD)
STICKS = (Outcome.PENDING, Outcome.MIGRATING)
ALL_OF_THE_KIND = (Outcome.NO_FIT, Outcome.NO_CANDIDATES)


class Moves:
    """See the module and requeue.Way."""

    def settle(self, state: State, workload: str, outcome: Outcome, met: Parked) -> None:
        """See the module."""
        queues, spot = state.queues, state.queues.spot[workload]
        strategy = state.catalog.cluster_queues[spot.queue].strategy
        queues.unstick(workload)
        if outcome is Outcome.NAMESPACE:
            queues.park_alone(workload, replace(met, blocks=False))
        elif workload in queues.resume:
            pass  # it goes on with the next flavor, at once
        elif strategy is Strategy.STRICT or outcome in STAYS:
            queues.try_later(workload, met)
            if strategy is Strategy.BEST_EFFORT and outcome in STICKS:
                queues.stick(workload)
        elif outcome in ALL_OF_THE_KIND:
            queues.park(spot.queue, spot.kind, met)
        else:
            queues.park_alone(workload, met)

    def bring_back(self, state: State) -> None:
        """See the module."""
        queues = state.queues
        for root in sorted({state.quotas.root(queue) for queue in queues.freed}):
            for queue in state.quotas.queues(root):
                _wake(state, queue)
        for queue in list(queues.freed):
            state.journal.drop(queues.freed, queue)
        if state.nodes.gained_since(queues.nodes_seen).size:
            for queue in sorted(queues.lanes):
                _wake(state, queue)
        state.journal.swap(queues, "nodes_seen", state.nodes.changed)


def _wake(state: State, name: str) -> None:
    """Everybody of the queue whom it may take at all."""
    queue = state.catalog.cluster_queues.get(name)
    aside = {k: v for k, v in state.queues.alone.get(name, {}).items() if queue is None or _never(state, k, queue)}
    state.queues.wake_all(name)
    for workload in sorted(aside):
        state.queues.park_alone(workload, aside[workload])


def _never(state: State, workload: str, queue: ClusterQueue) -> bool:
    return not state.catalog.selects(queue, state.workloads[workload].namespace)


WAY = Moves()
