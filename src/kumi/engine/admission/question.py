"""Question: one workload before one queue: what its pod sets ask for, who shares flavors, and how each flavor would do.

The rule, for an amount of one flavor-resource, with what the pod sets before got of it (val is both together):
    more than could ever be had        NO_FIT, ExceedsMaxQuota
    not more than is available now     FIT, at the level from which it is borrowed
    else, where val is within nominal quota, or it may be reclaimed in the tree, or the queue may preempt while borrowing (its
    policy says so, or dominant shares decide and it may reclaim)        what the oracle says of evicting for it
    else                               NO_FIT, WaitingForQuota
A flavor that pod sets may not have, that isn't there, or that differs from that of the slice to be replaced is no fit:
NoMatchingFlavor. For a pod set a flavor is as good as its worst resource, as the queue's fungibility ranks them.
Units          pod sets of one group ask together: they get the same flavors.
Cost           O(depth of the tree) a resource; what the oracle is asked is remembered for one search.
Source         Kueue: flavor assignment, workload slices (KEP-77).
Not here       which flavor is taken: in_turn.py, combinations.py; whether labels and taints match: matching.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kumi.api.quantity import MAX
from kumi.engine.admission.assignment import Assignment, Attempt, Mode, NoFit, Oracle, Resume
from kumi.engine.admission.fungibility import rank
from kumi.engine.admission.matching import matches, topology_implied, topology_matches
from kumi.engine.admission.quota import NO_QUOTA, FlavorResource
from kumi.engine.admission.requests import asked, remaining
from kumi.engine.model import (
    Amounts,
    ClusterQueue,
    Evictable,
    PodSet,
    PodSetAssigned,
    ResourceGroup,
    Workload,
)
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


@dataclass(frozen=True, slots=True)
class Aim:
    """What a search is narrowed to. `counts`: pods of each pod set (None: all that have not ended); `resume`: where the last
    cycle's search ended (None: from the first flavor); `nominated`: only the flavors that this assignment chose."""

    counts: tuple[int, ...] | None = None
    resume: Resume | None = None
    nominated: Assignment | None = None


ALL = Aim()


class Nobody:
    """The oracle of those who evict nobody."""

    def possibility(self, fr: FlavorResource, amount: int) -> tuple[Mode, int]:
        """Nobody goes."""
        return Mode.NO_CANDIDATES, 0


NOBODY = Nobody()


@dataclass(frozen=True, slots=True)
class Judged:
    """How one flavor would do for a unit: (mode, level) of each resource and of the worst one, and all of it as an attempt."""

    attempt: Attempt
    worst: tuple[Mode, int]
    parts: dict[str, tuple[Mode, int]]


