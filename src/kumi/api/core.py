"""The core group (v1), partial: the fields that Kumi reads of Pod, Node, Namespace, Service and their like."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kumi.api.columns import core as columns
from kumi.api.columns.pod import POD
from kumi.api.defaulting import core as defaults
from kumi.api.defaulting.pod import default_pod
from kumi.api.meta import Condition, Object, View
from kumi.api.scheme import SCHEME, Column, Kind
from kumi.api.validation import core as rules
from kumi.api.validation.pod import validate_pod


class EnvVar(View):
    """One variable; `value_from` is kept as written."""

    name: str = ""
    value: str = ""
    value_from: dict[str, Any] | None = None


class ContainerPort(View):
    """A port that a container says it listens on."""

    container_port: int = 0
    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    name: str = ""
    protocol: str = "TCP"


class ResourceRequirements(View):
    """requests and limits as quantities in text or number form."""

    requests: dict[str, str | int | float] = {}
    limits: dict[str, str | int | float] = {}


class Container(View):
    """A container of a pod, what scheduling and running read of it."""

    name: str = ""
    image: str = ""
    command: list[str] = []
    args: list[str] = []
    working_dir: str = ""
    env: list[EnvVar] = []
    env_from: list[dict[str, Any]] = []
    ports: list[ContainerPort] = []
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    volume_mounts: list[dict[str, Any]] = []
    lifecycle: dict[str, Any] | None = None
    restart_policy: str | None = None


class Toleration(View):
    """What a pod endures: operator Exists or Equal, empty effect means all."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class Taint(View):
    """What a node or a flavor repels pods with; `time_added` counts for NoExecute."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class PodSchedulingGate(View):
    """A gate that keeps a pod from being scheduled."""

    name: str = ""


class PodSpec(View):
    """A pod's spec."""

    containers: list[Container] = []
    init_containers: list[Container] = []
    node_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: dict[str, Any] | None = None
    tolerations: list[Toleration] = []
    topology_spread_constraints: list[dict[str, Any]] = []
    host_network: bool = False
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    scheduler_name: str = ""
    scheduling_gates: list[PodSchedulingGate] = []
    restart_policy: str = "Always"
    termination_grace_period_seconds: int | None = None
    active_deadline_seconds: int | None = None
    overhead: dict[str, str | int | float] = {}
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    volumes: list[dict[str, Any]] = []
    hostname: str = ""
    subdomain: str = ""


class ContainerStateTerminated(View):
    """How a container ended."""

    exit_code: int = 0
    signal: int | None = None
    reason: str = ""
    message: str = ""
    started_at: str | None = None
    finished_at: str | None = None


class ContainerState(View):
    """One of waiting, running, terminated."""

    waiting: dict[str, Any] | None = None
    running: dict[str, Any] | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(View):
    """What the kubelet says of a container."""

    name: str = ""
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = field(default_factory=ContainerState)
    last_state: ContainerState = field(default_factory=ContainerState)


class PodStatus(View):
    """What the kubelet says of a pod."""

    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []
    init_container_statuses: list[ContainerStatus] = []
    pod_ip: str = field(default="", name="podIP")
    start_time: str | None = None
    nominated_node_name: str = ""


class Pod(Object):
    """v1 Pod."""

    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)


class NodeSpec(View):
    """A node's spec."""

    taints: list[Taint] = []
    unschedulable: bool = False


class ContainerImage(View):
    """An image that a node has, by all its names."""

    names: list[str] = []
    size_bytes: int = 0


class NodeStatus(View):
    """A node's status."""

    capacity: dict[str, str | int | float] = {}
    allocatable: dict[str, str | int | float] = {}
    conditions: list[Condition] = []
    images: list[ContainerImage] = []


class Node(Object):
    """v1 Node."""

    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)


class NamespaceSpec(View):
    """A namespace's finalizers (its own, not metadata's)."""

    finalizers: list[str] = []


class NamespaceStatus(View):
    """Active or Terminating."""

    phase: str = ""
    conditions: list[Condition] = []


