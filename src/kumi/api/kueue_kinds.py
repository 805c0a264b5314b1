"""The kinds of kueue.x-k8s.io in the scheme: names, columns, versions."""

from __future__ import annotations

from typing import Any

from kumi.api import kueue_v1beta1 as v1beta1
from kumi.api import kueue_v1beta1_types as v1beta1_types
from kumi.api.defaulting.structural import by_schema
from kumi.api.kueue import (
    GROUP,
    VERSION,
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LocalQueue,
    ResourceFlavor,
    Topology,
    Workload,
    WorkloadPriorityClass,
)
from kumi.api.meta import Object
from kumi.api.scheme import AGE, SCHEME, Column, Convert, Kind
from kumi.api.validation import kueue as rules
from kumi.api.validation import kueue_workload as workload_rules

SAME = (v1beta1.same, v1beta1.same)


def _register(
    type_: type[Object],
    plural: str,
    columns: tuple[Column, ...],
    conversion: tuple[Convert, Convert] = SAME,
    **more: Any,
) -> None:
    name = type_.__name__
    SCHEME.register(
        Kind(
            GROUP,
            VERSION,
            name,
            plural,
            type_,
            categories=("kueue",),
            columns=columns,
            default=by_schema(type_, GROUP, VERSION),
            conversions={"v1beta1": conversion},
            served_types={"v1beta1": getattr(v1beta1_types, name)},
            custom=True,
            strategic=False,
            **more,
        )
    )


_register(
    ResourceFlavor,
    "resourceflavors",
    (AGE,),
    namespaced=False,
    short_names=("flavor", "flavors", "rf"),
    validate=rules.validate_resource_flavor,
)
_register(
    ClusterQueue,
    "clusterqueues",
    (
        Column("Cohort", ".spec.cohortName", description="the cohort that this queue belongs to"),
        Column("Strategy", ".spec.queueingStrategy", priority=1, description="how workloads are ordered"),
        Column("Pending Workloads", ".status.pendingWorkloads", "integer", description="workloads that wait"),
        Column("Admitted Workloads", ".status.admittedWorkloads", "integer", 1, "workloads that run"),
    ),
    (v1beta1.cluster_queue_up, v1beta1.cluster_queue_down),
    namespaced=False,
    short_names=("cq",),
    subresources=("status",),
    validate=rules.validate_cluster_queue,
)
_register(
    LocalQueue,
    "localqueues",
    (
        Column("ClusterQueue", ".spec.clusterQueue", description="the queue that gives the quota"),
        Column("Pending Workloads", ".status.pendingWorkloads", "integer", description="workloads that wait"),
        Column("Admitted Workloads", ".status.admittedWorkloads", "integer", description="workloads that run"),
    ),
    (v1beta1.local_queue_up, v1beta1.local_queue_down),
    short_names=("queue", "queues", "lq"),
    subresources=("status",),
    validate=rules.validate_local_queue,
)
_register(
    Workload,
    "workloads",
    (
        Column("Queue", ".spec.queueName", description="the LocalQueue that it was sent to"),
        Column("Reserved in", ".status.admission.clusterQueue", description="the ClusterQueue whose quota it holds"),
        Column("Admitted", ".status.conditions[?(@.type=='Admitted')].status", description="may it run"),
        Column("Finished", ".status.conditions[?(@.type=='Finished')].status", description="is it over"),
        AGE,
    ),
    (v1beta1.workload_up, v1beta1.workload_down),
    short_names=("wl",),
    subresources=("status",),
    validate=workload_rules.validate_workload,
)
_register(
    WorkloadPriorityClass,
    "workloadpriorityclasses",
    (Column("Value", ".value", "integer"), AGE),
    namespaced=False,
    validate=rules.validate_workload_priority_class,
)
_register(
    Cohort,
    "cohorts",
    (AGE,),
    (v1beta1.cohort_up, v1beta1.cohort_down),
    namespaced=False,
    subresources=("status",),
    validate=rules.validate_cohort,
)
_register(
    AdmissionCheck,
    "admissionchecks",
    (AGE,),
    (v1beta1.admission_check_up, v1beta1.same),
    namespaced=False,
    subresources=("status",),
    validate=rules.validate_admission_check,
)
_register(
    Topology,
    "topologies",
    (AGE,),
    namespaced=False,
    validate=rules.validate_topology,
)
