"""Who is asked how busy nodes are: the source that the policy names, and nobody where nothing in it wants to know."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from kumi.api.errors import ApiError
from kumi.api.metrics import NODE_METRICS
from kumi.api.wire import JsonObject
from kumi.engine import measuring
from kumi.engine.measuring import Measuring
from kumi.engine.model import Profile
from kumi.kube.client import HttpClient
from kumi.kube.custom_metrics import GROUP, CustomMetrics
from kumi.kube.prometheus import Prometheus
from kumi.runtime.node_loads import Ask, Averages, node_loads
from kumi.runtime.polling import Source

Measures: TypeAlias = Callable[[], Awaitable[Sequence[JsonObject]]]
"""The NodeMetrics of all nodes, as of now. ApiError, OSError"""
Get: TypeAlias = Callable[[str], Awaitable[JsonObject]]
"""GET of a path of the cluster's API. ApiError, OSError"""


def over_http(profile: Profile, client: HttpClient) -> tuple[Source, ...]:
    """Beside a cluster."""

    async def measures() -> Sequence[JsonObject]:
        return (await client.list(NODE_METRICS)).items

    return sources(profile.measuring, measures, lambda path: client.request("GET", path))


def in_process(profile: Profile, measures: Measures) -> tuple[Source, ...]:
    """In the process of the API server, which has no custom metrics."""

    async def refused(path: str) -> JsonObject:
        raise ApiError(404, "NotFound", f"{GROUP} is not served here")

    return sources(profile.measuring, measures, refused)


def sources(wanted: Measuring | None, measures: Measures, get: Get) -> tuple[Source, ...]:
    """The one that the policy names."""
    if wanted is None:
        return ()
    name, ask = _named(wanted, measures, get)
    return (node_loads(name, ask, wanted.every_ms),)


def _named(wanted: Measuring, measures: Measures, get: Get) -> tuple[str, Ask]:
    if wanted.type == measuring.PROMETHEUS:
        return f"Prometheus at {_without_secrets(wanted.address)}", Prometheus(wanted.address, insecure=wanted.insecure)
    if wanted.type == measuring.ADAPTOR:
        return GROUP, CustomMetrics(get)
    return measuring.RESOURCE_METRICS, Averages(measures)


def _without_secrets(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
