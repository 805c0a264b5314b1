"""Candidates: who may be evicted for a workload, and in which order they are thought of.

The rule, for a preemptor that is short of some flavor-resources (contended), a candidate holds one of them and is
    of the preemptor's queue   if the queue's `within` lets it: of lower priority; or equal and queued later; or anybody
    of another queue           if `reclaim` lets it, and its queue uses more than is its own of a contended flavor-resource
Order          those that are being evicted already, then other queues before the preemptor's own, then [where LocalQueues take
               turns by usage: of one queue, those of the LocalQueue that used more], then by priority, the lowest first, then who
               got its quota last, then uid and key
Without shares a candidate of another queue is reached through the lowest cohort that is above both queues, and through cohorts
               that use more than they have. Either the preemptor has a right to what it asks for: its queue, or a cohort below
               that one, has room for it within its own quota (what is left of the request is what exceeds the room of those
               below). Or it has not, and then `borrowing` says for whom it may itself borrow: candidates of lower priority, not
               above the threshold. Rounds:
                   being evicted: those by right, others, own; then the rest, likewise
                   a round in which the preemptor borrows leaves out those for whom it may not
               A queue is left once it, or a cohort on the way, is back within its quota of everything contended.
Nominal        where several flavors are contended, a queue that borrows one of them
                   kueue   may lose who holds any of them
                   kumi    only who holds one that it, and each cohort on the way, borrows: nobody loses what is its queue's own,
                           also where who was taken before has left the queue within it
With shares    candidates of all queues of the tree that use more than their own; victims.py picks by shares.
Closed         queues that are closed neither preempt nor lose workloads: what they run is settled by who closed them.
Causes         by the words of Kueue's condition Preempted.
Cost           O(log n) a queue that borrows, O(depth) a candidate that is looked at; candidates are read off ordered indexes
               (../holdings.py), so how much is admitted plays no part.
Source         Kueue: preemption, hierarchical cohorts (KEP-79).
Not here       how many of them must go: victims.py.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kumi.engine.admission.order import stamp_ms
from kumi.engine.admission.quota import COHORT, FlavorResource
from kumi.engine.holdings import Standing
from kumi.engine.model import ClusterQueue, Evictable, Workload

if TYPE_CHECKING:
    from kumi.engine.state import State

IN_QUEUE = "InClusterQueue"
RECLAIM = "InCohortReclamation"
RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
FAIR_SHARING = "InCohortFairSharing"


@dataclass(frozen=True, slots=True)
class Preemptor:
    """Who needs room: `requests` is all that it asks of its queue, `contended` what it is short of; `leave_out`: workloads that
    are not to be thought of; `spares`: other queues that lose nobody."""

    workload: Workload
    queue: ClusterQueue
    requests: Mapping[FlavorResource, int]
    contended: tuple[FlavorResource, ...]
    leave_out: Container[str] = ()
    spares: Container[str] = ()


class Candidate(NamedTuple):
    """Somebody who may be evicted, and by which rule; `lends`: the preemptor may borrow although it takes from it."""

    standing: Standing
    queue: str
    cause: str
    lends: bool = True

    @property
    def key(self) -> str:
        """The workload's."""
        return self.standing.key


class Source(NamedTuple):
    """Another queue that may have to give back. `way`: it and the cohorts below the one above both queues; `by_right`: the
    preemptor has a right to it."""

    queue: str
    way: tuple[str, ...]
    by_right: bool = False


Gives: TypeAlias = Callable[["State", Preemptor, Iterable[str], Standing], bool]
"""whether a candidate of another queue may go, by the way to that queue"""


def _any_of_it(state: State, preemptor: Preemptor, way: Iterable[str], standing: Standing) -> bool:
    return True


def what_is_borrowed(state: State, preemptor: Preemptor, way: Iterable[str], standing: Standing) -> bool:
    """Is something contended that it holds borrowed by every node of the way?"""
    held = state.holdings.usage[standing.key]
    return any(fr in held and all(state.quotas.over(node, fr) for node in way) for fr in preemptor.contended)


