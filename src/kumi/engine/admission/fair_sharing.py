"""Fair sharing: a node's dominant share, and who goes first in a tree of cohorts.

The rule, for a node n under a parent, and more that would be used of it:
    borrowed(n, r) = sum over the flavors of r that n has quota of, of max(0, usage + more - subtree)
    lendable(p, r) = sum over the flavors of r that the root has, of potential(p)
    ratio(n)       = the largest of 1000 * borrowed(n, r) / lendable(parent, r) over the resources that it borrows and that can
                     be lent; 0 where there is none. That resource is the dominant one.
    share(n)       = ratio / weight. With weight 0 and a ratio above 0 it is without limit: above all that have one, and among
                     such by ratio. A root has no share.
    tournament     each workload that asks is seen with its usage added. In every cohort those who come from below compete by the
                   shares of the cohort's children they come through: [first who needs not borrow there for what it asks for],
                   smaller share, then their own rank; the winner goes on to the parent. Played anew for each who goes, as
                   that changes the shares.
Why        the one that takes most of what it borrows of its scarcest resource is the one to wait; no exchange rate between
           resources is needed.
Ties       of resources: the smaller name. Of workloads: the rank, which is unique.
Units      thousandths of what can be lent, as floats: they order and are shown, nothing is counted with them.
Cost       O(flavor-resources x depth) a share, what can be lent is kept until a quota changes; O(askers of the tree x depth) a
           round of the tournament, of the tree in which something changed only.
Source     Kueue: fair sharing, hierarchical (KEP-1714).
Not here   who is evicted by shares: victims.py; past usage: usage.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from kumi.api.quantity import MAX
from kumi.engine.admission.quota import COHORT, FlavorResource, Quotas

if TYPE_CHECKING:
    from kumi.engine.state import State

Order: TypeAlias = tuple[bool, float]
"""a share as something to compare: without rounding"""
Score: TypeAlias = tuple[bool, bool, Order]


@dataclass(frozen=True, slots=True)
class Share:
    """See the module. `resource`: the dominant one, "" where nothing that can be lent is borrowed; `borrowing`: more is used of
    something than the node has."""

    ratio: float = 0.0
    weight: float = 1.0
    resource: str = ""
    borrowing: bool = False

    @property
    def unlimited(self) -> bool:
        """A weight of 0, and something is borrowed."""
        return self.weight == 0 and self.ratio > 0

    @property
    def value(self) -> float:
        """The weighted share; the bare ratio where it is unlimited."""
        return self.ratio if self.weight == 0 else self.ratio / self.weight

    @property
    def rounded(self) -> int:
        """For people: upwards, 2^63-1 at most and where it is unlimited."""
        return MAX if self.unlimited else min(MAX, math.ceil(self.value))

    @property
    def order(self) -> Order:
        """Smaller is fairer to give more to."""
        return self.unlimited, self.value


@dataclass(frozen=True, slots=True)
class Asker:
    """A workload that competes: what it would use of its queue. `waits`: victims leave for it already, which puts it before
    others; `rank`: among those who do alike, and unique."""

    workload: str
    queue: str
    usage: Mapping[FlavorResource, int]
    rank: tuple[Any, ...]
    waits: bool = False


def share(state: State, node: str, more: Mapping[FlavorResource, int] | None = None) -> Share:
    """The node's share; `more`: as if so much more were used of it."""
    quotas, weight = state.quotas, weight_of(state, node)
    parent = quotas.parent.get(node)
    if not parent:
        return Share(weight=weight)
    borrowed: dict[str, int] = {}
    used = quotas.usage.get(node, {})
    for fr in {**used, **more} if more else used:
        subtree = quotas.subtrees.get(node, {}).get(fr)
        over = 0 if subtree is None else used.get(fr, 0) + (more.get(fr, 0) if more else 0) - subtree
        if over > 0:
            borrowed[fr[1]] = min(MAX, borrowed.get(fr[1], 0) + over)
    if not borrowed:
        return Share(weight=weight)
    can_lend = lendable(quotas, parent)
    ratio, resource = 0.0, ""
    for name in sorted(borrowed):
        lent = can_lend.get(name, 0)
        if lent > 0 and 1000.0 * borrowed[name] / lent > ratio:
            ratio, resource = 1000.0 * borrowed[name] / lent, name
    return Share(ratio, weight, resource, borrowing=True)


