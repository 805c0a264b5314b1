"""kubeflow.org/v1 (training operator): PyTorchJob."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from kumi.api.defaulting.structural import by_schema
from kumi.api.meta import Condition, Object, View
from kumi.api.schema import Int32, Int64, PodTemplate, Quantity, Time, refers, say
from kumi.api.scheme import AGE, SCHEME, Column, Kind, ScalePaths
from kumi.api.validation.kubeflow import validate_pytorchjob
from kumi.api.wire import JsonObject


class SchedulingPolicy(View):
    """Gang scheduling of a job."""

    min_available: Annotated[Int32 | None, say("pods that must be placed at once; by default all", minimum=0)] = None
    queue: Annotated[str, say("Volcano's queue; fixed")] = ""
    min_resources: Annotated[dict[str, Quantity], say("what the gang needs in all")] = {}
    priority_class: str = ""
    schedule_timeout_seconds: Annotated[Int32 | None, say(minimum=0)] = None


class RunPolicy(View):
    """What all kinds of this group share."""

    clean_pod_policy: Annotated[
        str | None, say("which pods go when the job is over", enum=["All", "Running", "None"])
    ] = None
    ttl_seconds_after_finished: Annotated[Int32 | None, say("the job is deleted that long after its end")] = None
    active_deadline_seconds: Annotated[Int64 | None, say("the job fails that long after its start")] = None
    backoff_limit: Annotated[Int32 | None, say("restarts of containers before the job fails")] = None
    suspend: Annotated[bool, say("true: it has no pods", default=False)] = False
    managed_by: Annotated[str | None, say("the controller of this job; fixed")] = None
    scheduling_policy: SchedulingPolicy | None = None


class ReplicaSpec(View):
    """One replica type; `template` is the pod template as written."""

    replicas: Annotated[Int32 | None, say("how many pods; by default 1")] = None
    template: PodTemplate = {}
    restart_policy: Annotated[
        str, say("ExitCode restarts on codes from 128 up", enum=["Always", "OnFailure", "Never", "ExitCode"])
    ] = ""


class ReplicaStatus(View):
    """Counts of one replica type."""

    active: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    selector: str = ""


class TrainingStatus(View):
    """Status that all kinds of this group share."""

    conditions: list[Condition] = []
    replica_statuses: dict[str, ReplicaStatus] = {}
    start_time: Time | None = None
    completion_time: Time | None = None
    last_reconcile_time: Time | None = None


class RdzvConf(View):
    """One extra setting of torchrun's rendezvous."""

    key: str = ""
    value: str = ""


class ElasticPolicy(View):
    """torchrun's elastic launch."""

    min_replicas: Annotated[Int32 | None, say("the fewest workers it runs with")] = None
    max_replicas: Annotated[Int32 | None, say("the most workers it uses")] = None
    rdzv_backend: str | None = None
    rdzv_port: Int32 | None = None
    rdzv_host: str | None = None
    rdzv_id: str | None = None
    rdzv_conf: list[RdzvConf] = []
    standalone: bool | None = None
    n_proc_per_node: Annotated[Int32 | None, say("deprecated: spec.nprocPerNode")] = None
    max_restarts: Int32 | None = None
    metrics: list[Annotated[JsonObject, refers("io.k8s.api.autoscaling.v2.MetricSpec")]] = []


class PyTorchJobSpec(View):
    """A PyTorchJob's spec."""

    run_policy: RunPolicy = field(default_factory=RunPolicy)
    pytorch_replica_specs: Annotated[dict[str, ReplicaSpec], say("by replica type: Master, Worker")] = {}
    nproc_per_node: Annotated[str | None, say("processes a node: auto, cpu, gpu or a number")] = None
    elastic_policy: ElasticPolicy | None = None


class PyTorchJob(Object):
    """kubeflow.org/v1 PyTorchJob."""

    spec: PyTorchJobSpec = field(default_factory=PyTorchJobSpec)
    status: TrainingStatus = field(default_factory=TrainingStatus)


SCHEME.register(
    Kind(
        "kubeflow.org",
        "v1",
        "PyTorchJob",
        "pytorchjobs",
        PyTorchJob,
        categories=("all",),
        subresources=("status", "scale"),
        columns=(Column("State", ".status.conditions[-1:].type"), AGE),
        default=by_schema(PyTorchJob, "kubeflow.org", "v1"),
        validate=validate_pytorchjob,
        scale=ScalePaths(
            ".spec.pytorchReplicaSpecs.Worker.replicas",
            ".status.replicaStatuses.Worker.active",
            ".status.replicaStatuses.Worker.selector",
        ),
        custom=True,
        strategic=False,
    )
)
