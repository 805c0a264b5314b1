"""kueue.x-k8s.io v1beta1, the types: what is different from v1beta2. They give that version its schema; nothing decodes them.

Source     Kueue: API reference v1beta1.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.kueue import (
    AdmissionCheckParametersReference,
    AdmissionChecksStrategy,
    AdmissionCheckStatus,
    AdmissionScope,
    ClusterQueuePreemption,
    CohortStatus,
    FairSharing,
    FairSharingStatus,
    FlavorUsage,
    LocalQueueSpec,
    ResourceFlavorSpec,
    ResourceGroup,
    StopPolicyName,
    TopologySpec,
)
from kumi.api.kueue_workload import (
    AdmissionCheckState,
    LabelKey,
    PodSet,
    PodSetName,
    PodSetRequest,
    ReclaimablePod,
    RequeueState,
    SchedulingStats,
    UnhealthyNode,
)
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.schema import Int32, Int64, Quantity, RawObject, Reference, keyed, say


class ResourceFlavor(Object):
    """A kind of capacity: spot, on-demand, a model of GPU. Cluster-scoped."""

    spec: ResourceFlavorSpec = field(default_factory=ResourceFlavorSpec)


class FlavorFungibility(View):
    """When the next flavor is tried before borrowing or preempting in this one."""

    when_can_borrow: Annotated[str | None, say(enum=["Borrow", "MayStopSearch", "TryNextFlavor"])] = None
    when_can_preempt: Annotated[str | None, say(enum=["Preempt", "MayStopSearch", "TryNextFlavor"])] = None
    preference: Annotated[str | None, say(enum=["BorrowingOverPreemption", "PreemptionOverBorrowing"])] = None


class ClusterQueueSpec(View):
    """A ClusterQueue's spec."""

    resource_groups: Annotated[list[ResourceGroup], say(maxItems=16)] = []
    cohort: Annotated[Reference, say("queues of one cohort lend each other what they don't use")] = ""
    queueing_strategy: Annotated[str, say(enum=["StrictFIFO", "BestEffortFIFO"])] = ""
    namespace_selector: Annotated[LabelSelector | None, say("who may use it; absent: nobody, {}: everybody")] = None
    flavor_fungibility: FlavorFungibility | None = None
    preemption: ClusterQueuePreemption | None = None
    admission_checks: Annotated[list[str], say("checks for all flavors", maxItems=64)] = []
    admission_checks_strategy: AdmissionChecksStrategy | None = None
    stop_policy: StopPolicyName = "None"
    fair_sharing: FairSharing | None = None
    admission_scope: AdmissionScope | None = None
    exclude_resource_prefixes: Annotated[list[str], say(maxItems=64)] = []


class ClusterQueueStatus(View):
    """A ClusterQueue's status."""

    conditions: Annotated[list[Condition], keyed("type")] = []
    flavors_reservation: Annotated[list[FlavorUsage], keyed("name")] = []
    flavors_usage: Annotated[list[FlavorUsage], keyed("name")] = []
    pending_workloads: Int32 = 0
    reserving_workloads: Int32 = 0
    admitted_workloads: Int32 = 0
    pending_workloads_status: RawObject | None = None
    fair_sharing: FairSharingStatus | None = None


class ClusterQueue(Object):
    """A pool of quota. Cluster-scoped."""

    spec: ClusterQueueSpec = field(default_factory=ClusterQueueSpec)
    status: ClusterQueueStatus = field(default_factory=ClusterQueueStatus)


class LocalQueueStatus(View):
    """A LocalQueue's status."""

    conditions: Annotated[list[Condition], keyed("type")] = []
    pending_workloads: Int32 = 0
    reserving_workloads: Int32 = 0
    admitted_workloads: Int32 = 0
    flavors_reservation: Annotated[list[FlavorUsage], keyed("name")] = []
    flavor_usage: Annotated[list[FlavorUsage], keyed("name")] = []
    flavors: list[RawObject] = []
    fair_sharing: FairSharingStatus | None = None


class LocalQueue(Object):
    """A namespace's door to a ClusterQueue."""

    spec: LocalQueueSpec = field(default_factory=LocalQueueSpec)
    status: LocalQueueStatus = field(default_factory=LocalQueueStatus)


