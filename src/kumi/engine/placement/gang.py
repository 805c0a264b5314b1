"""Gang: nodes for all pods of all pod sets, or the reason why not.

Pods that share a volume of one node go to one node (together.py). The rule for all others, for one pod set of k equal pods:
    fits(n)   how many of them node n takes (nodes.py, plugins/predicates.py)
    it fits   exactly when sum(fits) >= k; then nodes are filled one after the other, the best score first
Pods of which one that is placed changes what the other nodes say (pod affinity, spread) go one after the other, each to its best.
For several pod sets, one after the other on what is left: the largest share of the cluster a pod first, nodes by score.
Where that fails: the pod set with the least to spare first, the smallest first, and as written; then the same orders with
the nodes first on which a pod costs the other pod sets the fewest places. The first order that succeeds is taken.
Exact        for one pod set. For several it never places wrongly, and may miss a placement that needs a pod set to be
             split against every one of those orders.
Order and ties  pod sets by their number, nodes by their names: the same state gives the same nodes.
Why          equal pods are counted, not searched; what a large pod needs is taken before small ones scatter over it.
Reasons      no node at all; none that takes the shape; none large enough for one pod; all together too small for the gang
             (these can't succeed as things are: permanent); else the nodes are full, or have no single GPU with enough.
             `resource` is the scarcest one.
Cost         O(pod sets x resources asked x nodes), eight times that at worst before it says no to several pod sets.
Source       Volcano: allocate action, gang and binpack plug-ins. The counting rule is Kumi's own.
Not here     quota: ../admission/flavors.py; keeping the places: ../reservations.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kumi.engine.journal import Journal
from kumi.engine.model import PodSet
from kumi.engine.placement import together
from kumi.engine.placement.nodes import NOWHERE, ONE_POD, PODS, Ints, Mask, Nodes, Scores
from kumi.engine.placement.one_of import one_of
from kumi.engine.placement.plugins import Plugins, volumes
from kumi.engine.placement.plugins.predicates import gpus_split, scarcest
from kumi.engine.reasons import Code, Reason

NEIGHBOURS = "neighbours"
"""detail of a reason: other pods are in the way, where there would be room"""

Places: TypeAlias = tuple[tuple[str, int], ...]
"""(node, how many pods), in the order of pod indices"""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a gang may go: the nodes, the journal that takes trials back, the plug-ins."""

    nodes: Nodes
    journal: Journal
    plugins: Plugins

    def mask(self, pods: PodSet) -> Mask:
        """The nodes that take a pod of the pod set now, room aside."""
        return self.plugins.filter.mask(self.nodes, one_of(pods))

    def standing(self, pods: PodSet) -> Mask:
        """The nodes that would, whatever pods are on them."""
        return self.plugins.filter.standing(self.nodes, one_of(pods))

    def fits(self, pods: PodSet) -> Ints:
        """How many of its pods each row takes now, as long as the others go nowhere."""
        return self._each(pods, self.nodes.places(pods.shape, self.mask(pods)))

    def fits_empty(self, pods: PodSet) -> Ints:
        """How many it takes were nothing on the nodes."""
        return self._each(pods, self.nodes.places_empty(pods.shape, self.standing(pods)))

    def is_counted(self, pods: PodSet) -> bool:
        """Does it hold that the pod set can be placed exactly when its pods fit, node by node?"""
        one = one_of(pods)
        return self.plugins.filter.is_steady(self.nodes, one)

    def may_fit(self, pods: PodSet) -> bool:
        """Can it be placed, as far as counting tells?"""
        fits = self.fits(pods)
        return bool(fits.any()) if not self.is_counted(pods) else int(np.minimum(fits, pods.count).sum()) >= pods.count

    def seat(self, pods: PodSet, rows: Ints, counts: Ints) -> None:
        """Inside a trial that is taken back: so many of its pods are on those rows."""
        self.nodes.use_rows(rows, pods.shape.requests, counts)
        self.nodes.devices.fill(pods.shape, rows, counts)
        one = one_of(pods)
        for row, n in zip(rows.tolist(), counts.tolist(), strict=True):
            self.nodes.residents.seat_row(one, row, n)

    def _each(self, pods: PodSet, fits: Ints) -> Ints:
        most = self.plugins.filter.most(self.nodes, one_of(pods))
        return fits if most is None else np.minimum(fits, most)


