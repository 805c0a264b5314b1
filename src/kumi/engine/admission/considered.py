"""Considered: who was thought of when room was to be made, and why not.

The rule       victims are told with their cause; those that were taken and turned out not to be needed as NotNeeded. Where nobody
               suffices, the first candidates as NotEnough: with them gone it would still not fit. Then those who hold most of
               what is contended in the preemptor's own queue, and aren't candidates:
                   Spoken     another preemptor waits for it already
                   Policy     the queue evicts nobody of its own
                   Priority   it is not lower (nor equal and queued later, where that counts)
Limits         at most 8 of each sort but victims: a record is for people.
Cost           O(1) candidates.
Source         Kumi's own.
Not here       the record: records.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from kumi.engine.admission.attempt import Attempt
from kumi.engine.admission.candidates import Candidate, Preemptor, in_line, sharers, sources
from kumi.engine.model import Evictable
from kumi.engine.reasons import Considered

if TYPE_CHECKING:
    from kumi.engine.state import State

AT_MOST = 8


def told(attempt: Attempt, victims: list[Candidate]) -> tuple[Considered, ...]:
    """See the module."""
    state = attempt.state
    if victims:
        going = [Considered(v.key, _job(state, v.key), cause=v.cause) for v in victims]
        spared = [(candidate.key, "NotNeeded") for candidate in attempt.spared[:AT_MOST]]
    else:
        going, spared = [], [(key, "NotEnough") for key in islice(_first(state, attempt.preemptor), AT_MOST)]
        seen = {key for key, _ in spared}
        spared += [(key, why) for key, why in _not_candidates(state, attempt.preemptor) if key not in seen]
    return (*going, *(Considered(key, _job(state, key), why_not=why) for key, why in spared))


def _first(state: State, preemptor: Preemptor) -> Iterator[str]:
    fair = state.profile.settings.fair is not None
    queues = sharers(state, preemptor) if fair else [source.queue for source in sources(state, preemptor)]
    for queue in (*queues, preemptor.queue.name):
        for standing in in_line(state, preemptor, queue):
            yield standing.key


def _not_candidates(state: State, preemptor: Preemptor) -> Iterator[tuple[str, str]]:
    never = preemptor.queue.preemption.within is Evictable.NEVER
    holders = {
        key: None
        for fr in preemptor.contended
        for _, key, _ in state.holdings.by_quota.get((preemptor.queue.name, fr), ())[:AT_MOST]
    }
    for key in list(holders)[:AT_MOST]:
        yield key, "Spoken" if key in preemptor.leave_out else "Policy" if never else "Priority"


def _job(state: State, key: str) -> str:
    return state.workloads[key].job
