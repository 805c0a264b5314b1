"""kueue.x-k8s.io v1beta2, the Workload: a job as the queues see it. Import these from kumi.api.kueue.

What controllers write into the status and others only pass on is kept as JSON; its schema is given by the types here.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.core import Toleration
from kumi.api.meta import Condition, Object, View
from kumi.api.schema import (
    LABEL_NAME,
    Int32,
    PodTemplate,
    Quantity,
    RawObject,
    Reference,
    Time,
    keyed,
    like,
    say,
)
from kumi.api.wire import JsonObject

PodSetName = Annotated[str, say(maxLength=63, pattern=LABEL_NAME)]
LevelName = Annotated[str, say(maxLength=63)]
LabelKey = Annotated[str, say(maxLength=317)]


class TopologyConstraint(View):
    """One level of slices within slices: pods per slice and the level that holds one."""

    topology: Annotated[str, say("the level's node label", maxLength=317)]
    size: Annotated[Int32, say("pods in a slice", minimum=1)]


class PodSetTopologyRequest(View):
    """How close together the pods of a pod set must be."""

    required: Annotated[LevelName | None, say("all pods in one domain of this level, or none")] = None
    preferred: Annotated[LevelName | None, say("one domain of this level if it has room, else as few as possible")] = (
        None
    )
    unconstrained: Annotated[bool | None, say("any free place will do")] = None
    pod_index_label: LabelKey | None = None
    sub_group_index_label: LabelKey | None = None
    sub_group_count: Int32 | None = None
    pod_set_group_name: Annotated[str | None, say("pod sets of one group are placed together", maxLength=256)] = None
    pod_set_slice_required_topology: Annotated[LevelName | None, say("each slice in one domain of this level")] = None
    pod_set_slice_size: Annotated[Int32 | None, say("pods in a slice")] = None
    podset_slice_required_topology_constraints: Annotated[list[TopologyConstraint], say(maxItems=3)] = []


class PodSet(View):
    """Pods of one shape; `template` is the pod template as written."""

    name: Annotated[PodSetName, say("unique within the workload", default="main")] = "main"
    count: Annotated[Int32, say("how many pods", minimum=0, default=1)] = 1
    min_count: Annotated[Int32 | None, say("the fewest that the job can run with", minimum=1)] = None
    template: Annotated[PodTemplate, say(required=True)] = {}
    topology_request: Annotated[JsonObject | None, like(PodSetTopologyRequest)] = None


class PriorityClassRef(View):
    """Where the priority comes from."""

    group: Annotated[str, say(required=True, enum=["kueue.x-k8s.io", "scheduling.k8s.io"])] = ""
    kind: Annotated[str, say(required=True, enum=["WorkloadPriorityClass", "PriorityClass"])] = ""
    name: Annotated[Reference, say(required=True, minLength=1)] = ""


class PreemptionGate(View):
    """A gate that keeps a workload from preempting others until it is opened."""

    name: Annotated[str, say(minLength=1, maxLength=316)]


class WorkloadSpec(View):
    """A Workload's spec."""

    pod_sets: Annotated[
        list[PodSet], keyed("name"), say("1 to 8; fixed once quota is held", minItems=1, maxItems=8)
    ] = []
    queue_name: Annotated[Reference, say("the LocalQueue")] = ""
    priority: Annotated[Int32 | None, say("higher goes first")] = None
    priority_class_ref: PriorityClassRef | None = None
    active: Annotated[bool, say("false holds it back, or evicts it", default=True)] = True
    maximum_execution_time_seconds: Annotated[Int32 | None, say("then it is deactivated", minimum=1)] = None
    preemption_gates: Annotated[list[PreemptionGate], keyed("name"), say(maxItems=8)] = []


class TopologyIndividualValues(View):
    """A value for each domain: prefix + root + suffix."""

    prefix: LevelName | None = None
    suffix: LevelName | None = None
    roots: Annotated[list[LevelName], say(minItems=1, maxItems=100000)] = []


class TopologyValues(View):
    """The values of one level: the same for all domains, or one each."""

    universal: LevelName | None = None
    individual: TopologyIndividualValues | None = None


class TopologyPodCounts(View):
    """Pods a domain: the same for all, or one number each."""

    universal: Annotated[Int32 | None, say(minimum=1)] = None
    individual: Annotated[list[Int32], say(minItems=1, maxItems=100000)] = []


class TopologyAssignmentSlice(View):
    """Some of the domains, column by column."""

    domain_count: Annotated[Int32, say(minimum=1)]
    values_per_level: Annotated[list[TopologyValues], say(minItems=1, maxItems=16)]
    pod_counts: TopologyPodCounts


