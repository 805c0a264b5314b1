"""What the engine is told: plain values, one class a noun, and the deltas that carry them.

Amounts are int64 in the resource's base unit: cpu and devices (any name with a `/`, and `pods`) in thousandths, memory and
everything else that is counted in bytes in bytes (kumi.api.quantity says which). Times are int milliseconds since the epoch.
Every key is unique within its class: `name`, `namespace/name` or a uid; the bridge makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from kumi.engine.gangs import (
    ALONE,
    DisruptionBudget,
    Member,
    NamespaceQuota,
    PodGroup,
    PriorityClass,
    Queue,
)
from kumi.engine.placement.conf import DEFAULT, Conf
from kumi.engine.reasons import Reason
from kumi.engine.settings import Settings

if TYPE_CHECKING:
    from kumi.engine.measuring import Measuring
    from kumi.engine.placement.hooks import Configured

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


class Evictable(Enum):
    """Whom a preemptor may evict, by priority: nobody, lower ones, also equals that came later, anybody."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    LOWER_OR_NEWER_EQUAL = "LowerOrNewerEqualPriority"
    ANY = "Any"


@dataclass(frozen=True, slots=True)
class Preemption:
    """Of a ClusterQueue: whom its workloads may evict. `within`: of their own queue; `reclaim`: of queues of the cohort that use
    more than their own; `borrowing`: for a workload that itself has to borrow, of queues of the cohort that do (NEVER or
    LOWER_PRIORITY), at most of priority `borrowing_threshold` (None: any)."""

    within: Evictable = Evictable.NEVER
    reclaim: Evictable = Evictable.NEVER
    borrowing: Evictable = Evictable.NEVER
    borrowing_threshold: int | None = None


@dataclass(frozen=True, slots=True)
class Fungibility:
    """Of a ClusterQueue: whether the search for a flavor may stop at one that needs borrowing, or preempting, and which of the
    two is the lesser evil where all flavors ask for one."""

    stop_at_borrowing: bool = True
    stop_at_preemption: bool = False
    prefer_preemption: bool = False


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
    """A kind of capacity; its labels select nodes, its taints must be tolerated by the pod or by its own tolerations.
    `topology`: the Topology of its nodes, "" for none."""

    name: str
    node_labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str = ""


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
class CheckRule:
    """An AdmissionCheck that a ClusterQueue asks for: of workloads that get one of `flavors`, () for all."""

    name: str
    flavors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """A pool of quota. `selector` None selects no namespace; () selects all. `weight`: its fair share among its equals (0: none
    but what is its own). `by_usage`: its LocalQueues take turns by what they used (admission fair sharing)."""

    name: str
    groups: tuple[ResourceGroup, ...]
    strategy: Strategy = Strategy.BEST_EFFORT
    stop: StopPolicy = StopPolicy.NONE
    selector: tuple[Requirement, ...] | None = ()
    cohort: str = ""
    preemption: Preemption = Preemption()
    fungibility: Fungibility = Fungibility()
    weight: float = 1.0
    checks: tuple[CheckRule, ...] = ()
    by_usage: bool = False


@dataclass(frozen=True, slots=True)
class Cohort:
    """Queues that lend to each other; a node of the quota tree. `parent` "" is a root. It also exists, with no quota of its
    own and no parent, where only queues name it."""

    name: str
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Topology:
    """How the nodes of flavors are grouped: node labels, the widest level first."""

    name: str
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    """Somebody else who has a say: an external controller, or Kumi's own for its name. `active`: it is being answered for."""

    name: str
    controller: str = ""
    active: bool = True


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A namespace's door; key is `namespace/name`. `weight`: its share among the doors of a queue that admits by usage;
    `consumed`: resource -> usage, decayed, in units of the resource as of `consumed_ms` (cores, bytes, devices)."""

    key: str
    cluster_queue: str
    stop: StopPolicy = StopPolicy.NONE
    weight: float = 1.0
    consumed: tuple[tuple[str, float], ...] = ()
    consumed_ms: int = 0


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace and its labels."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()


Terms: TypeAlias = tuple[tuple[Requirement, ...], ...]
"""of a node affinity: one of them must hold, each a tuple of requirements that all must"""


class Exclusive(Enum):
    """Who may use a volume at a time."""

    NO = "anybody"
    NODE = "the pods of one node"
    POD = "one pod"


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    """A PersistentVolumeClaim; key is `namespace/name`. `waits`: why no pod may be placed on it (unbound, deleted, lost), "" when
    one may; `nodes`: from where its volume can be reached, `zones`: the same as labels of the volume say it, None: from
    everywhere. `driver`: who attaches its volume to nodes, "" nobody; `handle`: what that calls it, "" while it isn't made."""

    key: str
    waits: str = ""
    nodes: Terms | None = None
    exclusive: Exclusive = Exclusive.NO
    zones: Terms | None = None
    driver: str = ""
    handle: str = ""


