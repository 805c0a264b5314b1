"""Why: one enum of reasons and one record of them, as data. Sentences are made in kumi.bridge.messages.

A reason names the layer that said no, what was needed and what there was, and which events would change the answer.
Layers are in the order in which an attempt meets them; the deepest layer that an attempt reached is the one to tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum


class Layer(IntEnum):
    """Where an attempt ended."""

    JOB = 0
    QUEUE = 1
    QUOTA = 2
    COHORT = 3
    GANG = 4
    NODE = 5


class Code(Enum):
    """What was wrong: value = (layer, events that may help)."""

    INACTIVE = (Layer.JOB, "the workload is activated")
    BACKING_OFF = (Layer.JOB, "the back-off is over")
    GATED = (Layer.JOB, "whoever holds its admission gate takes it away")
    CHECK_SAID_NO = (Layer.JOB, "its admission checks are asked again")
    REQUESTS_ABOVE_LIMITS = (Layer.JOB, "it asks for no more than its own limits")
    OUTSIDE_LIMIT_RANGE = (Layer.JOB, "it, or the namespace's LimitRanges, are changed so that they agree")
    NO_LOCAL_QUEUE = (Layer.QUEUE, "the LocalQueue is created")
    LOCAL_QUEUE_STOPPED = (Layer.QUEUE, "the LocalQueue's stopPolicy is None")
    NO_CLUSTER_QUEUE = (Layer.QUEUE, "the ClusterQueue is created")
    CLUSTER_QUEUE_STOPPED = (Layer.QUEUE, "the ClusterQueue's stopPolicy is None")
    FLAVOR_NOT_FOUND = (Layer.QUEUE, "the ResourceFlavor is created")
    TOPOLOGY_NOT_FOUND = (Layer.QUEUE, "the Topology is created")
    CHECK_NOT_FOUND = (Layer.QUEUE, "the AdmissionCheck is created")
    CHECK_INACTIVE = (Layer.QUEUE, "the AdmissionCheck becomes active")
    COHORT_CYCLE = (Layer.QUEUE, "a Cohort of the cycle gets another parent")
    NAMESPACE_NOT_SELECTED = (Layer.QUEUE, "the namespace's labels or the queue's namespaceSelector change")
    BEHIND = (Layer.QUEUE, "those ahead of it in line start or leave")
    WOULD_DELAY = (Layer.QUEUE, "those ahead of it in line start, or it says that it takes less time")
    BEHIND_HEAD = (Layer.QUEUE, "the workload ahead starts or leaves")
    RESOURCE_NOT_COVERED = (Layer.QUOTA, "the queue covers the resource")
    FLAVOR_NOT_MATCHED = (Layer.QUOTA, "a flavor matches the pods' tolerations, node selector and affinity")
    OVER_QUOTA = (Layer.QUOTA, "the queue's quota is raised")
    QUOTA_IN_USE = (Layer.QUOTA, "admitted work ends")
    PREEMPTING = (Layer.COHORT, "the preempted workloads have stopped")
    OUTRUN = (Layer.COHORT, "it is its turn again")
    PODS_NOT_READY = (Layer.COHORT, "the pods of all admitted workloads are ready")
    NO_NODES = (Layer.NODE, "a node joins")
    NODE_TOO_SMALL = (Layer.NODE, "a larger node joins")
    NODE_NOT_MATCHED = (Layer.NODE, "a node matches the pods' tolerations, node selector and affinity")
    CLAIM_NOT_FOUND = (Layer.NODE, "the PersistentVolumeClaim is created")
    CLAIM_NOT_READY = (Layer.NODE, "the PersistentVolumeClaim has a volume")
    CLAIM_SHARED = (Layer.NODE, "a node has room for all its pods, or its PersistentVolumeClaim is ReadWriteMany")
    CLAIM_IN_USE = (Layer.NODE, "the pod that uses the PersistentVolumeClaim ends")
    CAPACITY_TOO_SMALL = (Layer.GANG, "nodes are added")
    GPUS_SPLIT = (Layer.GANG, "pods that have a GPU, or a share of one, end")
    NODES_FULL = (Layer.GANG, "pods on the nodes end")
    RESERVATION_LOST = (Layer.NODE, "the node comes back, or the workload is admitted again")
    NO_POD_GROUP = (Layer.JOB, "the PodGroup is created")
    NO_QUEUE = (Layer.QUEUE, "the Queue is created")
    QUEUE_CLOSED = (Layer.QUEUE, "the Queue is opened")
    QUEUE_INNER = (Layer.QUEUE, "its PodGroup names a Queue below it, or there is none below it any more")
    QUEUES_NO_TREE = (Layer.QUEUE, "the Queue root and every Queue's parent exist, and none is above itself")
    NOT_LET_IN = (Layer.QUEUE, "gangs that were let in before end, or the Queue may have more")
    NODES_CLAIMED = (Layer.QUEUE, "gangs that were let in before end, or nodes are added")
    NAMESPACE_QUOTA = (Layer.QUEUE, "pods of the namespace end, or its ResourceQuotas are raised")
    QUEUE_SHARE = (Layer.QUEUE, "pods of the Queue end, or it may have more")
    PROMISED = (Layer.GANG, "the pods that are leaving have left")
    GANG_SHORT = (Layer.GANG, "pods on the nodes end, or nodes are added")
    PODS_GATED = (Layer.GANG, "their scheduling gates are removed")
    GANG_INCOMPLETE = (Layer.GANG, "the rest of the gang's pods are created")

    @property
    def layer(self) -> Layer:
        """The layer that said no."""
        return self.value[0]

    @property
    def helps(self) -> str:
        """What would change the answer, for people."""
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Reason:
    """One no. Amounts are base units (see kumi.engine.model).

    `need` and `have` are about `resource` of `flavor` on `where` (a queue, a node, or "" for all nodes together);
    `pods` how many of the gang could not be placed; `permanent`: it can't succeed as things are (too large for all there is).
    For a pod on its own `detail` is what it was about (taint, selector, not ready ...) and `nodes` how many nodes said this
    no; two reasons that differ only in `nodes` are equal."""

    code: Code
    resource: str = ""
    flavor: str = ""
    where: str = ""
    pod_set: str = ""
    need: int = 0
    have: int = 0
    pods: int = 0
    permanent: bool = False
    nodes: int = field(default=0, compare=False)
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Somebody who goes first or holds what is wanted: `workload` key, `job` for people, `amount` of the resource held."""

    workload: str
    job: str
    amount: int = 0


@dataclass(frozen=True, slots=True)
class Tried:
    """A flavor that was looked at for a pod set, and how it would do as for quota: NoFit, NoCandidates, Preempt, Reclaim or Fit,
    borrowing from so high up in the tree of cohorts (0: not at all)."""

    pod_set: str
    flavor: str
    mode: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Considered:
    """A workload that was considered for eviction. `cause`: it is to be evicted, by this rule (the word of the condition
    Preempted); "": it is not, and `why_not` says why."""

    workload: str
    job: str
    cause: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """The decision record of one attempt: the reason to tell, every other no in the order of the attempt (each flavor),
    who holds what is wanted, the place in the queue (1 = head, 0 = not queued), the flavors that were looked at, and who was
    considered for eviction."""

    reason: Reason
    others: tuple[Reason, ...] = ()
    holders: tuple[Ahead, ...] = ()
    ahead: tuple[Ahead, ...] = ()
    position: int = 0
    at_ms: int = 0
    tried: tuple[Tried, ...] = ()
    considered: tuple[Considered, ...] = ()
