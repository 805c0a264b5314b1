"""Live: Kumi's way with the entries of a cycle. Each is judged by the state as it is when its turn comes.

The rule, for one entry after the other
    1  something was decided since it was nominated: what fitted and still does stays as it is, but for its nodes; everything
       else is nominated anew
    2  it fits: ADMITTED (HELD while admitted pods are not ready)
    3  with its targets gone, or those of others, it fits whole, in quota and on nodes: PENDING, and from now on it claims that
       (../claims.py)
    4  else NO_FIT, or NO_CANDIDATES where eviction was thought of
A claim is taken up, before any head is tried, as soon as what was promised is free; it is given up when all its victims are
gone and it is not free after all, when its queue is closed, or when quota was cut below what is promised: its workload is tried
like any other.
Why            what is decided counts at once, for quota and nodes: two entries never take the same, two preemptors never the
               same victim, and no victim goes for nothing. Between two inputs a workload is preempted once at most: one that is
               going is nobody's candidate.
Order          entries.py; claims by the places of their workloads.
Cost           O(entries that are nominated anew), O(claims that are due).
Source         Kumi's own.
Not here       Kueue's way: snapshot.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

from kumi.engine.admission import flavors
from kumi.engine.admission.assignment import Assignment
from kumi.engine.admission.entries import Entry, ordered
from kumi.engine.admission.nominate import nominate
from kumi.engine.admission.order import place
from kumi.engine.admission.verdicts import Outcome, Verdict
from kumi.engine.claims import Claim
from kumi.engine.reasons import Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


def process(state: State, entries: list[Entry]) -> Iterator[Verdict]:
    """See the module; each verdict is carried out before the next is asked for."""
    changed: Counter[str] = Counter()
    for entry in ordered(state, entries):
        root = state.quotas.root(entry.queue.name)
        seen = (changed[root], changed.total() if state.profile.places else 0)
        if entry.seen != seen:
            _renew(state, entry)
        verdict = Verdict(entry, judge(state, entry))
        yield verdict
        if verdict.outcome in (Outcome.ADMITTED, Outcome.PENDING):
            changed[root] += 1


def judge(state: State, entry: Entry) -> Outcome:
    """What the entry comes to as things are."""
    ready = state.profile.settings.pods_ready
    if entry.fits:
        blocked = ready is not None and ready.block_admission and state.unready
        return Outcome.HELD if blocked else Outcome.ADMITTED
    if entry.targets or entry.later:
        return Outcome.PENDING
    return Outcome.NO_CANDIDATES if entry.evicting else Outcome.NO_FIT


def _renew(state: State, entry: Entry) -> None:
    """The entry as it is now."""
    if entry.fits and state.claims.fits_now(state, entry.queue.name, entry.usage):
        seated = flavors.seat(state, entry.workload, entry.queue, entry.assignment)
        if not isinstance(seated, Reason):
            entry.assignment = seated
            return
    again = nominate(state, entry.workload, entry.queue)
    for field in fields(Entry):
        setattr(entry, field.name, getattr(again, field.name))


def take_up(state: State) -> Iterator[tuple[str, Assignment]]:
    """The claims that can be taken up now, and what their workloads get; each is carried out before the next is asked for."""
    claims = state.claims
    for preemptor in sorted(claims.due, key=lambda key: place(state.workloads[key])):
        claim = claims.of[preemptor]
        state.journal.drop(claims.due, preemptor)
        queue = state.catalog.cluster_queues.get(claim.plan.queue)
        if queue is not None and state.catalog.closed(queue.name) is None:
            with state.trial():
                claims.take_up(state, preemptor)
                found = flavors.seat(state, state.workloads[preemptor], queue, claim.plan)
                free = claims.fits_now(state, queue.name, claim.plan.usage)
            if free and not isinstance(found, Reason):
                yield preemptor, found
                continue
        if _is_void(state, preemptor, claim):
            claims.drop(state, preemptor)
            state.queues.wake_alone(preemptor)


def _is_void(state: State, preemptor: str, claim: Claim) -> bool:
    """Is nobody left who goes for it, or for others where nobody did, or is more promised by now than there is?"""
    if state.catalog.closed(claim.plan.queue) is not None:
        return True
    spoken = state.claims.spoken
    waits = any(spoken.get(victim) == preemptor for victim in claim.victims) if claim.victims else bool(spoken)
    return not waits or any(state.quotas.available(claim.plan.queue, fr) < 0 for fr in claim.plan.usage)
