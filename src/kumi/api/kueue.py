"""kueue.x-k8s.io, stored as v1beta2. kueue_v1beta1.py converts both ways.

Fields whose rule comes later (cohort, borrowing, preemption, fair sharing ...) are here and are stored; what is not yet in
force is named in the ClusterQueue's status.
"""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.core import Taint, Toleration
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.wire import JsonObject

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS_LABEL = "kueue.x-k8s.io/priority-class"
POD_SET_LABEL = "kueue.x-k8s.io/podset"
WORKLOAD_ANNOTATION = "kueue.x-k8s.io/workload"
LOCAL_QUEUE_LABEL = "kueue.x-k8s.io/local-queue-name"
CLUSTER_QUEUE_LABEL = "kueue.x-k8s.io/cluster-queue-name"
JOB_UID_LABEL = "kueue.x-k8s.io/job-uid"
HOST_LEVEL = "kubernetes.io/hostname"


class ResourceFlavorSpec(View):
    """What nodes of a flavor look like."""

    node_labels: dict[str, str] = {}
    node_taints: list[Taint] = []
    tolerations: list[Toleration] = []
    topology_name: str | None = None


class ResourceFlavor(Object):
    """A kind of capacity: spot, on-demand, a model of GPU. Cluster-scoped."""

    spec: ResourceFlavorSpec = field(default_factory=ResourceFlavorSpec)


class ResourceQuota(View):
    """How much of one resource of one flavor; quantities as written."""

    name: str
    nominal_quota: str | int | float = "0"
    borrowing_limit: str | int | float | None = None
    lending_limit: str | int | float | None = None


class FlavorQuotas(View):
    """The quotas of one flavor."""

    name: str
    resources: list[ResourceQuota] = []


class ResourceGroup(View):
    """Resources that are assigned the same flavor, and the flavors in the order in which they are tried."""

    covered_resources: list[str] = []
    flavors: list[FlavorQuotas] = []


class ClusterQueueSpec(View):
    """A ClusterQueue's spec."""

    resource_groups: list[ResourceGroup] = []
    cohort_name: str = ""
    queueing_strategy: str = "BestEffortFIFO"
    namespace_selector: LabelSelector | None = None
    flavor_fungibility: dict[str, Any] | None = None
    preemption: dict[str, Any] | None = None
    admission_checks_strategy: dict[str, Any] | None = None
    stop_policy: str = "None"
    fair_sharing: dict[str, Any] | None = None
    admission_scope: dict[str, Any] | None = None


class ClusterQueueStatus(View):
    """A ClusterQueue's status."""

    conditions: list[Condition] = []
    flavors_reservation: list[dict[str, Any]] = []
    flavors_usage: list[dict[str, Any]] = []
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0


class ClusterQueue(Object):
    """A pool of quota. Cluster-scoped."""

    spec: ClusterQueueSpec = field(default_factory=ClusterQueueSpec)
    status: ClusterQueueStatus = field(default_factory=ClusterQueueStatus)


class LocalQueueSpec(View):
    """A LocalQueue's spec."""

    cluster_queue: str = ""
    stop_policy: str = "None"
    fair_sharing: dict[str, Any] | None = None


class LocalQueueStatus(View):
    """A LocalQueue's status."""

    conditions: list[Condition] = []
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    flavors_reservation: list[dict[str, Any]] = []
    flavors_usage: list[dict[str, Any]] = []


class LocalQueue(Object):
    """A namespace's door to a ClusterQueue."""

    spec: LocalQueueSpec = field(default_factory=LocalQueueSpec)
    status: LocalQueueStatus = field(default_factory=LocalQueueStatus)


class PodSet(View):
    """Pods of one shape; `template` is the pod template as written."""

    name: str = "main"
    count: int = 1
    min_count: int | None = None
    template: JsonObject = {}
    topology_request: dict[str, Any] | None = None


class PriorityClassRef(View):
    """Where the priority comes from."""

    group: str = ""
    kind: str = ""
    name: str = ""


class WorkloadSpec(View):
    """A Workload's spec."""

    pod_sets: list[PodSet] = []
    queue_name: str = ""
    priority: int | None = None
    priority_class_ref: PriorityClassRef | None = None
    active: bool = True
    maximum_execution_time_seconds: int | None = None


class PodSetAssignment(View):
    """What one pod set got: flavors by resource, total usage, count, and the nodes as a topology assignment."""

    name: str = "main"
    flavors: dict[str, str] = {}
    resource_usage: dict[str, str | int | float] = {}
    count: int | None = None
    topology_assignment: dict[str, Any] | None = None


class Admission(View):
    """What a Workload got."""

    cluster_queue: str = ""
    pod_set_assignments: list[PodSetAssignment] = []


class WorkloadStatus(View):
    """A Workload's status; `decision` is Kumi's record of the newest attempt (docs/concepts.md)."""

    conditions: list[Condition] = []
    admission: Admission | None = None
    requeue_state: dict[str, Any] | None = None
    reclaimable_pods: list[dict[str, Any]] = []
    admission_checks: list[dict[str, Any]] = []
    decision: dict[str, Any] | None = None


class Workload(Object):
    """A job as the queues see it."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)
    status: WorkloadStatus = field(default_factory=WorkloadStatus)


class WorkloadPriorityClass(Object):
    """A named priority for queueing, apart from pods' priority. Cluster-scoped."""

    value: int = 0
    description: str = ""


class Cohort(Object):
    """A group of queues that share (accepted and stored; its rule comes later). Cluster-scoped."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