def place(site: Site, pod_sets: Sequence[PodSet]) -> tuple[Places, ...] | Reason:
    """The nodes of each pod set, or why there are none. The state is left as it was."""
    claims = together.shared(site.nodes, pod_sets)
    if not claims:
        return _place(site, pod_sets)
    reason = together.never(site.nodes, claims) or next((r for s in pod_sets if (r := refusal(site, s))), None)
    if reason is not None:
        return reason
    for row in together.homes(site.nodes, site.plugins, pod_sets, claims):
        pinned = replace(site.plugins, filter=together.Pinned(site.plugins.filter, claims, row))
        found = _place(replace(site, plugins=pinned), pod_sets)
        if not isinstance(found, Reason):
            return found
    return Reason(Code.CLAIM_SHARED, where=claims[0], detail="node")


def _place(site: Site, pod_sets: Sequence[PodSet]) -> tuple[Places, ...] | Reason:
    wanted = [s for s in pod_sets if s.count > 0]
    for pods in wanted:
        if (reason := refusal(site, pods)) is not None:
            return reason
    found = _search(site, wanted)
    if isinstance(found, Reason):
        return _joint(site, wanted, found)
    by_name = iter(found)
    return tuple(next(by_name) if s.count > 0 else () for s in pod_sets)


def refusal(site: Site, pods: PodSet) -> Reason | None:
    """Why this pod set can't be placed even alone; None: it can."""
    if not pods.count:
        return None
    placeable = _placeable(site, pods)
    if placeable >= pods.count:
        return None
    mask, said = site.standing(pods), pods.name
    if not site.nodes.row_by_name:
        return Reason(Code.NO_NODES, pod_set=said, pods=pods.count)
    if not mask.any():
        if (claim := volumes.refusal(site.nodes, pods.shape)) is not None:
            return replace(claim, pod_set=said, pods=pods.count)
        return Reason(Code.NODE_NOT_MATCHED, pod_set=said, pods=pods.count)
    empty = site.fits_empty(pods)
    if not empty.any():
        short = scarcest(site.nodes, pods.shape, np.flatnonzero(mask), empty=True)
        reason = _reason(Code.NODE_TOO_SMALL, short, said, pods.count, permanent=True)
        return replace(reason, where=_largest(site.nodes, reason.resource, mask))
    room = int(np.minimum(empty, pods.count).sum())
    if room < pods.count:
        short = _shortest(site.nodes, pods, mask, empty=True)
        return _reason(Code.CAPACITY_TOO_SMALL, short, said, pods.count - room, permanent=True)
    if int(np.minimum(site.nodes.places(pods.shape, mask), pods.count).sum()) >= pods.count:
        return Reason(Code.NODE_NOT_MATCHED, pod_set=said, pods=pods.count - placeable, detail=NEIGHBOURS)
    return _full(site, pods, mask, pods.count - placeable)


def _full(site: Site, pods: PodSet, mask: Mask, missing: int) -> Reason:
    """That the nodes of the mask are full, or have enough together, but for single GPUs."""
    nodes, asked = site.nodes, pods.shape.requests
    if nodes.devices.concern(pods.shape) and int(np.minimum(nodes.fits(asked, mask), pods.count).sum()) >= pods.count:
        return replace(gpus_split(site.nodes, pods.shape, np.flatnonzero(mask), missing), pod_set=pods.name)
    return _reason(Code.NODES_FULL, _shortest(site.nodes, pods, mask, empty=False), pods.name, missing)


def _placeable(site: Site, pods: PodSet) -> int:
    """How many of the pods find a place, the pod set alone."""
    if site.is_counted(pods):
        return int(np.minimum(site.fits(pods), pods.count).sum())
    return int(_one_by_one(site, pods)[1].sum())


def _reason(code: Code, short: tuple[str, int, int], pod_set: str, missing: int, *, permanent: bool = False) -> Reason:
    resource, need, have = short
    return Reason(code, resource, pod_set=pod_set, need=need, have=have, pods=missing, permanent=permanent)