class CohortSpec(View):
    """A Cohort's parent, and quota that all its queues share."""

    parent: Annotated[Reference, say("the cohort above; absent: none")] = ""
    resource_groups: Annotated[list[ResourceGroup], say(maxItems=16)] = []
    fair_sharing: FairSharing | None = None


class Cohort(Object):
    """A group of queues that share. Cluster-scoped."""

    spec: CohortSpec = field(default_factory=CohortSpec)
    status: CohortStatus = field(default_factory=CohortStatus)


class AdmissionCheckSpec(View):
    """Which controller decides the check, and with what parameters."""

    controller_name: Annotated[str, say(required=True, minLength=1, maxLength=253)] = ""
    retry_delay_minutes: Annotated[Int64 | None, say("no longer read")] = None
    parameters: AdmissionCheckParametersReference | None = None


class AdmissionCheck(Object):
    """A second opinion before a workload is admitted. Cluster-scoped."""

    spec: AdmissionCheckSpec = field(default_factory=AdmissionCheckSpec)
    status: AdmissionCheckStatus = field(default_factory=AdmissionCheckStatus)


class Topology(Object):
    """How nodes are grouped: block, rack, host. Cluster-scoped."""

    spec: TopologySpec = field(default_factory=TopologySpec)


class WorkloadPriorityClass(Object):
    """A named priority for queueing, apart from pods' priority. Cluster-scoped."""

    value: Annotated[Int32, say("higher goes first", required=True)] = 0
    description: Annotated[str, say(maxLength=2048)] = ""


class WorkloadSpec(View):
    """A Workload's spec."""

    pod_sets: Annotated[list[PodSet], keyed("name"), say(minItems=1, maxItems=8)] = []
    queue_name: Annotated[Reference, say("the LocalQueue")] = ""
    priority: Annotated[Int32 | None, say("higher goes first")] = None
    priority_class_name: Annotated[Reference, say("the class that the priority comes from")] = ""
    priority_class_source: Annotated[
        str, say(enum=["", "kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass"])
    ] = ""
    active: Annotated[bool, say("false holds it back, or evicts it")] = True
    maximum_execution_time_seconds: Annotated[Int32 | None, say("then it is deactivated", minimum=1)] = None


class TopologyDomainAssignment(View):
    """One domain, by its values from the widest level down, and how many pods go to it."""

    values: Annotated[list[str], say(minItems=1, maxItems=16)]
    count: Annotated[Int32, say(minimum=1)]


class TopologyAssignment(View):
    """Which domains of the topology the pods go to."""

    levels: Annotated[list[LabelKey], say(minItems=1, maxItems=16)]
    domains: list[TopologyDomainAssignment]


class PodSetAssignment(View):
    """What one pod set got."""

    name: PodSetName = "main"
    flavors: dict[str, Reference] = {}
    resource_usage: dict[str, Quantity] = {}
    count: Annotated[Int32 | None, say(minimum=0)] = None
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: Annotated[str | None, say(enum=["Pending", "Ready"])] = None


class Admission(View):
    """What a Workload got."""

    cluster_queue: Reference = ""
    pod_set_assignments: Annotated[list[PodSetAssignment], keyed("name"), say(maxItems=8)] = []


class WorkloadStatus(View):
    """A Workload's status."""

    conditions: Annotated[list[Condition], keyed("type"), say(maxItems=16)] = []
    admission: Admission | None = None
    requeue_state: RequeueState | None = None
    reclaimable_pods: Annotated[list[ReclaimablePod], keyed("name"), say(maxItems=8)] = []
    admission_checks: Annotated[list[AdmissionCheckState], keyed("name"), say(maxItems=8)] = []
    resource_requests: Annotated[list[PodSetRequest], keyed("name"), say(maxItems=8)] = []
    accumulated_past_exexcution_time_seconds: Int32 | None = None
    scheduling_stats: SchedulingStats | None = None
    nominated_cluster_names: Annotated[list[str], say(maxItems=10)] = []
    cluster_name: Annotated[str | None, say(maxLength=256)] = None
    unhealthy_nodes: Annotated[list[UnhealthyNode], keyed("name"), say(maxItems=8)] = []
    decision: RawObject | None = None


class Workload(Object):
    """A job as the queues see it."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)
    status: WorkloadStatus = field(default_factory=WorkloadStatus)
