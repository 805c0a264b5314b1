"""Prometheus as it answers, and as it doesn't."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from kumi.api.core import Node
from kumi.api.errors import KumiError
from kumi.api.meta import ObjectMeta
from kumi.apiserver.identity import Identity
from kumi.kube.prometheus import CPU, MEMORY, Prometheus
from kumi.runtime.node_loads import Load

NODES = [Node(metadata=ObjectMeta(name=name)) for name in ("n1", "n2", "n3")]
AT = 1_800_000_000.25
AT_MS = 1_800_000_000_250


def vector(**values: object) -> dict[str, object]:
    result = [{"metric": {"instance": name}, "value": [AT, value]} for name, value in values.items()]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


@asynccontextmanager
async def serving(answer: Callable[[web.Request], web.StreamResponse], path: str = "") -> AsyncIterator[str]:
    async def handle(request: web.Request) -> web.StreamResponse:
        return answer(request)

    app = web.Application()
    app.router.add_get(f"{path}/api/v1/query", handle)
    async with TestServer(app) as server:
        yield f"http://{server.host}:{server.port}{path}"


async def test_all_nodes_are_known_with_two_questions() -> None:
    asked: list[str] = []

    def answer(request: web.Request) -> web.Response:
        asked.append(request.query["query"])
        values = {"n1": "91.5", "n2": "0.25", "other": "1"} if request.query["query"] == CPU else {"n1": "40"}
        return web.json_response(vector(**values))

    async with serving(answer) as address:
        loads = await Prometheus(address)(NODES, 0)
    assert asked == [CPU, MEMORY]
    assert loads.by_node == {
        "n1": Load(91.5, 40.0, AT_MS),
        "n2": Load(0.25, None, AT_MS),
        "other": Load(1.0, None, AT_MS),
    }
    assert not loads.wrong


def test_the_questions_are_of_ten_minutes() -> None:
    assert CPU == (
        'avg_over_time((100 - avg by (instance) (rate(node_cpu_seconds_total{mode="idle"}[5m])) * 100)[10m:30s])'
    )
    assert MEMORY.endswith("[10m:30s])")


async def test_an_address_may_have_a_path_and_a_user() -> None:
    seen: list[str | None] = []

    def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.json_response(vector(n1="1"))

    async with serving(answer, "/prom") as address:
        await Prometheus(address.replace("http://", "http://me:secret@") + "/")(NODES, 0)
    assert seen == [f"Basic {b64encode(b'me:secret').decode()}"] * 2


async def test_names_that_are_no_nodes_are_told() -> None:
    async with serving(lambda _: web.json_response(vector(**{"10.0.0.1:9100": "1"}))) as address:
        loads = await Prometheus(address)(NODES, 0)
    assert "`instance` has to be the name of a node" in loads.wrong[0]


async def test_a_series_without_an_instance_is_nobodys() -> None:
    body = {"status": "success", "data": {"result": [{"metric": {}, "value": [AT, "5"]}]}}
    async with serving(lambda _: web.json_response(body)) as address:
        assert (await Prometheus(address)(NODES, 0)).by_node == {}


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (422, '{"status": "error", "errorType": "execution", "error": "query timed out"}', "query timed out"),
        (401, "Unauthorized", r"answer \(401\) is not JSON"),
        (200, "[]", "not JSON"),
        (200, '{"status": "success"}', "no vector"),
        (200, '{"status": "success", "data": {"result": [{"metric": {"instance": "n1"}}]}}', "no vector"),
        (200, '{"status": "success", "data": {"result": [1]}}', "no vector"),
        (200, '{"status": "success", "data": {"result": [{"metric": {"instance": "n1"}, "value": [1, "x"]}]}}', "no v"),
    ],
)
async def test_an_answer_that_is_none_says_why(status: int, body: str, why: str) -> None:
    async with serving(lambda _: web.Response(status=status, text=body)) as address:
        with pytest.raises(KumiError, match=why):
            await Prometheus(address)(NODES, 0)


async def test_nobody_there_is_a_lost_connection() -> None:
    async with serving(lambda _: web.Response()) as address:
        pass
    with pytest.raises(ConnectionError):
        await Prometheus(address)(NODES, 0)


async def test_a_server_that_nobody_vouches_for_is_believed_where_that_is_asked_for(tmp_path: Path) -> None:
    async def handle(_: web.Request) -> web.Response:
        return web.json_response(vector(n1="1"))

    app = web.Application()
    app.router.add_get("/api/v1/query", handle)
    identity = Identity(tmp_path, lambda: time.time_ns() // 1_000_000)
    server = TestServer(app, scheme="https")
    await server.start_server(ssl=identity.server_context())
    try:
        address = f"https://127.0.0.1:{server.port}"
        assert (await Prometheus(address, insecure=True)(NODES, 0)).by_node.keys() == {"n1"}
        with pytest.raises(ConnectionError, match="certificate"):
            await Prometheus(address)(NODES, 0)
    finally:
        await server.close()