def _search(site: Site, pod_sets: list[PodSet]) -> list[Places] | Reason:
    """Places for all, in the order of pod_sets, by the first order that succeeds; else what the first order met."""
    if len(pod_sets) == 1:
        return _in_order(site, pod_sets, (0,), sparing=False)
    first: Reason | None = None
    for sparing in (False, True):
        for order in _orders(site, pod_sets):
            found = _in_order(site, pod_sets, order, sparing=sparing)
            if not isinstance(found, Reason):
                return found
            first = first or found
    return first or []


def _in_order(site: Site, pod_sets: list[PodSet], order: tuple[int, ...], *, sparing: bool) -> list[Places] | Reason:
    places: dict[int, Places] = {}
    with site.journal.trial():
        for number, at in enumerate(order):
            pods = pod_sets[at]
            others = [pod_sets[o] for o in order[number + 1 :]] if sparing else []
            rows, counts = _fill(site, pods, others)
            if int(counts.sum()) < pods.count:
                return _full(site, pods, site.standing(pods), pods.count - int(counts.sum()))
            site.seat(pods, rows, counts)
            names = site.nodes.name_by_row()
            places[at] = tuple((names[row], n) for row, n in zip(rows.tolist(), counts.tolist(), strict=True))
    return [places[at] for at in range(len(pod_sets))]


def _fill(site: Site, pods: PodSet, others: list[PodSet]) -> tuple[Ints, Ints]:
    """Rows and how many pods each of them takes, best first, until the count is reached or nothing is left."""
    one = one_of(pods)
    if not site.is_counted(pods) or not site.plugins.score.is_steady(site.nodes, one):
        return _one_by_one(site, pods)
    fits = np.minimum(site.fits(pods), pods.count)
    rows = site.nodes.by_name()
    rows = rows[fits[rows] > 0]
    keys = [-site.plugins.score.score(site.nodes, one, rows, fits[rows] - 1)]
    if others:
        keys.append(_cost(site, pods, fits, others)[rows])
    ranked = rows[np.lexsort(keys)]  # stable: equal keys stay in the order of the names
    filled = np.cumsum(fits[ranked])
    used = int(np.searchsorted(filled, pods.count)) + 1
    ranked = ranked[:used]
    counts = fits[ranked]
    over = int(filled[used - 1]) - pods.count if used <= filled.size else 0
    if counts.size and over > 0:
        counts[-1] -= over
    return ranked, counts


def _one_by_one(site: Site, pods: PodSet) -> tuple[Ints, Ints]:
    """The same where a pod that is placed changes what the nodes say to the next: the best node for each, one after the other."""
    counts: dict[int, int] = {}
    one, single = one_of(pods), np.ones(1, dtype=np.int64)
    by_name = site.nodes.by_name()
    with site.journal.trial():
        for _ in range(pods.count):
            rows = by_name[site.fits(pods)[by_name] > 0]
            if not rows.size:
                break
            scores = site.plugins.score.score(site.nodes, one, rows, np.zeros(rows.size, dtype=np.int64))
            row = int(rows[int(np.argmax(scores))])
            site.seat(pods, np.array([row]), single)
            counts[row] = counts.get(row, 0) + 1
    return np.array(list(counts), dtype=np.int64), np.array(list(counts.values()), dtype=np.int64)


def _cost(site: Site, pods: PodSet, fits: Ints, others: list[PodSet]) -> Scores:
    """How many places the other pod sets lose on each node, a pod that goes there."""
    before = [site.fits(o) for o in others]
    rows = np.flatnonzero(fits)
    with site.journal.trial():
        site.seat(pods, rows, fits[rows])
        after = [site.fits(o) for o in others]
    lost = sum((b - a for b, a in zip(before, after, strict=True)), np.zeros_like(fits))
    return lost / np.maximum(fits, 1)


def _orders(site: Site, pod_sets: list[PodSet]) -> Iterator[tuple[int, ...]]:
    numbers = range(len(pod_sets))
    largest = tuple(sorted(numbers, key=lambda i: (-_share(site.nodes, pod_sets[i]), i)))
    spare = [int(site.fits(s).sum()) / s.count for s in pod_sets]
    tightest = tuple(sorted(numbers, key=lambda i: (spare[i], i)))
    yield from dict.fromkeys((largest, tightest, tuple(reversed(largest)), tuple(numbers)))


