"""kueue.x-k8s.io, stored as v1beta2. kueue_v1beta1.py converts both ways, kueue_kinds.py registers the kinds.

Fields whose rule comes later (flavors tried all at once) are here and are stored; what is not yet in force is named in the
ClusterQueue's status.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.core import Taint, Toleration
from kumi.api.kueue_workload import (
    Admission,
    AdmissionCheckState,
    PodSet,
    PodSetAssignment,
    PodSetTopologyRequest,
    PriorityClassRef,
    Workload,
    WorkloadSpec,
    WorkloadStatus,
)
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.schema import LABEL_NAME as _LABEL_NAME
from kumi.api.schema import Int32, Int64, Quantity, Reference, Time, keyed, like, say
from kumi.api.wire import JsonObject

__all__ = [
    "Admission",
    "AdmissionCheckState",
    "PodSet",
    "PodSetAssignment",
    "PodSetTopologyRequest",
    "PriorityClassRef",
    "Workload",
    "WorkloadSpec",
    "WorkloadStatus",
]

GROUP = "kueue.x-k8s.io"
VERSION = "v1beta2"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS_LABEL = "kueue.x-k8s.io/priority-class"
POD_SET_LABEL = "kueue.x-k8s.io/podset"
WORKLOAD_ANNOTATION = "kueue.x-k8s.io/workload"
LOCAL_QUEUE_LABEL = "kueue.x-k8s.io/local-queue-name"
CLUSTER_QUEUE_LABEL = "kueue.x-k8s.io/cluster-queue-name"
JOB_UID_LABEL = "kueue.x-k8s.io/job-uid"
GATES_ANNOTATION = "kueue.x-k8s.io/admission-gated-by"
BOOST_ANNOTATION = "kueue.x-k8s.io/priority-boost"
FLAVORS_ANNOTATION = "kueue.x-k8s.io/workload-allowed-resource-flavors"
ELASTIC_ANNOTATION = "kueue.x-k8s.io/elastic-job"
SLICE_ANNOTATION = "kueue.x-k8s.io/workload-slice-name"
SLICE_OF_ANNOTATION = "kueue.x-k8s.io/workload-slice-replacement-for"
IN_USE = "kueue.x-k8s.io/resource-in-use"
"""the finalizer of what something still needs"""
HOST_LEVEL = "kubernetes.io/hostname"


StopPolicyName = Annotated[
    str,
    say(
        "None runs; Hold admits nothing new; HoldAndDrain evicts what was admitted as well",
        enum=["None", "Hold", "HoldAndDrain"],
        default="None",
    ),
]


class FairSharing(View):
    """How much a queue or cohort counts for among its equals."""

    weight: Annotated[Quantity | None, say("1 by default; 0 goes last", default=1)] = None


class ResourceFlavorSpec(View):
    """What nodes of a flavor look like."""

    node_labels: Annotated[
        dict[str, str], say("labels of the nodes; pods get them as node selector", maxProperties=8)
    ] = {}
    node_taints: Annotated[list[Taint], say("taints that a workload must tolerate to get this flavor", maxItems=8)] = []
    tolerations: Annotated[list[Toleration], say("added to the pods that get this flavor", maxItems=8)] = []
    topology_name: Annotated[Reference | None, say("the Topology of its nodes")] = None
    resource_weights: Annotated[dict[str, Quantity], say("what a resource counts for in shares", maxProperties=16)] = {}


class ResourceFlavor(Object):
    """A kind of capacity: spot, on-demand, a model of GPU. Cluster-scoped."""

    spec: ResourceFlavorSpec = field(default_factory=ResourceFlavorSpec)


class ResourceQuota(View):
    """How much of one resource of one flavor; quantities as written."""

    name: str
    nominal_quota: Annotated[Quantity, say("what the queue may always use", required=True)] = "0"
    borrowing_limit: Annotated[Quantity | None, say("the most it may borrow from its cohort; none: no limit")] = None
    lending_limit: Annotated[Quantity | None, say("the most that others may borrow of it; none: all of it")] = None


class FlavorQuotas(View):
    """The quotas of one flavor."""

    name: Reference
    resources: Annotated[
        list[ResourceQuota],
        keyed("name"),
        say("in the order of coveredResources", maxItems=64),
    ] = []


class ResourceGroup(View):
    """Resources that are assigned the same flavor, and the flavors in the order in which they are tried."""

    covered_resources: Annotated[list[str], say("cpu, memory, vendor.com/gpu ...", maxItems=64)] = []
    flavors: Annotated[
        list[FlavorQuotas], keyed("name"), say("tried in this order", required=True, minItems=1, maxItems=64)
    ] = []


class FlavorFungibility(View):
    """When the next flavor is tried before borrowing or preempting in this one."""

    when_can_borrow: Annotated[
        str | None,
        say("if it would have to borrow", enum=["MayStopSearch", "TryNextFlavor"], default="MayStopSearch"),
    ] = None
    when_can_preempt: Annotated[
        str | None,
        say("if it would have to preempt", enum=["MayStopSearch", "TryNextFlavor"], default="TryNextFlavor"),
    ] = None
    preference: Annotated[
        str | None,
        say(
            "which is the lesser evil when all flavors ask for one",
            enum=["BorrowingOverPreemption", "PreemptionOverBorrowing"],
        ),
    ] = None


class BorrowWithinCohort(View):
    """Whether a workload that has to borrow may preempt others of its cohort."""

    policy: Annotated[str | None, say(enum=["Never", "LowerPriority"], default="Never")] = None
    max_priority_threshold: Annotated[Int32 | None, say("only those of at most this priority")] = None


class ClusterQueuePreemption(View):
    """Who may be preempted for a workload of this queue."""

    reclaim_within_cohort: Annotated[
        str | None,
        say(
            "workloads of other queues that use more than their own",
            enum=["Never", "LowerPriority", "Any"],
            default="Never",
        ),
    ] = None
    borrow_within_cohort: Annotated[BorrowWithinCohort | None, say(default={})] = None
    within_cluster_queue: Annotated[
        str | None,
        say(
            "workloads of the same queue", enum=["Never", "LowerPriority", "LowerOrNewerEqualPriority"], default="Never"
        ),
    ] = None


class AdmissionCheckStrategyRule(View):
    """An admission check, and the flavors that it is for (none: all)."""

    name: Annotated[str, say(minLength=1, maxLength=316)]
    on_flavors: Annotated[list[Reference], say(maxItems=64)] = []


class AdmissionChecksStrategy(View):
    """Which admission checks a workload must pass."""

    admission_checks: Annotated[
        list[AdmissionCheckStrategyRule], keyed("name"), say(required=True, minItems=1, maxItems=64)
    ] = []


class AdmissionScope(View):
    """Whether past usage counts when workloads of this queue are ordered."""

    admission_mode: Annotated[
        str, say(required=True, enum=["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"])
    ] = ""


class ConcurrentAdmissionConstraints(View):
    """How far a workload may go back in the order of flavors."""

    last_acceptable_flavor_name: Reference | None = None


class ConcurrentAdmissionMigration(View):
    """Whether a running workload moves to a better flavor."""

    mode: Annotated[str, say(required=True, enum=["TryPreferredFlavors", "RetainFirstAdmission"])] = ""
    constraints: ConcurrentAdmissionConstraints | None = None


class ConcurrentAdmissionPolicy(View):
    """One try a flavor, all at once."""

    migration: Annotated[ConcurrentAdmissionMigration, say(required=True)] = field(
        default_factory=ConcurrentAdmissionMigration
    )


class ClusterQueueSpec(View):
    """A ClusterQueue's spec."""

    resource_groups: Annotated[
        list[ResourceGroup], say("a resource and a flavor belong to one group at most", maxItems=16)
    ] = []
    cohort_name: Annotated[Reference, say("queues of one cohort lend each other what they don't use")] = ""
    queueing_strategy: Annotated[
        str,
        say(
            "StrictFIFO: the head blocks the rest; BestEffortFIFO: one that can't start is set aside",
            enum=["StrictFIFO", "BestEffortFIFO"],
            default="BestEffortFIFO",
        ),
    ] = "BestEffortFIFO"
    namespace_selector: Annotated[LabelSelector | None, say("who may use it; absent: nobody, {}: everybody")] = None
    flavor_fungibility: Annotated[FlavorFungibility | None, say(default={})] = None
    preemption: Annotated[ClusterQueuePreemption | None, say(default={})] = None
    admission_checks_strategy: AdmissionChecksStrategy | None = None
    stop_policy: StopPolicyName = "None"
    fair_sharing: FairSharing | None = None
    admission_scope: AdmissionScope | None = None
    concurrent_admission_policy: ConcurrentAdmissionPolicy | None = None
    exclude_resource_prefixes: Annotated[list[str], say("resources that this queue does not count", maxItems=64)] = []


