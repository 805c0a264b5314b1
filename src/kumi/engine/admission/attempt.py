"""Attempt: one try to make room for a workload, in a trial that is never kept.

The rule       whoever is taken is off the quota tree, whoever is put back is on it again. The preemptor fits where all that it
               asks for is available; without borrowing, also only if its queue then uses no more than is its own; where it has
               to be seated, also only if it is, whole, with those who were taken gone.
Spared         who turns out not to be needed is put back
                   once   from the second last taken back to the first. With quota alone nobody can be spared after that: more
                          room never makes less fit, so the last taken is needed, and so is who was before.
                   all    again and again, everybody, until nobody can be: seats on nodes are not only a matter of more or less.
                          It may borrow as soon as nobody is left for whom it may not, and not before: what it took back as
                          its own stays within its own
Hopeless       what all candidates hold together is known per priority (../holdings.py): where the workload doesn't fit even
               with all of that gone, nobody has to be looked at.
Looked at      seats are looked for only when twice as many were taken as the last time, and when there is nobody left to take.
Cost           O(depth) a candidate and flavor-resource; a look for seats is what it costs to place the workload.
Source         Kueue: preemption.
Not here       who is taken, and in which order: candidates.py, rounds.py, by_shares.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from kumi.engine.admission.assignment import Assignment
from kumi.engine.admission.candidates import Candidate, Preemptor, limit_of

if TYPE_CHECKING:
    from kumi.engine.state import State

Seat: TypeAlias = Callable[[list[Candidate]], Assignment | None]
"""what the preemptor would get with these gone, whose usage is off the tree already"""


@dataclass(slots=True)
class Attempt:
    """See the module. `taken`: who is gone now; `spared`: who was, and isn't needed; `plan`: what the preemptor gets, where it
    has to be seated."""

    state: State
    preemptor: Preemptor
    seat: Seat | None = None
    taken: list[Candidate] = field(default_factory=list)
    spared: list[Candidate] = field(default_factory=list)
    plan: Assignment | None = None
    _shown: bool = False
    _look_at: int = 0

    def take(self, candidate: Candidate) -> None:
        """It is gone."""
        self.taken.append(candidate)
        self._count(candidate, -1)

    def put_back(self, at: int = -1) -> Candidate:
        """It is there again; the last taken, unless its number is said."""
        candidate = self.taken.pop(at)
        self._count(candidate, 1)
        return candidate

    def show(self, *, added: bool) -> None:
        """The preemptor's usage counts as added, or not; it doesn't at first."""
        if added != self._shown:
            for fr, amount in self.preemptor.requests.items():
                self.state.quotas.add(self.preemptor.queue.name, fr, amount if added else -amount)
            self._shown = added

    def enough(self, *, borrowing: bool = True, look: bool = True) -> bool:
        """Does the preemptor fit now? `look` False: see Looked at."""
        shown = self._shown
        self.show(added=False)
        fits = self._quota_fits(borrowing) and self._seated(look)
        self.show(added=shown)
        return fits

    def hopeless(self, queues: Iterable[str]) -> bool:
        """Would it not fit even if all that may go, of its own queue and of these, were gone? "No" may be wrong."""
        state, preemptor = self.state, self.preemptor
        if not any(amount > 0 for amount in preemptor.requests.values()):
            return False
        with state.trial():
            for queue in (preemptor.queue.name, *queues):
                limit = limit_of(preemptor, queue)
                for fr in preemptor.contended:
                    held = state.holdings.by_priority.get((queue, fr), {})
                    going = sum(held.values()) if limit is None else sum(n for p, n in held.items() if p < limit)
                    state.quotas.add(queue, fr, -going)
            asked = {fr: preemptor.requests[fr] for fr in preemptor.contended if fr in preemptor.requests}
            return not state.quotas.fits(preemptor.queue.name, asked)

    def _count(self, candidate: Candidate, times: int) -> None:
        for fr, amount in self.state.holdings.usage[candidate.key].items():
            self.state.quotas.add(candidate.queue, fr, times * amount)

    def _quota_fits(self, borrowing: bool) -> bool:
        quotas, queue, requests = self.state.quotas, self.preemptor.queue.name, self.preemptor.requests
        if not borrowing and any(quotas.over(queue, fr, amount) for fr, amount in requests.items()):
            return False
        return quotas.fits(queue, requests)

    def _seated(self, look: bool) -> bool:
        if self.seat is None:
            return True
        if not look and len(self.taken) < self._look_at:
            return False
        plan = self.seat(self.taken)
        self._look_at = 2 * len(self.taken)
        self.plan = plan or self.plan
        return plan is not None


def spare_once(attempt: Attempt, *, borrowing: bool) -> None:
    """See the module; the last taken fills the place of who is put back."""
    for at in reversed(range(len(attempt.taken) - 1)):
        candidate = attempt.put_back(at)
        if attempt.enough(borrowing=borrowing):
            attempt.spared.append(candidate)
        else:
            attempt.take(candidate)
        attempt.taken.insert(at, attempt.taken.pop())


def spare_all(attempt: Attempt, *, borrowing: bool) -> None:
    """See the module; it may borrow while nobody is taken for whom it may not, however the last round was."""
    before = len(attempt.taken) + 1
    while len(attempt.taken) < before:
        before = len(attempt.taken)
        for at in reversed(range(before)):
            candidate = attempt.put_back(at)
            if attempt.enough(borrowing=all(left.lends for left in attempt.taken)):
                attempt.spared.append(candidate)
            else:
                attempt.take(candidate)
                attempt.taken.insert(at, attempt.taken.pop())
