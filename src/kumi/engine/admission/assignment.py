"""Assignment: which flavors a workload would get, what that takes of quota, and what it would need to happen first.

The rule, from worst to best:
    NO_FIT          not now, or never: too much is asked for, or no flavor matches
    NO_CANDIDATES   within what is the queue's, but nobody may be evicted for it
    PREEMPT         if workloads are evicted, some of them of the queue itself
    RECLAIM         if workloads are evicted, all of them of queues that use more than their own
    FIT             now
    a resource has the mode of its flavor; a flavor, for a pod set, that of its worst resource; a pod set that of its worst
    flavor; an assignment that of its worst pod set. The level says how high up in the tree room is borrowed from (quota.py).
Resume         `tried` is the index of the last flavor of the group that was looked at, -1 where that was the last of all.
Oracle         whether eviction could help is asked of one flavor-resource at a time, before anybody is chosen.
Units          base units.
Not here       how it is found: flavors.py, combinations.py; who is evicted: candidates.py, victims.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Protocol, TypeAlias

from kumi.engine.admission.quota import FlavorResource
from kumi.engine.model import Admission, Amounts, PodSet, PodSetAssigned
from kumi.engine.reasons import Reason

LAST = -1
"""`tried` where no flavor is left to look at"""

Places: TypeAlias = tuple[tuple[str, int], ...]
"""(node, how many pods)"""
Resume: TypeAlias = tuple[tuple[tuple[str, int], ...], ...]
"""per pod set, (resource, tried): where the next search goes on"""


class Mode(IntEnum):
    """See the module; greater is better."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    @property
    def evicts(self) -> bool:
        """Would workloads have to go first?"""
        return Mode.NO_FIT < self < Mode.FIT


class NoFit(Enum):
    """Why there is no fit: the value is Kueue's reason, the order is from mild to bad."""

    NONE = ""
    TOPOLOGY_PLACEMENT_FAILED = "TopologyPlacementFailed"
    WAITING_FOR_QUOTA = "WaitingForQuota"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"

    @property
    def badness(self) -> int:
        """Place in the order."""
        return list(NoFit).index(self)


class Oracle(Protocol):
    """Whether eviction could help, before anybody is chosen."""

    def possibility(self, fr: FlavorResource, amount: int) -> tuple[Mode, int]:
        """For so much more of one flavor-resource: NO_CANDIDATES, PREEMPT or RECLAIM, and the level after their eviction."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The flavor of one resource of a pod set."""

    flavor: str
    mode: Mode
    level: int = 0
    tried: int = LAST


@dataclass(frozen=True, slots=True)
class Attempt:
    """One flavor that was looked at for a pod set, and its worst resource. `reasons`: every no of it."""

    flavor: str
    mode: Mode
    level: int = 0
    no_fit: NoFit = NoFit.NONE
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class PodSetChosen:
    """One pod set: `count` pods that ask for `requests` together. `flavors` is empty where it doesn't fit."""

    name: str
    count: int
    requests: Amounts
    mode: Mode
    flavors: dict[str, Chosen] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    no_fit: NoFit = NoFit.NONE
    nodes: Places = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a workload would get of a queue. `usage`: what it adds to the queue's (for the new slice of an elastic job only what
    it needs more than the old one). `reasons`: every no on the way, each once, in the order in which they were met.
    `looked_for`: pod sets, as their pods would be with one choice of flavors, for which nodes were looked for; `open_ended`:
    not all was tried."""

    queue: str
    mode: Mode
    pod_sets: tuple[PodSetChosen, ...]
    usage: dict[FlavorResource, int]
    level: int = 0
    no_fit: NoFit = NoFit.NONE
    reasons: tuple[Reason, ...] = ()
    looked_for: tuple[PodSet, ...] = ()
    open_ended: bool = False

    @property
    def contended(self) -> tuple[FlavorResource, ...]:
        """The flavor-resources for which workloads would have to go."""
        found = [(c.flavor, r) for p in self.pod_sets for r, c in p.flavors.items() if c.mode.evicts]
        return tuple(sorted(set(found)))

    @property
    def resume(self) -> Resume:
        """Where the next search goes on."""
        return tuple(tuple(sorted((r, c.tried) for r, c in p.flavors.items())) for p in self.pod_sets)

    @property
    def pending_flavors(self) -> bool:
        """Are there flavors that weren't looked at?"""
        return any(tried != LAST for one in self.resume for _, tried in one)

    def admission(self) -> Admission:
        """What the workload is given."""
        return Admission(self.queue, tuple(_given(one) for one in self.pod_sets))


def _given(one: PodSetChosen) -> PodSetAssigned:
    flavors = tuple(sorted((resource, chosen.flavor) for resource, chosen in one.flavors.items()))
    usage = tuple((resource, one.requests[resource]) for resource, _ in flavors)
    return PodSetAssigned(one.name, one.count, flavors, usage, one.nodes)
