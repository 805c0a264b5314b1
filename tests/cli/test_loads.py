"""Who is asked how busy nodes are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from kumi.api.core import Node, NodeStatus
from kumi.api.errors import KumiError
from kumi.api.meta import ObjectMeta
from kumi.api.metrics import NodeLoad, Usage, Used, node_metrics
from kumi.api.wire import JsonObject
from kumi.cli.loads import in_process, over_http, sources
from kumi.engine.measuring import Measuring
from kumi.engine.model import Profile
from kumi.kube.client import HttpClient
from kumi.kube.config import Config
from kumi.kube.credentials import Credential, Fixed
from kumi.runtime.cache import Cache
from kumi.runtime.polling import Source

AT_MS = 1_800_000_000_000
MEASURED = node_metrics("n1", {}, Usage(AT_MS, 10_000, Used(10**9, 1 << 30)))
HALF = {"n1": (50.0, 25.0, AT_MS)}


async def measures() -> Sequence[JsonObject]:
    return [MEASURED]


def profile(**measuring: object) -> Profile:
    return Profile(measuring=Measuring(**measuring))  # type: ignore[arg-type]


async def read(source: Source) -> dict[str, tuple[float | None, float | None, int]]:
    view = Cache([Node])
    view.set(Node(metadata=ObjectMeta(name="n1"), status=NodeStatus(capacity={"cpu": "2", "memory": "4Gi"})))
    loads = [one for one in await source.read(view, AT_MS) if isinstance(one, NodeLoad)]
    return {one.metadata.name: (one.cpu, one.memory, one.measured_ms) for one in loads}


@asynccontextmanager
async def api(answers: dict[str, JsonObject]) -> AsyncIterator[HttpClient]:
    """A cluster's API that knows these paths."""

    async def handle(request: web.Request) -> web.Response:
        found = answers.get(request.path)
        return web.json_response(found if found is not None else {"kind": "Status"}, status=200 if found else 404)

    app = web.Application()
    app.router.add_get("/{path:.*}", handle)
    async with TestServer(app) as server:
        config = Config(server=f"http://{server.host}:{server.port}", credentials=Fixed(Credential()))
        async with HttpClient(config) as client:
            yield client


def test_nobody_is_asked_where_nobody_wants_to_know() -> None:
    assert sources(None, measures, None) == ()  # type: ignore[arg-type]
    assert in_process(Profile(), measures) == ()


async def test_in_process_it_is_the_kubelets_own_measures() -> None:
    (source,) = in_process(profile(every_ms=5_000), measures)
    assert (source.name, source.every_ms) == ("metrics.k8s.io", 5_000)
    assert await read(source) == HALF


async def test_in_process_there_are_no_custom_metrics() -> None:
    (source,) = in_process(profile(type="prometheus_adaptor"), measures)
    with pytest.raises(KumiError, match=r"custom\.metrics\.k8s\.io is not served here"):
        await read(source)


async def test_beside_a_cluster_its_metrics_api_is_asked() -> None:
    path = "/apis/metrics.k8s.io/v1beta1/nodes"
    async with api({path: {"kind": "NodeMetricsList", "items": [MEASURED]}}) as client:
        (source,) = over_http(profile(), client)
        assert await read(source) == HALF


async def test_beside_a_cluster_its_custom_metrics_are_asked() -> None:
    def values(value: str) -> JsonObject:
        item = {"describedObject": {"name": "n1"}, "timestamp": "2027-01-15T08:00:00Z", "value": value}
        return {"items": [item]}

    base = "/apis/custom.metrics.k8s.io/v1beta1/nodes/*"
    answers = {f"{base}/node_cpu_usage_avg": values("500m"), f"{base}/node_memory_usage_avg": values("250m")}
    async with api(answers) as client:
        (source,) = over_http(profile(type="prometheus_adaptor"), client)
        assert (source.name, await read(source)) == ("custom.metrics.k8s.io", HALF)


def test_a_password_is_not_part_of_a_name() -> None:
    (source,) = in_process(profile(type="prometheus", address="https://me:secret@prom:9090/x"), measures)
    assert source.name == "Prometheus at https://prom:9090/x"