Preferences: TypeAlias = tuple[tuple[int, tuple[Requirement, ...]], ...]
"""of a node affinity: (weight, requirements that all must hold)"""


@dataclass(frozen=True, slots=True)
class PodTerm:
    """Which pods a pod looks at, and how far around a node: those on nodes with the same value of the label `topology`.

    A pod is meant when `selector` (None: nothing) holds on its labels and its namespace is one of `namespaces` or has labels on
    which `namespace_selector` holds; where neither says anything, the namespace of the pod that has the term."""

    topology: str
    selector: tuple[Requirement, ...] | None
    namespaces: tuple[str, ...] = ()
    namespace_selector: tuple[Requirement, ...] | None = None


@dataclass(frozen=True, slots=True)
class SpreadTerm:
    """Pods of the same namespace on which `selector` holds are to be spread over the values of the label `topology`, none having
    `skew` more than another. `hard`: else the pod isn't placed; not: it is only better. `domains`: so many values there
    are to be, or the least counts as none. `by_affinity`, `by_taints`: nodes that the pod can't use for those don't count.
    `unlabelled`: of one that isn't hard, nodes without the label count all the same, as if nobody were there."""

    topology: str
    selector: tuple[Requirement, ...] | None
    skew: int = 1
    hard: bool = True
    domains: int = 1
    by_affinity: bool = True
    by_taints: bool = False
    unlabelled: bool = False