class TopologyAssignment(View):
    """Which domains of the topology the pods go to, in the order of pod indices."""

    levels: Annotated[list[LabelKey], say(minItems=1, maxItems=16)]
    slices: Annotated[list[TopologyAssignmentSlice], say(minItems=1, maxItems=1000)]


class PodSetAssignment(View):
    """What one pod set got: flavors by resource, total usage, count, and the nodes as a topology assignment."""

    name: Annotated[PodSetName, say(default="main")] = "main"
    flavors: dict[str, Reference] = {}
    resource_usage: dict[str, Quantity] = {}
    count: Annotated[Int32 | None, say(minimum=0)] = None
    topology_assignment: Annotated[JsonObject | None, like(TopologyAssignment)] = None
    delayed_topology_request: Annotated[str | None, say(enum=["Pending", "Ready"])] = None


class Admission(View):
    """What a Workload got."""

    cluster_queue: Reference = ""
    pod_set_assignments: Annotated[list[PodSetAssignment], keyed("name"), say(maxItems=8)] = []


class RequeueState(View):
    """How often it was put back, and until when it waits."""

    count: Annotated[Int32 | None, say(minimum=0)] = None
    requeue_at: Time | None = None


class ReclaimablePod(View):
    """Pods of a pod set that no longer need their quota."""

    name: PodSetName
    count: Annotated[Int32, say(minimum=0)]


class PodSetUpdate(View):
    """What an admission check adds to the pods of a pod set."""

    name: PodSetName
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    node_selector: dict[str, str] = {}
    tolerations: Annotated[list[Toleration], say(maxItems=8)] = []


class AdmissionCheckState(View):
    """Where one admission check stands."""

    name: Annotated[str, say(minLength=1, maxLength=316)]
    state: Annotated[str, say(enum=["Pending", "Ready", "Retry", "Rejected"])]
    last_transition_time: Time | None = None
    message: Annotated[str, say(maxLength=32768)] = ""
    pod_set_updates: Annotated[list[PodSetUpdate], say(maxItems=8)] = []
    requeue_after_seconds: Annotated[Int32 | None, say(minimum=0)] = None
    retry_count: Annotated[Int32 | None, say(minimum=0)] = None


class PodSetRequest(View):
    """What a pod set asked for when it was last considered."""

    name: PodSetName
    resources: dict[str, Quantity] = {}


class SchedulingStatsEviction(View):
    """How often it was evicted for one reason."""

    reason: Annotated[str, say(maxLength=316)]
    underlying_cause: Annotated[str, say(maxLength=316)]
    count: Annotated[Int32, say(minimum=0)]


class SchedulingStats(View):
    """Counts over the workload's life."""

    evictions: Annotated[list[SchedulingStatsEviction], keyed("reason", "underlyingCause"), say(maxItems=256)] = []


class UnhealthyNode(View):
    """A node that failed under the workload."""

    name: Annotated[str, say(maxLength=63)]


class PreemptionGateState(View):
    """Whether a preemption gate is open."""

    name: Annotated[str, say(minLength=1, maxLength=316)]
    position: Annotated[str, say(enum=["Open", "Closed"])]
    last_transition_time: Time | None = None


class WorkloadStatus(View):
    """A Workload's status; `decision` is Kumi's record of the newest attempt (docs/concepts.md)."""

    conditions: Annotated[list[Condition], keyed("type"), say(maxItems=16)] = []
    admission: Admission | None = None
    requeue_state: Annotated[JsonObject | None, like(RequeueState)] = None
    reclaimable_pods: Annotated[list[Annotated[JsonObject, like(ReclaimablePod)]], keyed("name"), say(maxItems=8)] = []
    admission_checks: Annotated[
        list[Annotated[JsonObject, like(AdmissionCheckState)]], keyed("name"), say(maxItems=8)
    ] = []
    resource_requests: Annotated[list[Annotated[JsonObject, like(PodSetRequest)]], keyed("name"), say(maxItems=8)] = []
    accumulated_past_execution_time_seconds: Int32 | None = None
    scheduling_stats: Annotated[JsonObject | None, like(SchedulingStats)] = None
    nominated_cluster_names: Annotated[list[str], say(maxItems=10)] = []
    cluster_name: Annotated[str | None, say(maxLength=256)] = None
    unhealthy_nodes: Annotated[list[Annotated[JsonObject, like(UnhealthyNode)]], keyed("name"), say(maxItems=8)] = []
    preemption_gates: Annotated[
        list[Annotated[JsonObject, like(PreemptionGateState)]], keyed("name"), say(maxItems=8)
    ] = []
    decision: RawObject | None = None


class Workload(Object):
    """A job as the queues see it."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)
    status: WorkloadStatus = field(default_factory=WorkloadStatus)
