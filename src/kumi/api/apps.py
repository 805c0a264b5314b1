"""The apps group (v1): Deployment, ReplicaSet, StatefulSet, DaemonSet, ControllerRevision."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns import apps as columns
from kumi.api.defaulting import apps as defaults
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.scheme import SCHEME, Column, Kind
from kumi.api.validation import apps as rules
from kumi.api.wire import JsonObject

IntOrPercent = int | str


class RollingUpdate(View):
    """How many pods may be missing, and how many may be too many: numbers, or percentages of those wanted."""

    max_unavailable: IntOrPercent | None = None
    max_surge: IntOrPercent | None = None


class DeploymentStrategy(View):
    """RollingUpdate or Recreate."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(View):
    """A Deployment's spec; `template` is the pod template as written."""

    replicas: int | None = None
    selector: LabelSelector = field(default_factory=LabelSelector)
    template: JsonObject = {}
    strategy: DeploymentStrategy = field(default_factory=DeploymentStrategy)
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    progress_deadline_seconds: int | None = None
    paused: bool = False


class DeploymentStatus(View):
    """A Deployment's status."""

    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    collision_count: int | None = None
    conditions: list[Condition] = []


class Deployment(Object):
    """apps/v1 Deployment."""

    spec: DeploymentSpec = field(default_factory=DeploymentSpec)
    status: DeploymentStatus = field(default_factory=DeploymentStatus)


class ReplicaSetSpec(View):
    """A ReplicaSet's spec."""

    replicas: int | None = None
    selector: LabelSelector = field(default_factory=LabelSelector)
    template: JsonObject = {}
    min_ready_seconds: int = 0


class ReplicaSetStatus(View):
    """A ReplicaSet's status."""

    observed_generation: int = 0
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    conditions: list[Condition] = []


class ReplicaSet(Object):
    """apps/v1 ReplicaSet."""

    spec: ReplicaSetSpec = field(default_factory=ReplicaSetSpec)
    status: ReplicaSetStatus = field(default_factory=ReplicaSetStatus)


class StatefulSetStrategy(View):
    """RollingUpdate (from `partition` up) or OnDelete."""

    type: str = "RollingUpdate"
    rolling_update: dict[str, Any] | None = None


class StatefulSetOrdinals(View):
    """Where the numbers of the pods begin."""

    start: int = 0


class ClaimRetention(View):
    """What happens to claims made from templates: Retain or Delete."""

    when_deleted: str = "Retain"
    when_scaled: str = "Retain"


class StatefulSetSpec(View):
    """A StatefulSet's spec."""

    replicas: int | None = None
    selector: LabelSelector = field(default_factory=LabelSelector)
    template: JsonObject = {}
    service_name: str = ""
    pod_management_policy: str = "OrderedReady"
    update_strategy: StatefulSetStrategy = field(default_factory=StatefulSetStrategy)
    volume_claim_templates: list[JsonObject] = []
    persistent_volume_claim_retention_policy: ClaimRetention = field(default_factory=ClaimRetention)
    ordinals: StatefulSetOrdinals = field(default_factory=StatefulSetOrdinals)
    revision_history_limit: int | None = None
    min_ready_seconds: int = 0


class StatefulSetStatus(View):
    """A StatefulSet's status."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None
    conditions: list[Condition] = []


class StatefulSet(Object):
    """apps/v1 StatefulSet."""

    spec: StatefulSetSpec = field(default_factory=StatefulSetSpec)
    status: StatefulSetStatus = field(default_factory=StatefulSetStatus)


class DaemonSetStrategy(View):
    """RollingUpdate or OnDelete."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class DaemonSetSpec(View):
    """A DaemonSet's spec."""

    selector: LabelSelector = field(default_factory=LabelSelector)
    template: JsonObject = {}
    update_strategy: DaemonSetStrategy = field(default_factory=DaemonSetStrategy)
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None


class DaemonSetStatus(View):
    """A DaemonSet's status: nodes, by how their pod is."""

    observed_generation: int = 0
    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    updated_number_scheduled: int = 0
    number_ready: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    collision_count: int | None = None
    conditions: list[Condition] = []


class DaemonSet(Object):
    """apps/v1 DaemonSet."""

    spec: DaemonSetSpec = field(default_factory=DaemonSetSpec)
    status: DaemonSetStatus = field(default_factory=DaemonSetStatus)


class ControllerRevision(Object):
    """apps/v1 ControllerRevision: what a set's template was at a revision."""

    data: Any = None
    revision: int = 0


def _register(type_: type[Object], plural: str, shown: tuple[Column, ...], **more: Any) -> None:
    name = type_.__name__
    SCHEME.register(Kind("apps", "v1", name, plural, type_, columns=shown, schema=f"io.k8s.api.apps.v1.{name}", **more))


_register(
    ControllerRevision,
    "controllerrevisions",
    columns.CONTROLLER_REVISION,
    validate=rules.validate_controller_revision,
)
_register(
    DaemonSet,
    "daemonsets",
    columns.DAEMON_SET,
    short_names=("ds",),
    categories=("all",),
    subresources=("status",),
    default=defaults.default_daemon_set,
    validate=rules.validate_daemon_set,
)
_register(
    Deployment,
    "deployments",
    columns.DEPLOYMENT,
    short_names=("deploy",),
    categories=("all",),
    subresources=("status", "scale"),
    default=defaults.default_deployment,
    validate=rules.validate_deployment,
)
_register(
    ReplicaSet,
    "replicasets",
    columns.REPLICA_SET,
    short_names=("rs",),
    categories=("all",),
    subresources=("status", "scale"),
    default=defaults.default_replica_set,
    validate=rules.validate_replica_set,
)
_register(
    StatefulSet,
    "statefulsets",
    columns.STATEFUL_SET,
    short_names=("sts",),
    categories=("all",),
    subresources=("status", "scale"),
    default=defaults.default_stateful_set,
    validate=rules.validate_stateful_set,
)