WeightedTerms: TypeAlias = tuple[tuple[int, PodTerm], ...]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What a pod says of other pods: `near`, `apart` must be; `rather_near`, `rather_apart` are better."""

    near: tuple[PodTerm, ...] = ()
    apart: tuple[PodTerm, ...] = ()
    rather_near: WeightedTerms = ()
    rather_apart: WeightedTerms = ()
    spread: tuple[SpreadTerm, ...] = ()

    @property
    def binds(self) -> bool:
        """Does it keep the pod from any node, or does it only make nodes better and worse?"""
        return bool(self.near or self.apart) or any(term.hard for term in self.spread)


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port of the host that a container listens on; `ip` "0.0.0.0" is every address."""

    port: int
    protocol: str = "TCP"
    ip: str = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class PodShape:
    """All that placement and flavors read of a pod. Equal shapes are interned once.

    `affinity` is the required node affinity, `preferred` what of nodes is better; `volume_claims` the keys of the claims that its
    volumes name. `images`: of its `containers` containers. `scored`: (cpu, memory) as scores count them, None: as `requests`
    (a container that asks for none of one counts as one that asks for little). `neighbours` None: it says nothing of other pods.
    `whole_cpus`: of a guaranteed pod, container by container, the cpus that it gets for itself; () for others."""

    requests: tuple[tuple[str, int], ...]
    node_selector: tuple[tuple[str, str], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    affinity: Terms | None = None
    volume_claims: tuple[str, ...] = ()
    preferred: Preferences = ()
    ports: tuple[HostPort, ...] = ()
    neighbours: Neighbours | None = None
    images: tuple[str, ...] = ()
    containers: int = 1
    scored: tuple[int, int] | None = None
    whole_cpus: tuple[int, ...] = ()
    share: int = 0
    """thousandths of ONE device of `nvidia.com/gpu` that the pod shares with others; `requests` names the same amount of it. 0:
    it shares none, and the devices that it requests are its own, whole"""


@dataclass(frozen=True, slots=True)
class PodSet:
    """`count` pods of one shape. `least`: with how many the job is content, None: with all. `group`: pod sets of one group get
    the same flavors. `topology`: what it asks of the topology, as the API has it ("" nothing): flavors with one or without.
    `quota`: what a pod counts for in quota, where that is not what it requests (excluded and transformed resources)."""

    name: str
    count: int
    shape: PodShape
    least: int | None = None
    group: str = ""
    topology: str = ""
    quota: tuple[tuple[str, int], ...] | None = None
    reclaimed: int = 0
    """how many of its pods have ended and use no quota any more"""
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    """of its pods, as far as they are written before these exist"""


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
class CheckState:
    """What an AdmissionCheck says of one workload: Pending, Ready, Retry or Rejected."""

    name: str
    state: str = "Pending"


@dataclass(frozen=True, slots=True)
class Workload:
    """A job as the queues see it. `key` is `namespace/name`, `uid` breaks ties, `job` is for people (`PyTorchJob team-a/bert`).
    `priority` is the effective one: its class and any boost.

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
    reserved_ms: int = 0
    """when it got its quota; 0: not known"""
    admitted: bool = False
    """condition Admitted is True: besides quota, all its checks are ready"""
    checks: tuple[CheckState, ...] = ()
    gates: tuple[str, ...] = ()
    """who still holds it back from its queue (admission gates)"""
    allowed_flavors: tuple[str, ...] | None = None
    """only these flavors may be used for it; None: any"""
    replaces: str = ""
    """the workload (key) whose place it takes: a new slice of an elastic job"""
    refused: Reason | None = None
    """what is wrong with it whatever its queue is like (requests above limits, a LimitRange): it is not tried"""
    pods_ready: bool = False
    waiting: bool = False
    """it was said to wait for workloads that are preempted for it"""
    revision: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Node:
    """A node. `ready` False or `unschedulable` True takes no new pod. `images`: (name, bytes) of those that it has."""

    name: str
    labels: tuple[tuple[str, str], ...]
    allocatable: tuple[tuple[str, int], ...]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    ready: bool = True
    images: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """How busy a node is, in percent over the last minutes, as of `measured_ms`; None: not known."""

    node: str
    cpu: float | None = None
    memory: float | None = None
    measured_ms: int = 0


@dataclass(frozen=True, slots=True)
class Cpu:
    """One logical cpu of a node, and what it is part of."""

    number: int
    core: int
    socket: int
    numa: int


@dataclass(frozen=True, slots=True)
class NumaTopology:
    """How the cpus of a node are grouped, which of them are free to be given whole (`free`), how many the system keeps
    (thousandths), and how its kubelet gives them out. `policy`: of the topology manager; `static`: it pins cpus at all."""

    node: str
    cpus: tuple[Cpu, ...] = ()
    free: tuple[int, ...] = ()
    reserved: int = 0
    policy: str = ""
    static: bool = False


@dataclass(frozen=True, slots=True)
class VolumeLimits:
    """How many volumes of a driver a node takes at most, by driver; of one that isn't named any number."""

    node: str
    most: tuple[tuple[str, int], ...] = ()


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
    phase: str = "Pending"
    member: Member = ALONE
    labels: tuple[tuple[str, str], ...] = ()
    started_ms: int = 0
    """when it began to run, 0 while it hasn't"""
    devices: tuple[int, ...] = ()
    """the numbers of its GPUs on its node, where that is written on it"""

    @property
    def namespace(self) -> str:
        """The first part of its key."""
        return self.key.partition("/")[0]

    @property
    def name(self) -> str:
        """The second."""
        return self.key.partition("/")[2]


Noun: TypeAlias = (
    Flavor
    | Topology
    | AdmissionCheck
    | Cohort
    | ClusterQueue
    | LocalQueue
    | Namespace
    | Workload
    | Node
    | Pod
    | Queue
    | PodGroup
    | PriorityClass
    | DisruptionBudget
    | NamespaceQuota
    | VolumeClaim
    | NodeUsage
    | NumaTopology
    | VolumeLimits
)


@dataclass(frozen=True, slots=True)
class Put:
    """There is such a thing now, or it changed. For a Workload or a Pod that the engine itself has decided about and not
    settled yet, the engine keeps its decision until it is settled."""

    noun: Noun


@dataclass(frozen=True, slots=True)
class Remove:
    """It is gone. `key`: name, namespace/name (LocalQueue, Workload) or uid (Pod)."""

    type: type[Noun]
    key: str


Delta: TypeAlias = Put | Remove


@dataclass(frozen=True, slots=True)
class Profile:
    """Which strategies decide: `name` kumi, kueue or volcano. `places`: Kumi places pods itself (policy placement: kumi);
    False: only quota is decided (placement: none). `conf`: actions and plug-ins for pod groups; `plugins`: those that aren't
    Kumi's own, by name; `measuring`: where it is known from how busy nodes are, None where nobody wants to know."""

    name: str = "kumi"
    places: bool = True
    arguments: dict[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    conf: Conf = DEFAULT
    plugins: Mapping[str, Configured] = field(default_factory=dict)
    measuring: Measuring | None = None
    vain: tuple[str, ...] = field(default=(), compare=False)
    """what its file says in vain, each with its place there"""