def _share(nodes: Nodes, pods: PodSet) -> float:
    """The largest part of the cluster's amount of one resource that a pod takes."""
    share = 0.0
    for line, amount in nodes.asked(pods.shape.requests)[1:]:
        total = float(nodes.allocatable[line].sum(dtype=np.float64)) if line != NOWHERE else 0.0
        share = max(share, amount / total if total else float("inf"))
    return share


def _joint(site: Site, pod_sets: list[PodSet], found: Reason) -> Reason:
    """The reason of pod sets that fit alone and not together: were the nodes empty, would they?"""
    with site.journal.trial():
        site.nodes.vacate()
        if not isinstance(_search(site, pod_sets), Reason):
            return found
    pods = next(s for s in pod_sets if s.name == found.pod_set)
    need = sum(_asks(s, found.resource) * s.count for s in pod_sets)
    _, _, have = _shortest(site.nodes, pods, site.standing(pods), empty=True, resource=found.resource)
    short = (found.resource, need, have)
    return _reason(Code.CAPACITY_TOO_SMALL, short, found.pod_set, found.pods, permanent=True)


def of_all(site: Site, pod_sets: Sequence[PodSet], reason: Reason) -> Reason:
    """The no that one pod set met (NODES_FULL, CAPACITY_TOO_SMALL) as a no to all: what they need of the resource together,
    what the nodes that one of them may use have of it, and how many pods are left over. Where that much is there, and only
    lies wrong, the pod set's own no says more: it stays as it is."""
    asking = [s for s in pod_sets if s.count and _asks(s, reason.resource)]
    mask = np.logical_or.reduce([site.standing(s) for s in asking])
    need = sum(_asks(s, reason.resource) * s.count for s in asking)
    _, _, free = _shortest(site.nodes, asking[0], mask, empty=False, resource=reason.resource)
    _, _, total = _shortest(site.nodes, asking[0], mask, empty=True, resource=reason.resource)
    never = need > total
    if need <= (total if reason.permanent else free):
        return reason
    code, have = (Code.CAPACITY_TOO_SMALL, total) if never else (Code.NODES_FULL, free)
    missing = max(reason.pods, _left_over(site, pod_sets, empty=never))
    return replace(reason, code=code, pod_set="", need=need, have=have, pods=missing, permanent=never)


def _left_over(site: Site, pod_sets: Sequence[PodSet], *, empty: bool) -> int:
    """How many of all pods find no place, the pod sets one after the other."""
    left = 0
    with site.journal.trial():
        if empty:
            site.nodes.vacate()
        for pods in pod_sets:
            rows, counts = _fill(site, pods, [])
            site.seat(pods, rows, counts)
            left += pods.count - int(counts.sum())
    return left


def _asks(pods: PodSet, resource: str) -> int:
    return ONE_POD if resource == PODS else dict(pods.shape.requests).get(resource, 0)


def _shortest(nodes: Nodes, pods: PodSet, mask: Mask, *, empty: bool, resource: str = "") -> tuple[str, int, int]:
    """The resource that lets the fewest of these pods onto the nodes of the mask, what all of them need of it, and what the
    nodes have of it together (free, or in all where `empty`). Ties: devices before the rest, then pods, then the order of
    the requests."""
    free = nodes.allocatable if empty else nodes.allocatable - nodes.used
    names = [PODS, *(r for r, amount in pods.shape.requests if amount > 0 and r != PODS)]
    best: tuple[tuple[int, bool, int], str, int, int] | None = None
    for number, (name, (line, amount)) in enumerate(zip(names, nodes.asked(pods.shape.requests), strict=True)):
        have = np.maximum(free[line][mask], 0) if line != NOWHERE else np.zeros(1, dtype=np.int64)
        let = int(np.minimum(have // amount, pods.count).sum())
        found = ((let, "/" not in name, number), name, amount * pods.count, sum(have.tolist()))
        if name == resource:
            return found[1:]
        if best is None or found < best:
            best = found
    assert best is not None
    return best[1:]


def _largest(nodes: Nodes, resource: str, mask: Mask) -> str:
    """The node of the mask that has most of the resource."""
    line = nodes.line_by_resource.get(resource)
    rows = [r for r in nodes.by_name().tolist() if mask[r]]
    have = [0 if line is None else int(nodes.allocatable[line, r]) for r in rows]
    return nodes.name_by_row()[rows[have.index(max(have))]]
