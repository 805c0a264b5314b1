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
    NO_LOCAL_QUEUE = (Layer.QUEUE, "the LocalQueue is created")
    LOCAL_QUEUE_STOPPED = (Layer.QUEUE, "the LocalQueue's stopPolicy is None")
    NO_CLUSTER_QUEUE = (Layer.QUEUE, "the ClusterQueue is created")
    CLUSTER_QUEUE_STOPPED = (Layer.QUEUE, "the ClusterQueue's stopPolicy is None")
    FLAVOR_NOT_FOUND = (Layer.QUEUE, "the ResourceFlavor is created")
    NAMESPACE_NOT_SELECTED = (Layer.QUEUE, "the namespace's labels or the queue's namespaceSelector change")
    BEHIND_HEAD = (Layer.QUEUE, "the workload ahead starts or leaves")
    RESOURCE_NOT_COVERED = (Layer.QUOTA, "the queue covers the resource")
    FLAVOR_NOT_MATCHED = (Layer.QUOTA, "a flavor matches the pods' tolerations, node selector and affinity")
    OVER_QUOTA = (Layer.QUOTA, "the queue's quota is raised")
    QUOTA_IN_USE = (Layer.QUOTA, "admitted work ends")
    NO_NODES = (Layer.NODE, "a node joins")
    NODE_TOO_SMALL = (Layer.NODE, "a larger node joins")
    NODE_NOT_MATCHED = (Layer.NODE, "a node matches the pods' tolerations, node selector and affinity")
    CAPACITY_TOO_SMALL = (Layer.GANG, "nodes are added")
    NODES_FULL = (Layer.GANG, "pods on the nodes end")
    RESERVATION_LOST = (Layer.NODE, "the node comes back, or the workload is admitted again")
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
class Record:
    """The decision record of one attempt: the reason to tell, every other no in the order of the attempt (each flavor),
    who holds what is wanted, and the place in the queue (1 = head, 0 = not queued)."""

    reason: Reason
    others: tuple[Reason, ...] = ()
    holders: tuple[Ahead, ...] = ()
    ahead: tuple[Ahead, ...] = ()
    position: int = 0
    at_ms: int = 0
