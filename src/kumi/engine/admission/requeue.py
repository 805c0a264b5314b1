"""Requeue: where a workload goes after an attempt, and when it is tried again.

The rule       a profile's way (WAYS) says both
                   kumi     exact.py: everything that an attempt met says what may help; whoever could be helped is brought back
                   kueue    moves.py: the reason of the attempt says whether it stays or is set aside; an event brings back
                            everybody of the tree that it happened in
Not queued     a workload that waits for the end of a back-off comes in line when that is over; one that waits for a queue, a
               namespace, a gate or its own activation comes in line when that is there (../catalog.py).
Ready pods     who was held until the pods of all others are ready is tried again when they are.
Claims         of queues in whose tree quota was freed are looked at again (live.py).
Cost           that of the way; nothing when idle.
Source         Kueue: inadmissible workloads, requeueing strategy.
Not here       which events free what: ../state.py; heads: ../queues.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kumi.engine.admission import exact, moves
from kumi.engine.admission.verdicts import Outcome
from kumi.engine.queues import Parked
from kumi.engine.reasons import Code

if TYPE_CHECKING:
    from kumi.engine.state import State


class Way(Protocol):
    """A way to set aside and to bring back."""

    def settle(self, state: State, workload: str, outcome: Outcome, met: Parked) -> None:
        """The workload was tried and can't start now."""

    def bring_back(self, state: State) -> None:
        """Whoever may have been helped since the last time may be tried again."""


WAYS: dict[str, Way] = {"kumi": exact.WAY, "volcano": exact.WAY, "kueue": moves.WAY}
"""by the profile's name"""


def settle(state: State, workload: str, outcome: Outcome, met: Parked) -> None:
    """The workload was tried and can't start now: where it waits from here."""
    WAYS[state.profile.name].settle(state, workload, outcome, met)


def bring_back(state: State, now_ms: int) -> None:
    """Everything that may be tried at this time is in line, and ready if something could have helped it."""
    state.bring_back(now_ms)
    ready = state.profile.settings.pods_ready
    if ready is not None and ready.block_admission and not state.unready:
        _let_go(state)
    freed = {state.quotas.root(queue) for queue in state.queues.freed}
    for preemptor, claim in state.claims.of.items():
        if freed and state.quotas.root(claim.admission.cluster_queue) in freed:
            state.journal.put(state.claims.due, preemptor, None)
    WAYS[state.profile.name].bring_back(state)


def _let_go(state: State) -> None:
    """The pods of all who hold quota are ready."""
    for queue in sorted(state.queues.tried):
        if any(met.reason.code is Code.PODS_NOT_READY for met in state.queues.tried[queue].values()):
            state.queues.stir(queue)