class Namespace(Object):
    """v1 Namespace."""

    spec: NamespaceSpec = field(default_factory=NamespaceSpec)
    status: NamespaceStatus = field(default_factory=NamespaceStatus)


class ServicePort(View):
    """A port of a service."""

    port: int = 0
    name: str = ""
    protocol: str = "TCP"
    target_port: int | str | None = None


class ServiceSpec(View):
    """A service's spec."""

    cluster_ip: str = field(default="", name="clusterIP")
    type: str = "ClusterIP"
    selector: dict[str, str] = {}
    ports: list[ServicePort] = []
    publish_not_ready_addresses: bool = False


class Service(Object):
    """v1 Service."""

    spec: ServiceSpec = field(default_factory=ServiceSpec)


class ConfigMap(Object):
    """v1 ConfigMap."""

    data: dict[str, str] = {}
    binary_data: dict[str, str] = {}


class Secret(Object):
    """v1 Secret; `data` is base64 text."""

    data: dict[str, str] = {}
    type: str = "Opaque"


class ServiceAccount(Object):
    """v1 ServiceAccount."""


class Event(Object):
    """v1 Event."""

    involved_object: dict[str, Any] = {}
    reason: str = ""
    message: str = ""
    type: str = ""
    count: int = 0
    first_timestamp: str | None = None
    last_timestamp: str | None = None


class EndpointAddress(View):
    """Where an endpoint is; `target_ref` is the pod behind it."""

    ip: str = ""
    hostname: str = ""
    node_name: str | None = None
    target_ref: dict[str, Any] | None = None


class EndpointSubset(View):
    """Addresses times ports."""

    addresses: list[EndpointAddress] = []
    not_ready_addresses: list[EndpointAddress] = []
    ports: list[dict[str, Any]] = []


class Endpoints(Object):
    """v1 Endpoints: where the pods of a service are."""

    subsets: list[EndpointSubset] = []


def _register(type_: type[Object], plural: str, columns: tuple[Column, ...], **more: Any) -> None:
    name = type_.__name__
    SCHEME.register(Kind("", "v1", name, plural, type_, columns=columns, schema=f"io.k8s.api.core.v1.{name}", **more))


_register(
    Pod,
    "pods",
    POD,
    short_names=("po",),
    categories=("all",),
    subresources=(
        "status",
        "log",
        "exec",
        "binding",
        "eviction",
        "attach",
        "portforward",
        "proxy",
        "resize",
        "ephemeralcontainers",
    ),
    default=default_pod,
    validate=validate_pod,
)
_register(
    Node,
    "nodes",
    columns.NODE,
    namespaced=False,
    short_names=("no",),
    subresources=("status",),
    validate=rules.validate_node,
)
_register(
    Namespace,
    "namespaces",
    columns.NAMESPACE,
    namespaced=False,
    short_names=("ns",),
    subresources=("status", "finalize"),
    default=defaults.default_namespace,
    validate=rules.validate_namespace,
)
_register(
    Service,
    "services",
    columns.SERVICE,
    short_names=("svc",),
    categories=("all",),
    subresources=("status",),
    default=defaults.default_service,
    validate=rules.validate_service,
)
_register(
    Endpoints,
    "endpoints",
    columns.ENDPOINTS,
    short_names=("ep",),
    default=defaults.default_endpoints,
    deprecated="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    validate=rules.validate_endpoints,
)
_register(ConfigMap, "configmaps", columns.CONFIG_MAP, short_names=("cm",), validate=rules.validate_config_map)
_register(Secret, "secrets", columns.SECRET, default=defaults.default_secret, validate=rules.validate_secret)
_register(
    ServiceAccount,
    "serviceaccounts",
    columns.SERVICE_ACCOUNT,
    short_names=("sa",),
    subresources=("token",),
    validate=rules.validate_service_account,
)
_register(Event, "events", columns.EVENT, short_names=("ev",), validate=rules.validate_event)
