"""By shares: who goes where dominant shares decide.

The rule       the preemptor's usage counts as added. A queue is picked, from the root down: the child with the highest share (a
               cohort before a queue of the same share; of queues the one with the first candidate). Children that don't borrow
               are left out, but for those that the preemptor is in. If that is
                   its own queue     its first candidate goes
                   another one       its first candidate goes for whom it is fair; those before are kept in mind
               and the next queue is picked, until the preemptor fits.
Fair           while the preemptor's queue, with it, is within its nominal quota of all that is contended (kueue), of all that it
               asks for (kumi): any, where settings say so: it takes back. Else by the first strategy, my share and theirs being
               those of the two children of the lowest cohort above both queues:
                   LessThanOrEqualToFinalShare    mine is at most theirs after the eviction
                   LessThanInitialShare           mine is less than theirs before it
Second pass    where that isn't enough and there is a second strategy: of those kept in mind, the first of each queue as it is
               picked goes if my share is less than theirs.
Why            an eviction that would only turn the tables is not worth what it costs. Who borrows one flavor while it takes back
               another would lose what it took to the very one that it took it from, and so on for ever.
Ties           cohorts of the same share by name.
Cost           O(queues of the tree that borrow) shares a pick; shares are kept until something below their node goes.
Source         Kueue: fair sharing, preemption strategies (KEP-1714).
Not here       what a share is: fair_sharing.py; who is a candidate: candidates.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kumi.engine.admission.attempt import Attempt
from kumi.engine.admission.candidates import (
    FAIR_SHARING,
    GIVES,
    IN_QUEUE,
    RECLAIM,
    Candidate,
    Preemptor,
    in_line,
    place_of,
    sharers,
)
from kumi.engine.admission.fair_sharing import Order, Share, share
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.holdings import Standing
from kumi.engine.settings import FairSharing, FairStrategy

STRATEGIES: dict[FairStrategy, Callable[[Order, Order, Order], bool]] = {
    FairStrategy.FINAL_SHARE: lambda mine, _, theirs_after: mine <= theirs_after,
    FairStrategy.INITIAL_SHARE: lambda mine, theirs_before, _: mine < theirs_before,
}

OWN: dict[str, Callable[[Preemptor], Iterable[FlavorResource]]] = {
    "kueue": lambda preemptor: preemptor.contended,
    "kumi": lambda preemptor: preemptor.requests,
    "volcano": lambda preemptor: preemptor.requests,
}
"""by the profile's name: of what a queue has to be within its nominal quota to take back without comparing"""


def make_room(attempt: Attempt, fair: FairSharing) -> bool | None:
    """Takes whoever has to go; True. None: nobody is enough, and whoever was taken is put back."""
    state, preemptor = attempt.state, attempt.preemptor
    own = preemptor.queue.name
    queues = sharers(state, preemptor)
    if attempt.hopeless(queues):
        return None
    attempt.show(added=True)
    picks = _Picks(attempt, {queue: in_line(state, preemptor, queue) for queue in (own, *queues)})
    kept: dict[str, list[Standing]] = {}
    done = _first_pass(attempt, fair, picks, kept)
    if not done and len(fair.strategies) > 1:
        done = _second_pass(attempt, _Picks(attempt, {queue: iter(line) for queue, line in kept.items()}))
    attempt.show(added=False)
    if done or (attempt.taken and attempt.enough()):
        return True
    while attempt.taken:
        attempt.put_back()
    return None


def _first_pass(attempt: Attempt, fair: FairSharing, picks: _Picks, kept: dict[str, list[Standing]]) -> bool:
    own = attempt.preemptor.queue.name
    while (queue := picks.next()) is not None:
        if queue == own:
            picks.take(Candidate(picks.pop(queue), queue, IN_QUEUE))
        else:
            while (standing := picks.first(queue)) is not None:
                picks.pop(queue)
                if not picks.gives(queue, standing):
                    continue
                if _goes(attempt, fair, picks, queue, standing):
                    break
                kept.setdefault(queue, []).append(standing)
            else:
                continue
        if attempt.enough(look=False):
            return True
    return False


def _goes(attempt: Attempt, fair: FairSharing, picks: _Picks, queue: str, standing: Standing) -> bool:
    """The candidate is taken if that is fair."""
    state, preemptor = attempt.state, attempt.preemptor
    own = OWN[state.profile.name](preemptor)
    if fair.within_nominal and not any(state.quotas.over(preemptor.queue.name, fr) for fr in own):
        picks.take(Candidate(standing, queue, RECLAIM, lends=False))
        return True
    mine, theirs = picks.ends(queue)
    before = picks.share(theirs).order
    picks.take(Candidate(standing, queue, FAIR_SHARING))
    if STRATEGIES[fair.strategies[0]](picks.share(mine).order, before, picks.share(theirs).order):
        return True
    picks.put_back()
    return False


