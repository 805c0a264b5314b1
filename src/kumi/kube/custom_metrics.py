"""Custom metrics: how busy nodes are, by the custom metrics API of a cluster (prometheus-adapter, mostly).

The rule   two metrics of nodes, `node_cpu_usage_avg` and `node_memory_usage_avg`: quantities, 1 for a node that is wholly busy,
           over whatever time whoever serves them means
Versions   v1beta2, or v1beta1 where that isn't served.
Source     Volcano: usage plug-in (metrics of prometheus_adaptor); Kubernetes: custom metrics API.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from kumi.api.core import Node
from kumi.api.errors import ApiError, KumiError
from kumi.api.meta import View, parse_time
from kumi.api.quantity import nano
from kumi.api.wire import JsonObject
from kumi.runtime.node_loads import Loads, Value, joined

CPU, MEMORY = "node_cpu_usage_avg", "node_memory_usage_avg"
GROUP, NEW, OLD = "custom.metrics.k8s.io", "v1beta2", "v1beta1"
_NANO = 10**9


class _Described(View):
    name: str


class _Item(View):
    """A MetricValue of either version."""

    described_object: _Described
    timestamp: str
    value: str | int | float


class CustomMetrics:
    """See the module. `get`: GET of a path of the cluster's API. ApiError, OSError."""

    def __init__(self, get: Callable[[str], Awaitable[JsonObject]]) -> None:
        self._get = get

    async def __call__(self, nodes: Sequence[Node], now_ms: int) -> Loads:
        """See kumi.runtime.node_loads.Ask."""
        wrong: list[str] = []
        cpu, memory = await self._values(CPU, wrong), await self._values(MEMORY, wrong)
        return Loads(joined(cpu, memory), wrong)

    async def _values(self, metric: str, wrong: list[str]) -> dict[str, Value]:
        """By node, in percent."""
        found = {}
        for raw in (await self._listed(metric)).get("items") or ():
            about = raw.get("describedObject") if isinstance(raw, dict) else None
            name = about.get("name", "") if isinstance(about, dict) else ""
            try:
                item = msgspec.convert(raw, _Item)
                at_ms = parse_time(item.timestamp)
                if at_ms is None:
                    raise KumiError("it doesn't say when it was measured")
                found[item.described_object.name] = Value(100 * nano(item.value) / _NANO, at_ms)
            except (KumiError, msgspec.ValidationError, ValueError, TypeError) as error:
                wrong.append(f"{metric} of node {name} can't be read: {error}")
        return found

    async def _listed(self, metric: str) -> JsonObject:
        try:
            return await self._newest(metric)
        except ApiError as error:
            raise KumiError(f"no metric {metric} of nodes: {error}") from error

    async def _newest(self, metric: str) -> JsonObject:
        """In the newest version that is served. ApiError."""
        try:
            return await self._get(_path(NEW, metric))
        except ApiError as error:
            if error.code != 404:
                raise
        return await self._get(_path(OLD, metric))


def _path(version: str, metric: str) -> str:
    return f"/apis/{GROUP}/{version}/nodes/*/{metric}"
