"""Prometheus: how busy nodes are, by what node exporters say: means of ten minutes, of all nodes with two questions.

The rule, for an instance of the exporter that has the name of a node:
    cpu       100 - the share of idle time of its processors, as a rate over five minutes
    memory    what isn't available of its memory
    both in percent, every half a minute, and the mean of that over PERIOD
Why        Volcano asks for each node by itself; the answers are the same.
Names      an exporter's `instance` has to be the node's name: a matter of relabelling in Prometheus' own configuration.
Errors     what Prometheus refuses is a KumiError with its words; an answer that is none, or none at all, is one or an OSError.
Source     Volcano: usage plug-in (queries); Prometheus: HTTP API (instant queries).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from kumi.api.core import Node
from kumi.api.errors import KumiError
from kumi.kube import tls
from kumi.runtime.node_loads import PERIOD, Loads, Value, joined

CPU = f'avg_over_time((100 - avg by (instance) (rate(node_cpu_seconds_total{{mode="idle"}}[5m])) * 100)[{PERIOD}:30s])'
MEMORY = f"100 * avg_over_time((1 - node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes)[{PERIOD}:30s])"
CONNECT_S = 5.0


class Prometheus:
    """A server at an address (http or https, with a path and with user:password@ where it has them). `insecure`: whoever answers
    there is believed."""

    def __init__(self, address: str, *, insecure: bool = False) -> None:
        self._url = f"{address.rstrip('/')}/api/v1/query"
        self._insecure = insecure

    async def __call__(self, nodes: Sequence[Node], now_ms: int) -> Loads:
        """See kumi.runtime.node_loads.Ask."""
        loads = joined(await self._values(CPU), await self._values(MEMORY))
        known = any(node.metadata.name in loads for node in nodes)
        return Loads(
            loads, () if known else ("it knows none of the nodes: an `instance` has to be the name of a node",)
        )

    async def _values(self, query: str) -> dict[str, Value]:
        """By instance."""
        said = await self._asked(query)
        if said.get("status") != "success":
            raise KumiError(f"it refuses the question: {said.get('error', 'it does not say why')}")
        try:
            return {
                str(one["metric"]["instance"]): Value(float(one["value"][1]), round(float(one["value"][0]) * 1000))
                for one in said["data"]["result"]
                if one["metric"].get("instance")
            }
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise KumiError("its answer is no vector of values") from error

    async def _asked(self, query: str) -> Mapping[str, Any]:
        import aiohttp

        context = tls.context(b"", insecure=self._insecure) if self._url.startswith("https:") else True
        limits = aiohttp.ClientTimeout(sock_connect=CONNECT_S)
        try:
            async with (
                aiohttp.ClientSession(timeout=limits) as session,
                session.get(self._url, params={"query": query}, ssl=context) as response,
            ):
                status, data = response.status, await response.read()
        except aiohttp.ClientError as error:
            raise ConnectionError(str(error) or type(error).__name__) from error
        try:
            found = orjson.loads(data)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise KumiError(f"its answer ({status}) is not JSON: is it Prometheus?")
        return found
