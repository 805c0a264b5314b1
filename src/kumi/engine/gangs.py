"""Gangs: the nouns of pod groups and their queues, what a pod says of its part in one, and what namespaces say of all of them.

Amounts are as in kumi.engine.model. A Queue's key is its name, as is a PriorityClass's; that of the others `namespace/name`.
Source        Volcano: PodGroup, Queue. Kubernetes: PodDisruptionBudget, ResourceQuota.
Not here      ClusterQueues and Workloads: model.py; which tasks of a gang are where: placement/tasks.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kumi.engine.model import Requirement

Listed: TypeAlias = tuple[tuple[str, int], ...]
"""(resource, amount), by resource"""


class QueueState(Enum):
    """OPEN takes pod groups; CLOSED and CLOSING take none, those inside go on; UNKNOWN is none of them."""

    OPEN = "Open"
    CLOSED = "Closed"
    CLOSING = "Closing"
    UNKNOWN = "Unknown"


class Phase(Enum):
    """Of a pod group. NEW: nobody has said anything of it yet."""

    NEW = ""
    PENDING = "Pending"
    INQUEUE = "Inqueue"
    RUNNING = "Running"
    UNKNOWN = "Unknown"
    COMPLETED = "Completed"


@dataclass(frozen=True, slots=True)
class NodeGroups:
    """Which node groups a queue's pods use: must, would like to, must not, would rather not; in the order of preference."""

    required: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    anti_required: tuple[str, ...] = ()
    anti_preferred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Queue:
    """A share of the cluster. `capability`: the most it may use (a resource that isn't named: no limit), `deserved`: what it may
    take back from others, `guarantee`: what nobody else may use. `parent` "" is the root. `hierarchy`: its path and the
    weights along it, for hierarchical dominant shares. `groups` None: it says nothing of node groups."""

    name: str
    created_ms: int = 0
    weight: int = 1
    capability: Listed = ()
    deserved: Listed = ()
    guarantee: Listed = ()
    reclaimable: bool = True
    priority: int = 0
    parent: str = ""
    state: QueueState = QueueState.OPEN
    hierarchy: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    groups: NodeGroups | None = None
    group_limits: tuple[tuple[str, Listed], ...] | None = ()
    """the most that its pods may use of a node group; None: what it says can't be read"""


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A gang. `least`: pods that must be placed at once, `least_of`: the same by role; `resources`: what it needs in all, None
    where it doesn't say; `counted`: what of it only quotas of namespaces count (requests.cpu, count/pods).
    `priority_class`: looked up when it is asked for. `preemptable` None: it doesn't say.
    `unavailable`, `available`: the budget for evictions as written (a count or a percentage), "" for none.
    `affinity`, `anti_affinity`, `role_order`: which roles like to be on one node, which don't, and which is placed first.
    `workload`: the admitted Workload whose pods these are; such a gang is past the queues."""

    key: str
    queue: str
    created_ms: int = 0
    uid: str = ""
    least: int = 0
    least_of: tuple[tuple[str, int], ...] = ()
    resources: Listed | None = None
    priority_class: str = ""
    phase: Phase = Phase.NEW
    preemptable: bool | None = None
    waiting_ms: int | None = None
    """how long it may wait before it goes first; None: it doesn't say"""
    unavailable: str = ""
    available: str = ""
    affinity: tuple[tuple[str, ...], ...] = ()
    anti_affinity: tuple[tuple[str, ...], ...] = ()
    role_order: tuple[str, ...] = ()
    workload: str = ""
    revision: int = field(default=0, compare=False)
    """of the object; 0: not known"""
    deadline_ms: int | None = None
    execution_ms: int | None = None
    """until when it must be done, since the epoch, and how long it takes; None: it doesn't say"""
    counted: Listed = ()


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A name for a number. `default`: what counts where nothing is named."""

    name: str
    value: int
    default: bool = False


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """How many more pods may be evicted of those in its namespace on whose labels `selector` holds. None means no pod, one that
    asks for nothing all of them; Volcano's plug-in pdb reads that as none. `granted`: names of pods whose
    eviction is counted in `allowed` already."""

    key: str
    selector: tuple[Requirement, ...] | None
    allowed: int = 0
    granted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamespaceQuota:
    """The most of each resource that a namespace may ask for, and what it asks for now."""

    key: str
    hard: Listed = ()
    used: Listed = ()


@dataclass(frozen=True, slots=True)
class Member:
    """What a pod says of its part in a gang. `group`: the key of its PodGroup, "" for none. `priority` None: it doesn't say.
    `annotated_role`: the role where an annotation names it. `preemptable` None: it doesn't say. `zone`: the revocable zone whose
    nodes it may use ("*": any, "": none). `never_preempts`: it evicts nobody. `nominated`: the node that was cleared for it."""

    group: str = ""
    role: str = ""
    annotated_role: str = ""
    priority: int | None = None
    preemptable: bool | None = None
    zone: str = ""
    never_preempts: bool = False
    nominated: str = ""
    numa_policy: str = ""
    priority_class: str = ""
    deadline_ms: int | None = None
    execution_ms: int | None = None


ALONE = Member()
"""a pod without a gang"""
