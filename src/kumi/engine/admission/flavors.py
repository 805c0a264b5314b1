"""Flavors: which kind of capacity each pod set gets, quota and nodes together.

The rule, for a workload of a ClusterQueue:
    a pod set asks for count * requests, and for `pods` where the queue covers that; what is 0 is not asked for
    every resource that is asked for must be covered by a resource group of the queue
    a pod set gets one flavor for all resources of a group that it asks for: the flavors in the queue's order, where
        matches     its blocking taints are endured by the pods or by the flavor's own tolerations, and the pods' node selector
                    and required affinity hold on its labels, both cut to the keys that the flavor has; a term of which
                    nothing is left asks for nothing
        quota       amount + what the pod sets before got of the same flavor-resource, and those after can get of no other
                    flavor, <= available (quota.py)
        nodes       the pods, with the flavor's labels added to their selector and its tolerations to theirs, can be placed
    the first combination is taken, in the order of pod sets, then groups, then flavors, for which all pod sets have quota
    and all can be placed together (../placement/gang.py). Where the cluster's own scheduler places, nodes are not asked.
Why            a flavor whose quota is free and whose nodes are full is no place to start: the next one may be both.
Reasons        one for every no, in the order in which they were met; the first that can still change, of the deepest layer,
               is the one to tell; only if none can change is the answer permanent. What nodes lack is told of the whole gang.
Limits         at most 64 combinations are placed; past that the answer is no, for now, and any event may change it.
Units          base units.
Cost           O(combinations x (resources + nodes)); a pod set that can't be placed alone cuts its combinations short.
Source         Kueue: ResourceFlavor, resource groups, flavor assignment. That nodes have a say is Kumi's own.
Not here       borrowing and preempting (fungibility): come with cohorts; keeping what was found: cycle.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from kumi.api.quantity import MAX
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import (
    Admission,
    Amounts,
    ClusterQueue,
    Flavor,
    PodSet,
    PodSetAssigned,
    PodShape,
    Requirement,
    ResourceGroup,
    Workload,
)
from kumi.engine.placement import gang
from kumi.engine.placement.nodes import ONE_POD, PODS
from kumi.engine.reasons import Code, Reason
from kumi.engine.selectors import affinity_holds, untolerated

if TYPE_CHECKING:
    from kumi.engine.state import State

PLACED_AT_MOST = 64

Choice = tuple[tuple[str, str], ...]
"""(resource, flavor) of what a pod set asks for"""


@dataclass(frozen=True, slots=True)
class Refused:
    """No. `reasons` in the order in which they were met; `looked_for`: pod sets, as their pods would be with one choice of
    flavors, for which nodes were looked for; `open_ended`: not all was tried."""

    reasons: tuple[Reason, ...]
    looked_for: tuple[PodSet, ...] = ()
    open_ended: bool = False


def assign(state: State, workload: Workload, queue: ClusterQueue) -> Admission | Refused:
    """What the workload would get now, or why nothing. The state is left as it was."""
    return _Search(state, workload, queue).run()


def told(reasons: tuple[Reason, ...]) -> tuple[Reason, tuple[Reason, ...]]:
    """The reason to tell, and the others in their order."""
    best = min(range(len(reasons)), key=lambda i: (reasons[i].permanent, -reasons[i].code.layer, i))
    return reasons[best], reasons[:best] + reasons[best + 1 :]


def matches(flavor: Flavor, shape: PodShape) -> bool:
    """May pods of this shape have this flavor?"""
    if untolerated(flavor.taints, shape.tolerations + flavor.tolerations) is not None:
        return False
    labels = dict(flavor.node_labels)
    if any(labels.get(key, value) != value for key, value in shape.node_selector):
        return False
    return affinity_holds(_cut(shape.affinity, labels), labels)


def shaped(shape: PodShape, flavors: list[Flavor]) -> PodShape:
    """The shape as its pods will be: with the labels and tolerations of these flavors."""
    selector, tolerations = shape.node_selector, shape.tolerations
    for flavor in flavors:
        selector += tuple(pair for pair in flavor.node_labels if pair not in selector)
        tolerations += tuple(t for t in flavor.tolerations if t not in tolerations)
    return replace(shape, node_selector=selector, tolerations=tolerations)


@dataclass(slots=True)
class _Search:
    """One search; gathers what it meets on its way."""

    state: State
    workload: Workload
    queue: ClusterQueue
    reasons: dict[Reason, None] = field(default_factory=dict)
    looked_for: dict[PodSet, None] = field(default_factory=dict)
    alone: dict[tuple[int, Choice], Reason | None] = field(default_factory=dict)
    asks: list[Amounts] = field(default_factory=list)
    options: list[list[Choice]] = field(default_factory=list)
    placed: int = 0

    def run(self) -> Admission | Refused:
        self.asks = [self._asks(pods) for pods in self.workload.pod_sets]
        if not self.reasons:
            by_pod_set = zip(self.workload.pod_sets, self.asks, strict=True)
            self.options = [self._options(pods, asks) for pods, asks in by_pod_set]
            found = self._choose([], {}) if all(self.options) else None
            if found is not None:
                return found
        reasons = dict.fromkeys(self._of_the_gang(reason) for reason in self.reasons)
        return Refused(tuple(reasons), tuple(self.looked_for), self.placed >= PLACED_AT_MOST)

    def _asks(self, pods: PodSet) -> Amounts:
        """What the pod set asks for in all, by resource; notes what isn't covered."""
        covered = {resource for group in self.queue.groups for resource in group.resources}
        asks = {r: min(MAX, amount * pods.count) for r, amount in pods.shape.requests if amount > 0 and pods.count}
        if PODS in covered and pods.count:
            asks[PODS] = ONE_POD * pods.count
        for resource, need in asks.items():
            if resource not in covered:
                self._no(Code.RESOURCE_NOT_COVERED, pods, resource=resource, need=need, permanent=True)
        return asks

    def _options(self, pods: PodSet, asks: Amounts) -> list[Choice]:
        """The pod set's combinations of flavors that match, in order; notes the flavors that don't."""
        by_group: list[list[Choice]] = []
        for group in self.queue.groups:
            wanted = [r for r in group.resources if r in asks]
            if wanted and not group.flavors:
                self._no(Code.RESOURCE_NOT_COVERED, pods, resource=wanted[0], need=asks[wanted[0]], permanent=True)
            if wanted:
                by_group.append([tuple((r, f) for r in wanted) for f in self._matching(group, pods)])
        return [tuple(pair for part in parts for pair in part) for parts in product(*by_group)]

    def _matching(self, group: ResourceGroup, pods: PodSet) -> Iterator[str]:
        for quotas in group.flavors:
            if matches(self.state.catalog.flavors[quotas.flavor], pods.shape):
                yield quotas.flavor
            else:
                self._no(Code.FLAVOR_NOT_MATCHED, pods, flavor=quotas.flavor, permanent=True)

    def _choose(self, chosen: list[Choice], used: dict[FlavorResource, int]) -> Admission | None:
        """The first combination, depth first, whose beginning is `chosen` and `used`."""
        at = len(chosen)
        if at == len(self.options):
            return self._place(chosen)
        for choice in self.options[at]:
            more = self._quota(at, choice, used)
            if more is None or not self._fits_alone(at, choice):
                continue
            found = self._choose([*chosen, choice], more)
            if found is not None or self.placed >= PLACED_AT_MOST:
                return found
        return None

    def _quota(self, at: int, choice: Choice, used: dict[FlavorResource, int]) -> dict[FlavorResource, int] | None:
        """What is used with this choice added; None, and noted, where quota says no."""
        more = dict(used)
        for resource, flavor in choice:
            fr = (flavor, resource)
            more[fr] = min(MAX, more.get(fr, 0) + self.asks[at][resource])
            need = min(MAX, more[fr] + self._bound(at + 1, resource, flavor))
            potential, available = (
                q(self.queue.name, fr) for q in (self.state.quotas.potential, self.state.quotas.available)
            )
            if need <= available:
                continue
            over = need > potential
            code, have = (Code.OVER_QUOTA, potential) if over else (Code.QUOTA_IN_USE, max(0, available))
            amounts = {"need": need, "have": have}
            self._no(code, self.workload.pod_sets[at], resource=resource, flavor=flavor, **amounts, permanent=over)
            return None
        return more

    def _bound(self, start: int, resource: str, flavor: str) -> int:
        """How much of the resource the pod sets from there on can get of this flavor only."""
        later = range(start, len(self.options))
        return sum(
            self.asks[at][resource]
            for at in later
            if resource in self.asks[at] and all((resource, flavor) in choice for choice in self.options[at])
        )

    def _fits_alone(self, at: int, choice: Choice) -> bool:
        """Can the pod set be placed with these flavors, were it the only one?"""
        if not self.state.profile.places:
            return True
        if (at, choice) not in self.alone:
            pods = self._shaped(at, choice)
            self.looked_for[pods] = None
            self.alone[at, choice] = gang.refusal(self.state.site, pods)
        reason = self.alone[at, choice]
        if reason is not None:
            self._note(reason, {reason.pod_set: choice})
        return reason is None

    def _place(self, chosen: list[Choice]) -> Admission | None:
        nodes: tuple[gang.Places, ...] = ((),) * len(chosen)
        if self.state.profile.places:
            self.placed += 1
            found = gang.place(self.state.site, [self._shaped(at, choice) for at, choice in enumerate(chosen)])
            if isinstance(found, Reason):
                by_pod_set = zip(self.workload.pod_sets, chosen, strict=True)
                self._note(found, {pods.name: choice for pods, choice in by_pod_set})
                return None
            nodes = found
        given = []
        for at, pods in enumerate(self.workload.pod_sets):
            flavors = tuple(sorted(chosen[at]))  # by resource, as whoever reads the admission back has them
            usage = tuple((r, self.asks[at][r]) for r, _ in flavors)
            given.append(PodSetAssigned(pods.name, pods.count, flavors, usage, nodes[at]))
        return Admission(self.queue.name, tuple(given))

    def _shaped(self, at: int, choice: Choice) -> PodSet:
        pods = self.workload.pod_sets[at]
        flavors = [self.state.catalog.flavors[name] for name in dict.fromkeys(f for _, f in choice)]
        return replace(pods, shape=shaped(pods.shape, flavors))

    def _of_the_gang(self, reason: Reason) -> Reason:
        """A no of the nodes to one of several pod sets, told of all of them; they get the flavor that it is about if they
        may."""
        if len(self.workload.pod_sets) == 1 or reason.code not in (Code.NODES_FULL, Code.CAPACITY_TOO_SMALL):
            return reason
        of_flavor = [
            next((c for c in choices if any(flavor == reason.flavor for _, flavor in c)), choices[0])
            for choices in self.options
        ]
        return gang.of_all(self.state.site, [self._shaped(at, choice) for at, choice in enumerate(of_flavor)], reason)

    def _note(self, reason: Reason, chosen: dict[str, Choice]) -> None:
        """A no of the nodes, with the flavor that was asked for there."""
        by_resource = dict(chosen.get(reason.pod_set, ()))
        flavor = by_resource.get(reason.resource) or next(iter(by_resource.values()), "")
        self.reasons[replace(reason, flavor=flavor)] = None

    def _no(self, code: Code, pods: PodSet, **said: str | int | bool) -> None:
        self.reasons[Reason(code, where=self.queue.name, pod_set=pods.name, **said)] = None  # type: ignore[arg-type]


def _cut(
    terms: tuple[tuple[Requirement, ...], ...] | None, labels: dict[str, str]
) -> tuple[tuple[Requirement, ...], ...] | None:
    """The affinity as far as it is about these labels; None where a term has nothing left to ask."""
    if terms is None:
        return None
    cut = tuple(tuple(r for r in term if r.key in labels) for term in terms)
    return cut if all(cut) else None