GIVES: dict[str, Gives] = {"kueue": _any_of_it, "kumi": what_is_borrowed, "volcano": what_is_borrowed}
"""by the profile's name"""


def in_line(
    state: State, preemptor: Preemptor, queue: str, *, stays: bool | None = None, below: int | None = None
) -> Iterator[Standing]:
    """The candidates of one queue, in order. `stays`: only those that aren't (False: that are) being evicted already; `below`:
    only of priorities below that. The state's indexes must not change meanwhile."""
    evictable, limit = _policy(preemptor, queue), limit_of(preemptor, queue)
    if evictable is Evictable.NEVER:
        return
    limit = below if limit is None or (below is not None and below < limit) else limit
    for stay in (False, True) if stays is None else (stays,):
        for door in _doors(state, queue, preemptor.contended):
            parts = [
                _part(state.holdings.in_order.get((queue, fr, door), ()), stay, limit) for fr in preemptor.contended
            ]
            last = None
            for standing in heapq.merge(*parts) if len(parts) > 1 else parts[0] if parts else ():
                if standing != last and _may_go(state, preemptor, evictable, standing):
                    yield standing
                last = standing


def sources(state: State, preemptor: Preemptor) -> list[Source]:
    """The other queues without shares: the nearest first."""
    quotas, name = state.quotas, preemptor.queue.name
    found: list[Source] = []
    if preemptor.queue.preemption.reclaim is Evictable.NEVER:
        return found
    rest, by_right, here = dict(preemptor.requests), False, name
    for above in quotas.path(name):
        by_right = by_right or all(not quotas.over(here, fr, amount) for fr, amount in rest.items())
        rest = {fr: max(0, amount - quotas.room(here, fr)) for fr, amount in rest.items()}
        found += [Source(queue, way, by_right) for queue, way in _that_borrow(state, preemptor, above, here)]
        here = above
    return found


def sharers(state: State, preemptor: Preemptor) -> list[str]:
    """The other queues of the tree that use more than their own, with shares."""
    if preemptor.queue.preemption.reclaim is Evictable.NEVER:
        return []
    quotas = state.quotas
    found, cohorts = [], [quotas.root(preemptor.queue.name)]
    while cohorts:
        cohort = cohorts.pop()
        found += [q for q in _borrowers(state, cohort, preemptor.contended) if not q.startswith(COHORT)]
        if quotas.height(cohort) > 1:
            cohorts += [child for child in quotas.children.get(cohort, ()) if child.startswith(COHORT)]
    others = (q for q in found if q != preemptor.queue.name and q not in preemptor.spares)
    return sorted(q for q in others if state.catalog.closed(q) is None)


def round_of(state: State, preemptor: Preemptor, others: list[Source], *, borrowing: bool) -> Iterator[Candidate]:
    """One round without shares. Whoever takes a candidate takes its usage off the tree before asking for the next."""
    own = preemptor.queue.name
    for stays in (False, True):
        yield from _merged(state, preemptor, [s for s in others if s.by_right], stays, None)
        may_go = [s for s in others if not s.by_right]
        limit = borrows_below(preemptor) if borrowing else None
        yield from _merged(state, preemptor, may_go, stays, limit)
        for standing in in_line(state, preemptor, own, stays=stays):
            yield Candidate(standing, own, IN_QUEUE)


def any_of(state: State, preemptor: Preemptor, others: Iterable[Source]) -> bool:
    """Is there a candidate in one of these queues?"""
    return any(next(in_line(state, preemptor, source.queue), None) is not None for source in others)


def limit_of(preemptor: Preemptor, queue: str) -> int | None:
    """Below which priority candidates of the queue have to be, at least; None: of any."""
    own = preemptor.workload.priority
    limits = {
        Evictable.NEVER: -(2**63),
        Evictable.LOWER_PRIORITY: own,
        Evictable.LOWER_OR_NEWER_EQUAL: own + 1,
    }
    return limits.get(_policy(preemptor, queue))