class ResourceUsage(View):
    """How much of a resource is used, and how much of that is borrowed."""

    name: str
    total: Quantity = "0"
    borrowed: Quantity = "0"


class FlavorUsage(View):
    """What is used of a flavor."""

    name: Reference
    resources: Annotated[list[ResourceUsage], keyed("name"), say(maxItems=64)] = []


class AdmissionFairSharingStatus(View):
    """Past usage, decayed."""

    consumed_resources: dict[str, Quantity] = {}
    last_update: Time | None = None


class FairSharingStatus(View):
    """The share as of now."""

    weighted_share: Int64 = 0
    admission_fair_sharing_status: AdmissionFairSharingStatus | None = None


class ClusterQueueStatus(View):
    """A ClusterQueue's status."""

    conditions: Annotated[list[Condition], keyed("type"), say(maxItems=16)] = []
    flavors_reservation: Annotated[list[Annotated[JsonObject, like(FlavorUsage)]], keyed("name"), say(maxItems=64)] = []
    flavors_usage: Annotated[list[Annotated[JsonObject, like(FlavorUsage)]], keyed("name"), say(maxItems=64)] = []
    pending_workloads: Int32 = 0
    reserving_workloads: Int32 = 0
    admitted_workloads: Int32 = 0
    fair_sharing: FairSharingStatus | None = None


