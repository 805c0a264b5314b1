"""scheduling.volcano.sh/v1beta1: PodGroup, a gang, and Queue, the share of the cluster that it is placed from."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.defaulting.structural import by_schema
from kumi.api.meta import Object, ObjectMeta, View
from kumi.api.schema import Int32, Int64, Quantity, RawObject, Time, like, say
from kumi.api.scheme import AGE, SCHEME, Column, Kind
from kumi.api.validation.volcano import validate_pod_group, validate_queue
from kumi.api.wire import JsonObject

GROUP_NAME_ANNOTATION = "scheduling.k8s.io/group-name"
TASK_SPEC_ANNOTATION = "volcano.sh/task-spec"
"""a pod's role; also as a label"""
TASK_PRIORITY_ANNOTATION = "volcano.sh/task-priority"
PREEMPTABLE = "volcano.sh/preemptable"
"""annotation or label, of pods and pod groups"""
REVOCABLE_ZONE_ANNOTATION = "volcano.sh/revocable-zone"
NUMA_POLICY_ANNOTATION = "volcano.sh/numa-topology-policy"
SLA_ANNOTATION = "sla-waiting-time"
MAX_UNAVAILABLE_ANNOTATION = "volcano.sh/jdb-max-unavailable"
MIN_AVAILABLE_ANNOTATION = "volcano.sh/jdb-min-available"
ROLE_AFFINITY_ANNOTATION = "volcano.sh/task-topology-affinity"
ROLE_ANTI_AFFINITY_ANNOTATION = "volcano.sh/task-topology-anti-affinity"
ROLE_ORDER_ANNOTATION = "volcano.sh/task-topology-task-order"
HIERARCHY_ANNOTATION = "volcano.sh/hierarchy"
HIERARCHY_WEIGHTS_ANNOTATION = "volcano.sh/hierarchy-weights"
GROUP_LIMITS_ANNOTATION = "volcano.sh/nodegroup-resource-limits"


def role_of(meta: ObjectMeta) -> str:
    """The role of a pod in its gang; "" where it says none."""
    return meta.annotations.get(TASK_SPEC_ANNOTATION) or meta.labels.get(TASK_SPEC_ANNOTATION) or ""


class PodGroupSpec(View):
    """How much of the gang must be placed at once, from which queue."""

    min_member: Annotated[Int32, say("pods that must be placed at once")] = 0
    min_task_member: Annotated[dict[str, Int32], say("the same, by task")] = {}
    queue: Annotated[str, say("the queue that pays", default="default")] = "default"
    priority_class_name: str = ""
    min_resources: Annotated[dict[str, Quantity], say("what the gang needs in all")] = {}
    network_topology: RawObject | None = None
    sub_group_policy: list[RawObject] = []


class PodGroupCondition(View):
    """What the scheduler last said of the gang."""

    type: str = ""
    status: str = ""
    transition_id: str = field(default="", name="transitionID")
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class PodGroupStatus(View):
    """phase: Pending, Inqueue, Running, Unknown, Completed."""

    phase: str = ""
    conditions: list[Annotated[JsonObject, like(PodGroupCondition)]] = []
    running: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0


class PodGroup(Object):
    """A gang."""

    spec: PodGroupSpec = field(default_factory=PodGroupSpec)
    status: PodGroupStatus = field(default_factory=PodGroupStatus)


class Guarantee(View):
    """What is held back for the queue; in a tree (enableHierarchy) only where a queue above it, root or not, has a capability."""

    resource: dict[str, Quantity] = {}


class NodeGroupTerms(View):
    """Node groups, in the order of preference."""

    required_during_scheduling_ignored_during_execution: list[str] = []
    preferred_during_scheduling_ignored_during_execution: list[str] = []


class QueueAffinity(View):
    """Which node groups a queue's pods use, and which they don't."""

    node_group_affinity: NodeGroupTerms | None = None
    node_group_anti_affinity: NodeGroupTerms | None = None


class ExtendCluster(View):
    """A cluster that jobs of the queue may be dispatched to."""

    name: str = ""
    weight: Int32 = 0
    capacity: dict[str, Quantity] = {}


class DeviceQuota(View):
    """So many devices of a DeviceClass, and so much of what they have."""

    count: Int64 = 0
    capacity: dict[str, Quantity] = {}


class ClaimQuotas(View):
    """What a queue may have of what ResourceClaims ask for, by DeviceClass; stored, not looked at."""

    capability: dict[str, DeviceQuota] = {}
    deserved: dict[str, DeviceQuota] = {}
    guarantee: dict[str, DeviceQuota] = {}


class QueueSpec(View):
    """What the queue may have, and when it gives back."""

    weight: Annotated[Int32, say("its part of what is shared out by weight", default=1)] = 1
    capability: Annotated[dict[str, Quantity], say("the most that it may use")] = {}
    deserved: Annotated[dict[str, Quantity], say("what it may take back from other queues")] = {}
    guarantee: Guarantee | None = None
    reclaimable: Annotated[bool | None, say("whether others may take back from it", default=True)] = None
    priority: Int32 = 0
    parent: str = ""
    affinity: QueueAffinity | None = None
    type: str = ""
    extend_clusters: list[ExtendCluster] = []
    dequeue_strategy: Annotated[
        str,
        say("whether who comes later passes a gang that doesn't fit; stored, not looked at", enum=["fifo", "traverse"]),
    ] = ""
    dra: ClaimQuotas | None = None


class Reservation(View):
    """Nodes that are locked for a queue, as Volcano's status tells it; Kumi locks none."""

    nodes: list[str] = []
    resource: dict[str, Quantity] = {}


class QueueStatus(View):
    """state: Open, Closed, Closing, Unknown; the rest counts pod groups by their phase."""

    state: str = ""
    allocated: dict[str, Quantity] = {}
    pending: Int32 = 0
    inqueue: Int32 = 0
    running: Int32 = 0
    unknown: Int32 = 0
    completed: Int32 = 0
    reservation: Reservation | None = None


class Queue(Object):
    """A share of the cluster. Cluster-scoped."""

    spec: QueueSpec = field(default_factory=QueueSpec)
    status: QueueStatus = field(default_factory=QueueStatus)


SCHEME.register(
    Kind(
        "scheduling.volcano.sh",
        "v1beta1",
        "Queue",
        "queues",
        Queue,
        namespaced=False,
        short_names=("q", "queue-v1beta1"),
        subresources=("status",),
        columns=(
            Column("PARENT", ".spec.parent"),
            Column("STATE", ".status.state"),
            Column("WEIGHT", ".spec.weight", "integer"),
            AGE,
        ),
        default=by_schema(Queue, "scheduling.volcano.sh", "v1beta1"),
        validate=validate_queue,
        custom=True,
        strategic=False,
    )
)

SCHEME.register(
    Kind(
        "scheduling.volcano.sh",
        "v1beta1",
        "PodGroup",
        "podgroups",
        PodGroup,
        short_names=("pg", "podgroup-v1beta1"),
        subresources=("status",),
        columns=(
            Column("Status", ".status.phase"),
            Column("MinMember", ".spec.minMember", "integer"),
            Column("Runnings", ".status.running", "integer"),
            AGE,
            Column("Queue", ".spec.queue", priority=1),
        ),
        default=by_schema(PodGroup, "scheduling.volcano.sh", "v1beta1"),
        validate=validate_pod_group,
        custom=True,
        strategic=False,
    )
)
