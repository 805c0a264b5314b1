"""What the engine is told: plain values, one class a noun, and the deltas that carry them.

Amounts are int64 in the resource's base unit: cpu and devices (any name with a `/`, and `pods`) in thousandths, memory and
everything else that is counted in bytes in bytes (kumi.api.quantity says which). Times are int milliseconds since the epoch.
Every key is unique within its class: `name`, `namespace/name` or a uid; the bridge makes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

Amounts: TypeAlias = dict[str, int]
"""resource name -> amount in base units"""


class StopPolicy(Enum):
    """Of a queue: NONE runs, HOLD admits nothing new, HOLD_AND_DRAIN evicts what was admitted as well."""

    NONE = "None"
    HOLD = "Hold"
    HOLD_AND_DRAIN = "HoldAndDrain"


class Strategy(Enum):
    """STRICT: the oldest of a queue blocks the rest. BEST_EFFORT: one that can't start is set aside."""

    STRICT = "StrictFIFO"
    BEST_EFFORT = "BestEffortFIFO"


@dataclass(frozen=True, slots=True)
class Taint:
    """Of a node or a flavor."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Toleration:
    """Of a pod or a flavor; operator Exists or Equal; an empty key with Exists endures all, an empty effect every effect."""

    key: str
    operator: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a selector: In, NotIn, Exists, DoesNotExist, Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flavor:
    """A kind of capacity; its labels select nodes, its taints must be tolerated by the pod or by its own tolerations."""

    name: str
    node_labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """Of one resource of one flavor; limits None: unlimited."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True)
class FlavorQuotas:
    """One flavor's quotas by resource."""

    flavor: str
    quotas: tuple[tuple[str, Quota], ...]


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that get the same flavor; flavors in the order in which they are tried."""

    resources: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """A pool of quota. `selector` None selects no namespace; () selects all."""

    name: str
    groups: tuple[ResourceGroup, ...]
    strategy: Strategy = Strategy.BEST_EFFORT
    stop: StopPolicy = StopPolicy.NONE
    selector: tuple[Requirement, ...] | None = ()
    cohort: str = ""


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A namespace's door; key is `namespace/name`."""

    key: str
    cluster_queue: str
    stop: StopPolicy = StopPolicy.NONE


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace and its labels."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PodShape:
    """All that placement and flavors read of a pod. Equal shapes are interned once.

    `affinity` is the required node affinity: terms of which one must hold, each a tuple of requirements that all must."""

    requests: tuple[tuple[str, int], ...]
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    affinity: tuple[tuple[Requirement, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class PodSet:
    """`count` pods of one shape."""

    name: str
    count: int
    shape: PodShape


@dataclass(frozen=True, slots=True)
class PodSetAssigned:
    """What one pod set got. `flavors`: resource -> flavor. `nodes`: (node, how many pods), in the order of pod indices;
    empty where the cluster's own scheduler places."""

    name: str
    count: int
    flavors: tuple[tuple[str, str], ...]
    usage: tuple[tuple[str, int], ...]
    nodes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Admission:
    """What a workload got."""

    cluster_queue: str
    pod_sets: tuple[PodSetAssigned, ...]


@dataclass(frozen=True, slots=True)
class Workload:
    """A job as the queues see it. `key` is `namespace/name`, `uid` breaks ties, `job` is for people (`PyTorchJob team-a/bert`).

    `active` False: held by its user. `requeue_at_ms`: back-off, not before then. `evicted`: being stopped; it keeps its
    quota until `admission` goes. `queued_ms`: its time in the order of the queue where that isn't its creation (0: it is).
    `revision`: of the object, where the source counts changes upwards (0: unknown); it is no part of what the workload is.
    With it, State.settle tells an old sight of the workload from one in which the admission was taken away again."""

    key: str
    uid: str
    namespace: str
    queue: str
    priority: int
    created_ms: int
    pod_sets: tuple[PodSet, ...]
    job: str = ""
    admission: Admission | None = None
    evicted: bool = False
    finished: bool = False
    active: bool = True
    requeue_at_ms: int = 0
    queued_ms: int = 0
    revision: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Node:
    """A node. `ready` False or `unschedulable` True takes no new pod."""

    name: str
    labels: tuple[tuple[str, str], ...]
    allocatable: tuple[tuple[str, int], ...]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod. `workload` is the key of the Workload that it belongs to ("" for a pod on its own), `pod_set` its pod set,
    `index` its number within the pod set where the kind gives one. `node` "" is unbound. Finished pods hold nothing."""

    uid: str
    key: str
    shape: PodShape
    created_ms: int
    priority: int = 0
    node: str = ""
    workload: str = ""
    pod_set: str = ""
    index: int | None = None
    finished: bool = False
    terminating: bool = False
    gated: bool = False


Noun: TypeAlias = Flavor | ClusterQueue | LocalQueue | Namespace | Workload | Node | Pod


@dataclass(frozen=True, slots=True)
class Put:
    """There is such a thing now, or it changed. For a Workload or a Pod that the engine itself has decided about and not
    settled yet, the engine keeps its decision until it is settled."""

    noun: Noun


@dataclass(frozen=True, slots=True)
class Remove:
    """It is gone. `key`: name, namespace/name (LocalQueue, Workload) or uid (Pod)."""

    type: (
        type[Flavor] | type[ClusterQueue] | type[LocalQueue] | type[Namespace] | type[Workload] | type[Node] | type[Pod]
    )
    key: str


Delta: TypeAlias = Put | Remove


@dataclass(frozen=True, slots=True)
class Profile:
    """Which strategies decide: `name` kumi, kueue or volcano. `places`: Kumi places pods itself (policy placement: kumi);
    False: only quota is decided (placement: none)."""

    name: str = "kumi"
    places: bool = True
    arguments: dict[str, str] = field(default_factory=dict)
