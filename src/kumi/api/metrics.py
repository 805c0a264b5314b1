"""metrics.k8s.io/v1beta1: what nodes and pods use, as `kubectl top` asks for it. Answered and never stored, so that its kinds are
in no scheme.

    nodes/NAME                         NodeMetrics      one usage
    namespaces/NAMESPACE/pods/NAME     PodMetrics       a usage for each container

cpu       the mean over the window that ends at the timestamp
memory    the working set at the timestamp
NodeLoad  what whoever places pods makes of it, and of what other systems measure: percentages over minutes. It is nobody's API.
Units     values here: cpu in thousand-millionths of a core, memory in bytes, times in milliseconds; in the API quantities.
Source    Kubernetes: resource metrics pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import field

from kumi.api.meta import Object, View, format_time
from kumi.api.quantity import QuantityError, format_amount, nano, nano_text
from kumi.api.scheme import Column, Kind
from kumi.api.wire import JsonObject

GROUP, VERSION = "metrics.k8s.io", "v1beta1"


class NodeMetrics(Object):
    """What a node uses. Its name is the node's, its labels are the node's."""

    timestamp: str = ""
    window: str = ""
    usage: dict[str, str] = {}


class ContainerMetrics(View):
    """What a container of a pod uses."""

    name: str = ""
    usage: dict[str, str] = {}


class PodMetrics(Object):
    """What the containers of a pod use. Its name and namespace are the pod's, its labels are the pod's."""

    timestamp: str = ""
    window: str = ""
    containers: list[ContainerMetrics] = field(default_factory=list)


class NodeLoad(Object):
    """How busy a node was over the last minutes, in percent of what it has; None: not known. Its name is the node's."""

    cpu: float | None = None
    memory: float | None = None
    measured_ms: int = 0


class Used(NamedTuple):
    """Of one container, or of a node."""

    cpu_nano: int = 0
    memory_bytes: int = 0

    def plus(self, other: Used) -> Used:
        """Both together."""
        return Used(self.cpu_nano + other.cpu_nano, self.memory_bytes + other.memory_bytes)

    def wire(self) -> JsonObject:
        """As the API has it."""
        return {"cpu": nano_text(self.cpu_nano), "memory": format_amount("memory", self.memory_bytes // 1024 * 1024)}


T = TypeVar("T")


class Usage(NamedTuple, Generic[T]):
    """What was used in the window that ends at a moment: by a node as a whole (Used), or by a pod's containers (Used by name)."""

    at_ms: int
    window_ms: int
    used: T


def node_metrics(name: str, labels: Mapping[str, str], usage: Usage[Used]) -> JsonObject:
    """A NodeMetrics."""
    return {**_object(NODE_METRICS, {"name": name}, labels, usage), "usage": usage.used.wire()}


def pod_metrics(namespace: str, name: str, labels: Mapping[str, str], usage: Usage[Mapping[str, Used]]) -> JsonObject:
    """A PodMetrics."""
    containers = [{"name": container, "usage": used.wire()} for container, used in sorted(usage.used.items())]
    meta = {"name": name, "namespace": namespace}
    return {**_object(POD_METRICS, meta, labels, usage), "containers": containers}


def sum_of(used: Iterable[Used]) -> Used:
    """All of them together."""
    total = Used()
    for one in used:
        total = total.plus(one)
    return total


def _object(kind: Kind, meta: JsonObject, labels: Mapping[str, str], usage: Usage[Any]) -> JsonObject:
    at = format_time(usage.at_ms)
    metadata: JsonObject = {**meta, "creationTimestamp": at, **({"labels": dict(labels)} if labels else {})}
    return {
        "kind": kind.kind,
        "apiVersion": kind.api_version,
        "metadata": metadata,
        "timestamp": at,
        "window": span_text(usage.window_ms),
    }


def span_text(ms: int) -> str:
    """A length of time as Kubernetes writes it: 15.023s, 1m30s, 2h0m0s."""
    minutes, rest = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{rest / 1000:g}s"
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def _total_of(resource: str) -> Column:
    def cell(obj: JsonObject, _: int) -> str:
        parts = obj.get("containers", [obj])
        try:
            amount = sum(nano(part["usage"].get(resource, "0")) for part in parts)
        except QuantityError:
            return ""
        return nano_text(amount, "binary" if resource == "memory" else "decimal")

    return Column(resource, cell=cell)


_COLUMNS = (_total_of("cpu"), _total_of("memory"), Column("Window", ".window"))
NODE_METRICS = Kind(GROUP, VERSION, "NodeMetrics", "nodes", NodeMetrics, namespaced=False, columns=_COLUMNS)
POD_METRICS = Kind(GROUP, VERSION, "PodMetrics", "pods", PodMetrics, columns=_COLUMNS)
METRICS = (NODE_METRICS, POD_METRICS)