def _second_pass(attempt: Attempt, picks: _Picks) -> bool:
    initial = STRATEGIES[FairStrategy.INITIAL_SHARE]
    while (queue := picks.next()) is not None:
        mine, theirs = picks.ends(queue)
        standing = picks.pop(queue)
        picks.drop(queue)
        if not picks.gives(queue, standing):
            continue
        before = picks.share(theirs).order
        if initial(picks.share(mine).order, before, before):
            picks.take(Candidate(standing, queue, FAIR_SHARING))
            if attempt.enough(look=False):
                return True
    return False


class _Picks:
    """The tree as far as there are candidates in it; picks queues."""

    def __init__(self, attempt: Attempt, lines: dict[str, Iterator[Standing]]) -> None:
        self._attempt, self._state = attempt, attempt.state
        quotas = attempt.state.quotas
        own = attempt.preemptor.queue.name
        self._root = quotas.root(own)
        self._ways: dict[str, tuple[str, ...]] = {queue: (queue, *quotas.path(queue)) for queue in (*lines, own)}
        self._lines = lines
        self._first: dict[str, Standing] = {}
        self._children: dict[str, dict[str, None]] = {}
        self._shares: dict[str, Share] = {}
        for queue, line in lines.items():
            first = next(line, None)
            if first is not None:
                self._first[queue] = first
                for child, node in zip(self._ways[queue], self._ways[queue][1:], strict=False):
                    self._children.setdefault(node, {})[child] = None

    def next(self) -> str | None:
        """The queue that is picked; None where no candidate is left."""
        while True:
            node = self._root
            while node in self._children:
                child = self._best(node)
                if child is None:
                    break
                node = child
            if node in self._first:
                return node
            if node == self._root:
                return None
            self._leave_out(node)

    def first(self, queue: str) -> Standing | None:
        """The queue's first candidate."""
        return self._first.get(queue)

    def pop(self, queue: str) -> Standing:
        """The same, and it is out of the line."""
        standing = self._first.pop(queue)
        following = next(self._lines[queue], None)
        if following is not None:
            self._first[queue] = following
        return standing

    def drop(self, queue: str) -> None:
        """No more candidates of this queue."""
        self._first.pop(queue, None)

    def take(self, candidate: Candidate) -> None:
        """It is gone."""
        self._attempt.take(candidate)
        self._forget(candidate.queue)

    def put_back(self) -> None:
        """The last taken is there again."""
        self._forget(self._attempt.put_back().queue)

    def share(self, node: str) -> Share:
        """The node's share as it is now."""
        known = self._shares.get(node)
        if known is None:
            known = self._shares[node] = share(self._state, node)
        return known

    def gives(self, queue: str, standing: Standing) -> bool:
        """May this candidate go, by what its queue and the cohorts on the way to it borrow?"""
        mine, theirs = self._ways[self._attempt.preemptor.queue.name], self._ways[queue]
        way = tuple(node for node in theirs if node not in mine)
        return GIVES[self._state.profile.name](self._state, self._attempt.preemptor, way, standing)

    def ends(self, queue: str) -> tuple[str, str]:
        """The children of the lowest cohort above both queues: the preemptor's, and this queue's."""
        mine, theirs = self._ways[self._attempt.preemptor.queue.name], self._ways[queue]
        common = next(node for node in mine if node in theirs)
        return mine[mine.index(common) - 1], theirs[theirs.index(common) - 1]

    def _best(self, node: str) -> str | None:
        """The child with the highest share; those that are out of it are left out for good."""
        best: tuple[tuple[Order, bool], tuple[object, ...]] | None = None
        chosen = None
        mine = self._ways[self._attempt.preemptor.queue.name]
        for child in sorted(self._children[node]):
            shown = self.share(child)
            first = self._first.get(child)
            is_cohort = child in self._children
            if not (shown.borrowing or child in mine) or (first is None and not is_cohort):
                self._leave_out(child)
                continue
            rank = (shown.order, is_cohort)
            place = place_of(self._attempt.preemptor, first, child) if first is not None else (child,)
            if best is None or rank > best[0] or (rank == best[0] and place < best[1]):
                best, chosen = (rank, place), child
        return chosen

    def _leave_out(self, node: str) -> None:
        self._children.get(self._state.quotas.parent.get(node, ""), {}).pop(node, None)

    def _forget(self, queue: str) -> None:
        for node in self._ways[queue]:
            self._shares.pop(node, None)