@dataclass(slots=True)
class Question:
    """See the module. The state is only read."""

    state: State
    workload: Workload
    queue: ClusterQueue
    oracle: Oracle = NOBODY
    aim: Aim = ALL
    told: dict[tuple[FlavorResource, int], tuple[Mode, int]] = field(default_factory=dict)
    """what the oracle said"""
    counts: tuple[int, ...] = field(init=False)
    asks: list[Amounts] = field(init=False)
    """by pod set, resource -> what it asks for, also where that is 0"""
    units: list[tuple[int, ...]] = field(init=False)
    """the pod sets, by number, that get the same flavors"""
    unit_of: dict[int, int] = field(init=False)
    """by pod set, the number of its unit"""
    implied: bool = field(init=False)
    """every flavor of the queue has a topology"""
    slice: dict[str, PodSetAssigned] = field(init=False)
    """by pod set, what the slice holds that is replaced"""

    def __post_init__(self) -> None:
        pod_sets, wanted = self.workload.pod_sets, self.aim.counts
        have = [remaining(pods, reclaimable=self.state.profile.settings.reclaimable) for pods in pod_sets]
        self.counts = tuple(have) if wanted is None else tuple(map(min, wanted, have))
        self.asks = [asked(pods, self.queue, count) for pods, count in zip(pod_sets, self.counts, strict=True)]
        units: dict[str | int, list[int]] = {}
        for at, pods in enumerate(pod_sets):
            units.setdefault(pods.group or at, []).append(at)
        self.units = [tuple(unit) for unit in units.values()]
        self.unit_of = {at: n for n, unit in enumerate(self.units) for at in unit}
        self.implied = topology_implied(self.queue, self.state.catalog.flavors)
        old = self.state.holdings.admission.get(self.workload.replaces) if self.workload.replaces else None
        self.slice = {given.name: given for given in old.pod_sets} if old is not None else {}

    def pod_sets(self, unit: tuple[int, ...]) -> list[PodSet]:
        """The unit's pod sets."""
        return [self.workload.pod_sets[at] for at in unit]

    def together(self, unit: tuple[int, ...]) -> Amounts:
        """What the unit's pod sets ask for."""
        if len(unit) == 1:
            return self.asks[unit[0]]
        total: Amounts = {}
        for at in unit:
            for resource, amount in self.asks[at].items():
                total[resource] = min(MAX, total.get(resource, 0) + amount)
        return total

    def more(self, at: int, resource: str) -> int:
        """What the pod set asks for of the resource more than the slice holds that it replaces."""
        given = self.slice.get(self.workload.pod_sets[at].name)
        return self.asks[at][resource] - (dict(given.usage).get(resource, 0) if given is not None else 0)

    def group_of(self, resource: str) -> ResourceGroup | None:
        """The queue's group that covers the resource."""
        return next((group for group in self.queue.groups if resource in group.resources), None)

    def allowed(self, unit: tuple[int, ...], flavor: str, resource: str) -> bool:
        """May the flavor be looked at: by what the workload says, and by what was nominated?"""
        names = self.workload.allowed_flavors
        if names is not None and flavor not in names:
            return False
        nominated = self.aim.nominated
        return nominated is None or any(
            resource in nominated.pod_sets[at].flavors and nominated.pod_sets[at].flavors[resource].flavor == flavor
            for at in unit
            if at < len(nominated.pod_sets)
        )

    def mismatch(self, unit: tuple[int, ...], group: ResourceGroup, name: str) -> Reason | None:
        """Why the unit may not have the flavor; None: it may."""
        flavor = self.state.catalog.flavors.get(name)
        first = self.workload.pod_sets[unit[0]].name
        if flavor is None:
            return self.no(Code.FLAVOR_NOT_FOUND, first, flavor=name)
        for pods in self.pod_sets(unit):
            fine = topology_matches(flavor, pods, group, implied=self.implied) and matches(flavor, pods.shape)
            if not fine:
                return self.no(Code.FLAVOR_NOT_MATCHED, pods.name, flavor=name, permanent=True)
        return None

    def judge(self, unit: tuple[int, ...], name: str, wanted: Amounts, used: dict[FlavorResource, int]) -> Judged:
        """How the flavor, which the unit may have, does for these resources on top of what is used by the pod sets before."""
        parts: dict[str, tuple[Mode, int]] = {}
        reasons: list[Reason] = []
        worst, level, no_fit = (Mode.FIT, 0), 0, NoFit.NONE
        for resource, amount in wanted.items():
            reason = self._other_flavor(unit, name, resource)
            if reason is not None:
                found, why = (Mode.NO_FIT, 0), NoFit.NO_MATCHING_FLAVOR
            else:
                found, why, reason = self._quota(unit, (name, resource), amount, used)
            parts[resource] = found
            level = max(level, found[1])
            no_fit = max(no_fit, why, key=lambda n: n.badness)
            if reason is not None:
                reasons.append(reason)
            if worst[0] is not Mode.NO_FIT and self._worse(found, worst):
                worst = found
        return Judged(Attempt(name, worst[0], level, no_fit, tuple(reasons)), worst, parts)

    def no(self, code: Code, pod_set: str, **said: str | int | bool) -> Reason:
        """A no of this queue."""
        return Reason(code, where=self.queue.name, pod_set=pod_set, **said)  # type: ignore[arg-type]

    def _worse(self, one: tuple[Mode, int], other: tuple[Mode, int]) -> bool:
        return rank(*one, self.queue.fungibility) < rank(*other, self.queue.fungibility)

    def _quota(
        self, unit: tuple[int, ...], fr: FlavorResource, amount: int, used: dict[FlavorResource, int]
    ) -> tuple[tuple[Mode, int], NoFit, Reason | None]:
        quotas, queue = self.state.quotas, self.queue.name
        need = min(MAX, used.get(fr, 0) + amount)
        said: dict[str, str | int | bool] = {"flavor": fr[0], "resource": fr[1], "need": need}
        pod_set = self.workload.pod_sets[unit[0]].name
        potential = quotas.potential(queue, fr)
        if need > potential:
            reason = self.no(Code.OVER_QUOTA, pod_set, **said, have=potential, permanent=True)
            return (Mode.NO_FIT, 0), NoFit.EXCEEDS_MAX_QUOTA, reason
        available = max(0, quotas.available(queue, fr))
        level, may_reclaim = quotas.level(queue, fr, need)
        if need <= available:
            return (Mode.FIT, level), NoFit.NONE, None
        reason = self.no(Code.QUOTA_IN_USE, pod_set, **said, have=available)
        nominal = quotas.quota.get(queue, {}).get(fr, NO_QUOTA).nominal
        if need <= nominal or may_reclaim or self._preempts_while_borrowing:
            return self._possibility(fr, need), NoFit.NONE, reason
        return (Mode.NO_FIT, level), NoFit.WAITING_FOR_QUOTA, reason

    def _possibility(self, fr: FlavorResource, need: int) -> tuple[Mode, int]:
        if (fr, need) not in self.told:
            self.told[fr, need] = self.oracle.possibility(fr, need)
        return self.told[fr, need]

    def _other_flavor(self, unit: tuple[int, ...], name: str, resource: str) -> Reason | None:
        """The no of a slice that has to keep the flavor of the one that it replaces."""
        for pods in self.pod_sets(unit) if self.slice else ():
            given = self.slice.get(pods.name)
            if given is not None and dict(given.flavors).get(resource) != name:
                return self.no(Code.FLAVOR_NOT_MATCHED, pods.name, flavor=name, resource=resource, permanent=True)
        return None

    @property
    def _preempts_while_borrowing(self) -> bool:
        policy = self.queue.preemption
        shares_decide = self.state.profile.settings.fair is not None
        return policy.borrowing is not Evictable.NEVER or (shares_decide and policy.reclaim is not Evictable.NEVER)
