"""Rounds: who goes where dominant shares don't decide.

The rule       candidates in their order (candidates.py) are taken until the preemptor fits, in one or two rounds; a round that
               isn't enough is taken back
                   borrowing only             where no other queue has candidates; or where the preemptor may not borrow for
                                              others and its queue isn't strictly below its nominal quota of all contended
                   not borrowing, borrowing   where it may not borrow for others and has a right to nobody's quota
                   borrowing, not borrowing   else
               A round that borrows leaves out those for whom the preemptor may not.
Why            for what is its own a queue takes back from anybody; to borrow more than its own it only takes from whom it may.
Cost           O(candidates looked at x depth).
Source         Kueue: preemption, hierarchical cohorts (KEP-79).
Not here       who is a candidate: candidates.py; the other way: by_shares.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.admission.attempt import Attempt
from kumi.engine.admission.candidates import Preemptor, Source, any_of, round_of, sources
from kumi.engine.model import Evictable

if TYPE_CHECKING:
    from kumi.engine.state import State


def make_room(attempt: Attempt) -> bool | None:
    """Takes whoever has to go; whether the last round borrowed. None: nobody is enough, and nobody is taken."""
    state, preemptor = attempt.state, attempt.preemptor
    others = sources(state, preemptor)
    if attempt.hopeless(source.queue for source in others):
        return None
    for borrowing in _rounds(state, preemptor, others):
        for candidate in round_of(state, preemptor, others, borrowing=borrowing):
            attempt.take(candidate)
            if attempt.enough(borrowing=borrowing, look=False):
                return borrowing
        if attempt.taken and attempt.enough(borrowing=borrowing):
            return borrowing
        while attempt.taken:
            attempt.put_back()
    return None


def _rounds(state: State, preemptor: Preemptor, others: list[Source]) -> tuple[bool, ...]:
    """Whether each of the rounds borrows."""
    never = preemptor.queue.preemption.borrowing is Evictable.NEVER
    if not any_of(state, preemptor, others) or (never and not _has_own_left(state, preemptor)):
        return (True,)
    if never and not any_of(state, preemptor, (source for source in others if source.by_right)):
        return (False, True)
    return (True, False)


def _has_own_left(state: State, preemptor: Preemptor) -> bool:
    """Is its queue strictly below its nominal quota of all that is contended?"""
    quotas, queue = state.quotas, preemptor.queue.name
    return all(quotas.used(queue, fr) < quotas.subtree(queue, fr) for fr in preemptor.contended)