def borrows_below(preemptor: Preemptor) -> int:
    """Below which priority a candidate has to be for the preemptor to borrow itself; less than any where it never may."""
    policy = preemptor.queue.preemption
    if policy.borrowing is Evictable.NEVER:
        return -(2**63)
    own = preemptor.workload.priority
    return own if policy.borrowing_threshold is None else min(own, policy.borrowing_threshold + 1)


def place_of(preemptor: Preemptor, candidate: Standing, queue: str) -> tuple[object, ...]:
    """Where a candidate stands among those of all queues."""
    return (candidate.stays, queue == preemptor.queue.name, candidate[1:])


def still_over(state: State, way: Iterable[str], contended: Iterable[FlavorResource]) -> bool:
    """Does each of these nodes use more than it has of a contended flavor-resource?"""
    return all(any(state.quotas.over(node, fr) for fr in contended) for node in way)


def _policy(preemptor: Preemptor, queue: str) -> Evictable:
    policy = preemptor.queue.preemption
    return policy.within if queue == preemptor.queue.name else policy.reclaim


def _doors(state: State, queue: str, frs: Iterable[FlavorResource]) -> list[str]:
    """The LocalQueues in their turns, those that used most first; "" where they take none."""
    if not state.takes_turns(queue):
        return [""]
    doors = {door: None for fr in frs for door in state.holdings.doors.get((queue, fr), ())}
    return sorted(doors, key=lambda door: (-state.past.value(door), door))


def _part(line: list[Standing] | tuple[()], stays: bool, limit: int | None) -> Iterator[Standing]:
    """Of an ordered line those that stay, or don't, of priorities below the limit."""
    at = bisect_left(line, (stays,)) if stays else 0
    end = len(line) if stays else bisect_left(line, (True,))
    if limit is not None:
        end = bisect_left(line, (stays, limit), at, end)
    return (line[n] for n in range(at, end))


def _may_go(state: State, preemptor: Preemptor, evictable: Evictable, standing: Standing) -> bool:
    """Whether one whose priority is low enough may go."""
    if standing.key in preemptor.leave_out:
        return False
    if evictable is Evictable.ANY or standing.priority < preemptor.workload.priority:
        return True
    return stamp_ms(state.workloads[standing.key]) > stamp_ms(preemptor.workload)


def _borrowers(state: State, cohort: str, contended: Iterable[FlavorResource]) -> list[str]:
    """The cohort's children that use more than they have of a contended flavor-resource."""
    table = state.quotas.borrowers.get(cohort, {})
    return sorted({child: None for fr in contended for child in table.get(fr, ())})


def _that_borrow(
    state: State, preemptor: Preemptor, cohort: str, without: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The queues below a cohort that borrow, reached through cohorts that do, and the way to each, itself first."""
    for child in _borrowers(state, cohort, preemptor.contended):
        if child == without or child in preemptor.spares:
            continue
        if child.startswith(COHORT):
            for queue, way in _that_borrow(state, preemptor, child, without):
                yield queue, (*way, child)
        elif state.catalog.closed(child) is None:
            yield child, (child,)


def _merged(
    state: State, preemptor: Preemptor, others: list[Source], stays: bool, below: int | None
) -> Iterator[Candidate]:
    """The candidates of several queues in one order; a queue is left as soon as it, or a cohort on the way, is within quota."""
    lines = [in_line(state, preemptor, source.queue, stays=stays, below=below) for source in others]
    heads = [(first, n) for n, line in enumerate(lines) if (first := next(line, None)) is not None]
    heapq.heapify(heads)
    borrows, gives = borrows_below(preemptor), GIVES[state.profile.name]
    while heads:
        standing, n = heads[0]
        source = others[n]
        if not still_over(state, source.way, preemptor.contended):
            heapq.heappop(heads)
            continue
        if gives(state, preemptor, source.way, standing):
            while_borrowing = not source.by_right and standing.priority < borrows
            cause = RECLAIM_WHILE_BORROWING if while_borrowing else RECLAIM
            yield Candidate(standing, source.queue, cause, lends=source.by_right or while_borrowing)
        following = next(lines[n], None)
        if following is None:
            heapq.heappop(heads)
        else:
            heapq.heapreplace(heads, (following, n))
