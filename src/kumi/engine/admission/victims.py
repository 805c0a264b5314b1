"""Victims: how few of the candidates have to go for a workload to fit. The state is left as it was.

The rule       candidates are taken until the workload fits (rounds.py; where dominant shares decide, by_shares.py), then those
               are put back without whom it fits as well (attempt.py).
Possibility    before all flavors are chosen, the same for one flavor-resource alone: nobody, some of its own queue, or others
               only.
Profiles       `kueue`   goes once through those who were taken, looks at quota only, and not at the number of pods
               `kumi`    until nobody at all can be spared, borrowing or not; the workload must be seated whole with the victims
                         gone, in quota and, where Kumi places, on nodes: what it will get is known at once
Spoken for     where quota is seen as promised (../claims.py), those who leave for others already are nobody's candidates; nor is
               the slice of an elastic job that the workload replaces.
Why            who is evicted for nothing starts over for nothing.
Cost           O(victims x depth), with shares times the queues of the tree that borrow.
Source         Kueue: preemption. That nodes have a say is Kumi's own.
Not here       who may be evicted: candidates.py; that it is done: snapshot.py, live.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kumi.engine.admission import by_shares, flavors, rounds
from kumi.engine.admission.assignment import Assignment, Mode
from kumi.engine.admission.attempt import Attempt, spare_all, spare_once
from kumi.engine.admission.candidates import Candidate, Preemptor
from kumi.engine.admission.considered import told
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.claims import leave_nodes
from kumi.engine.model import ClusterQueue, Workload
from kumi.engine.placement.nodes import PODS
from kumi.engine.reasons import Considered, Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


class Spare(Protocol):
    """Puts back who is not needed."""

    def __call__(self, attempt: Attempt, *, borrowing: bool) -> None:
        """`borrowing`: whether the preemptor may."""


@dataclass(frozen=True, slots=True)
class Target:
    """Somebody who has to go, and by which rule (the reason of the condition Preempted)."""

    workload: str
    queue: str
    cause: str


@dataclass(frozen=True, slots=True)
class Found:
    """Who has to go, () where nobody suffices; `plan`: what the workload gets then, where claims are kept; `considered`: who was
    thought of."""

    targets: tuple[Target, ...] = ()
    plan: Assignment | None = None
    considered: tuple[Considered, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """What profiles do differently. `seats`: the workload must be seated whole; `counts_pods`: also the number of its pods has
    to fit when victims are looked for."""

    spare: Spare
    seats: bool
    counts_pods: bool


KUMI = Way(spare_all, seats=True, counts_pods=True)
WAYS: dict[str, Way] = {"kumi": KUMI, "volcano": KUMI, "kueue": Way(spare_once, seats=False, counts_pods=False)}
"""by the profile's name"""


@dataclass(frozen=True, slots=True)
class Search:
    """Victims for one workload; an oracle for its flavors (assignment.Oracle)."""

    state: State
    workload: Workload
    queue: ClusterQueue
    left_out: tuple[str, ...] = ()
    """queues that nobody is taken from"""

    def possibility(self, fr: FlavorResource, amount: int) -> tuple[Mode, int]:
        """Who would have to go for so much of one flavor-resource, and the level at which it is borrowed after that."""
        preemptor = self._preemptor({fr: amount}, (fr,))
        victims = self._victims(Attempt(self.state, preemptor))
        with self.state.trial():
            for victim in victims:
                for held, usage in self.state.holdings.usage[victim.key].items():
                    self.state.quotas.add(victim.queue, held, -usage)
            level, _ = self.state.quotas.level(self.queue.name, fr, amount)
        if not victims:
            return Mode.NO_CANDIDATES, level
        return Mode.PREEMPT if any(v.queue == self.queue.name for v in victims) else Mode.RECLAIM, level

    def find(self, wanted: Assignment) -> Found:
        """Who would have to go for the assignment."""
        counted = self._way.counts_pods
        requests = {fr: amount for fr, amount in wanted.usage.items() if counted or fr[1] != PODS}
        preemptor = self._preemptor(requests, wanted.contended)

        def seat(gone: list[Candidate]) -> Assignment | None:
            return self._seat(wanted, gone)

        attempt = Attempt(self.state, preemptor, seat if self._way.seats else None)
        victims = self._victims(attempt)
        targets = tuple(Target(v.key, v.queue, v.cause) for v in victims)
        return Found(targets, attempt.plan if targets else None, told(attempt, victims))

    @property
    def _way(self) -> Way:
        return WAYS[self.state.profile.name]

    def _victims(self, attempt: Attempt) -> list[Candidate]:
        fair = self.state.profile.settings.fair
        with self.state.trial():
            borrowed = rounds.make_room(attempt) if fair is None else by_shares.make_room(attempt, fair)
            if borrowed is not None:
                self._way.spare(attempt, borrowing=borrowed)
        return attempt.taken

    def _preemptor(self, requests: dict[FlavorResource, int], contended: tuple[FlavorResource, ...]) -> Preemptor:
        leave_out = dict(self.state.claims.spoken) if self.state.claims.shown else {}
        if self.workload.replaces:
            leave_out[self.workload.replaces] = self.workload.key
        return Preemptor(self.workload, self.queue, requests, contended, leave_out, self.left_out)

    def _seat(self, wanted: Assignment, gone: list[Candidate]) -> Assignment | None:
        with self.state.trial():
            if self.state.profile.places:
                for victim in gone:
                    leave_nodes(self.state, victim.key)
            found = flavors.seat(self.state, self.workload, self.queue, wanted)
        return None if isinstance(found, Reason) else found