class ClusterQueue(Object):
    """A pool of quota. Cluster-scoped."""

    spec: ClusterQueueSpec = field(default_factory=ClusterQueueSpec)
    status: ClusterQueueStatus = field(default_factory=ClusterQueueStatus)


class LocalQueueSpec(View):
    """A LocalQueue's spec."""

    cluster_queue: Annotated[Reference, say("the queue that gives the quota; fixed")] = ""
    stop_policy: StopPolicyName = "None"
    fair_sharing: FairSharing | None = None


class LocalQueueStatus(View):
    """A LocalQueue's status."""

    conditions: Annotated[list[Condition], keyed("type"), say(maxItems=16)] = []
    pending_workloads: Int32 = 0
    reserving_workloads: Int32 = 0
    admitted_workloads: Int32 = 0
    flavors_reservation: Annotated[list[Annotated[JsonObject, like(FlavorUsage)]], keyed("name"), say(maxItems=64)] = []
    flavors_usage: Annotated[list[Annotated[JsonObject, like(FlavorUsage)]], keyed("name"), say(maxItems=64)] = []
    fair_sharing: FairSharingStatus | None = None


class LocalQueue(Object):
    """A namespace's door to a ClusterQueue."""

    spec: LocalQueueSpec = field(default_factory=LocalQueueSpec)
    status: LocalQueueStatus = field(default_factory=LocalQueueStatus)


class WorkloadPriorityClass(Object):
    """A named priority for queueing, apart from pods' priority. Cluster-scoped."""

    value: Annotated[Int32, say("higher goes first", required=True)] = 0
    description: Annotated[str, say(maxLength=2048)] = ""


class CohortSpec(View):
    """A Cohort's parent, and quota that all its queues share."""

    parent_name: Annotated[Reference, say("the cohort above; absent: none")] = ""
    resource_groups: Annotated[list[ResourceGroup], say(maxItems=16)] = []
    fair_sharing: FairSharing | None = None


class CohortStatus(View):
    """A Cohort's status."""

    fair_sharing: FairSharingStatus | None = None


class Cohort(Object):
    """A group of queues that share. Cluster-scoped."""

    spec: CohortSpec = field(default_factory=CohortSpec)
    status: CohortStatus = field(default_factory=CohortStatus)


class AdmissionCheckParametersReference(View):
    """An object with the check's parameters."""

    api_group: Reference
    kind: Annotated[str, say(maxLength=63)]
    name: Annotated[str, say(maxLength=63, pattern=_LABEL_NAME)]


class AdmissionCheckSpec(View):
    """Which controller decides the check, and with what parameters."""

    controller_name: Annotated[str, say("fixed", required=True, minLength=1, maxLength=253)] = ""
    parameters: AdmissionCheckParametersReference | None = None


class AdmissionCheckStatus(View):
    """An AdmissionCheck's status."""

    conditions: Annotated[list[Condition], keyed("type"), say(maxItems=16)] = []


class AdmissionCheck(Object):
    """A second opinion before a workload is admitted. Cluster-scoped."""

    spec: AdmissionCheckSpec = field(default_factory=AdmissionCheckSpec)
    status: AdmissionCheckStatus = field(default_factory=AdmissionCheckStatus)


class TopologyLevel(View):
    """A level of the topology, named by the node label that tells its domains apart."""

    node_label: Annotated[str, say(required=True, minLength=1, maxLength=316)] = ""


class TopologySpec(View):
    """The levels, the widest first."""

    levels: Annotated[list[TopologyLevel], say("fixed", required=True, minItems=1, maxItems=16)] = []


class Topology(Object):
    """How nodes are grouped: block, rack, host. Cluster-scoped."""

    spec: TopologySpec = field(default_factory=TopologySpec)