def weight_of(state: State, node: str) -> float:
    """What it counts for among its equals: 1 unless its object says otherwise."""
    if node.startswith(COHORT):
        cohort = state.catalog.cohorts.get(node.removeprefix(COHORT))
        return cohort.weight if cohort is not None else 1.0
    queue = state.catalog.cluster_queues.get(node)
    return queue.weight if queue is not None else 1.0


def lendable(quotas: Quotas, node: str) -> dict[str, int]:
    """Resource -> what could be used through the node were nobody there."""
    kept = quotas.lendable.get(node)
    if kept is not None:
        return kept
    found: dict[str, int] = {}
    for fr in sorted(quotas.subtrees.get(quotas.root(node), ())):
        found[fr[1]] = min(MAX, found.get(fr[1], 0) + quotas.potential(node, fr))
    quotas.lendable[node] = found
    return found


def borrows_on(quotas: Quotas, node: str, frs: Iterable[FlavorResource]) -> bool:
    """Is more used than the node has, of any of these that it has quota of?"""
    return any(quotas.over(node, fr) for fr in frs if fr in quotas.subtrees.get(node, ()))


def tournament(state: State, askers: Sequence[Asker]) -> Iterator[Asker]:
    """The askers in their order; whoever takes them changes the state in between."""
    trees: dict[str, dict[str, Asker]] = {}
    for asker in askers:
        trees.setdefault(state.quotas.root(asker.queue), {})[asker.workload] = asker
    winners: dict[str, Asker] = {}
    while trees:
        for root in sorted(trees):
            if root not in winners:
                winners[root] = _winner(state, list(trees[root].values()))
        root = min(winners, key=lambda r: (not winners[r].waits, winners[r].rank))
        winner = winners.pop(root)
        del trees[root][winner.workload]
        if not trees[root]:
            del trees[root]
        yield winner


def _winner(state: State, askers: list[Asker]) -> Asker:
    """Who goes first in a tree."""
    if len(askers) == 1:
        return askers[0]
    at: dict[str, list[Asker]] = {}
    """node -> those who have come as far as there"""
    below: dict[str, dict[str, None]] = {}
    scores: dict[tuple[str, str], Score] = {}
    for asker in sorted(askers, key=lambda a: (not a.waits, a.rank)):
        at.setdefault(asker.queue, []).append(asker)
        child = asker.queue
        for node in state.quotas.path(child):
            below.setdefault(node, {})[child] = None
            child = node
        scores |= _scores(state, asker)

    def best_of(node: str) -> Asker:
        if node in at:
            return at[node][0]
        climbed = [(child, best_of(child)) for child in below[node]]
        return min(climbed, key=lambda c: (scores[c[0], c[1].workload], c[1].rank))[1]

    return best_of(state.quotas.root(askers[0].queue))


def _scores(state: State, asker: Asker) -> dict[tuple[str, str], Score]:
    """(node on its way up, its key) -> how it does there; smaller is better."""
    fair, quotas, queue = state.profile.settings.fair, state.quotas, asker.queue
    scores: dict[tuple[str, str], Score] = {}
    with state.trial():
        for fr, amount in asker.usage.items():
            quotas.add(queue, fr, amount)
        child = queue
        for node in quotas.path(queue):
            borrows = fair is not None and fair.non_borrowing_first and borrows_on(quotas, child, asker.usage)
            scores[child, asker.workload] = (not asker.waits, borrows, share(state, child).order)
            child = node
    return scores
