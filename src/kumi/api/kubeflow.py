"""kubeflow.org/v1 (training operator): PyTorchJob."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.meta import Condition, Object, View
from kumi.api.wire import JsonObject


class SchedulingPolicy(View):
    """Gang scheduling of a job."""

    min_available: int | None = None
    queue: str = ""
    min_resources: dict[str, str | int | float] = {}
    priority_class: str = ""
    schedule_timeout_seconds: int | None = None


class RunPolicy(View):
    """What all kinds of this group share."""

    clean_pod_policy: str | None = None
    ttl_seconds_after_finished: int | None = None
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    suspend: bool = False
    managed_by: str | None = None
    scheduling_policy: SchedulingPolicy | None = None


class ReplicaSpec(View):
    """One replica type; `template` is the pod template as written."""

    replicas: int | None = None
    template: JsonObject = {}
    restart_policy: str = ""


class ReplicaStatus(View):
    """Counts of one replica type."""

    active: int = 0
    succeeded: int = 0
    failed: int = 0
    selector: str = ""


class TrainingStatus(View):
    """Status that all kinds of this group share."""

    conditions: list[Condition] = []
    replica_statuses: dict[str, ReplicaStatus] = {}
    start_time: str | None = None
    completion_time: str | None = None
    last_reconcile_time: str | None = None


class ElasticPolicy(View):
    """torchrun's elastic launch."""

    min_replicas: int | None = None
    max_replicas: int | None = None
    rdzv_backend: str | None = None
    rdzv_port: int | None = None
    rdzv_host: str | None = None
    rdzv_id: str | None = None
    rdzv_conf: list[dict[str, str]] = []
    standalone: bool | None = None
    n_proc_per_node: int | None = None
    max_restarts: int | None = None
    metrics: list[dict[str, Any]] = []


class PyTorchJobSpec(View):
    """A PyTorchJob's spec."""

    run_policy: RunPolicy = field(default_factory=RunPolicy)
    pytorch_replica_specs: dict[str, ReplicaSpec] = {}
    nproc_per_node: str | None = None
    elastic_policy: ElasticPolicy | None = None


class PyTorchJob(Object):
    """kubeflow.org/v1 PyTorchJob."""

    spec: PyTorchJobSpec = field(default_factory=PyTorchJobSpec)
    status: TrainingStatus = field(default_factory=TrainingStatus)
