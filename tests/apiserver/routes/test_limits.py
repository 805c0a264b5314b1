"""What no well-behaved client meets, met by others: the server answers in the right words, and stays."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.apiserver.app import make_app
from kumi.apiserver.routes import limits
from kumi.apiserver.server import Server
from tests.apiserver.conftest import NOW, WatchedRegistry, config_map, until, within

PATH = "/api/v1/namespaces/default/configmaps"
IDLE = 2000
HEAD = f"POST {PATH} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"


@pytest.fixture
async def server(registry: WatchedRegistry, scheme: Scheme) -> AsyncIterator[Server]:
    async with Server(make_app(registry, scheme, clock_ms=lambda: NOW)) as server:
        yield server


@pytest.fixture
def many_sockets() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * IDLE + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this system allows {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def connected(server: Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", server.port)


async def status_line(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.readline(), 20)


async def test_one_request_too_many_is_told_to_come_back(
    server: Server, client: ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "IN_FLIGHT", 1)
    reader, writer = await connected(server)
    writer.write(HEAD.encode() + b'{"metadata"')  # under way until the rest of it comes
    await writer.drain()
    async with ClientSession(server.url) as other:
        async with asyncio.timeout(20):
            while (response := await other.get(PATH)).status != 429:
                await asyncio.sleep(0.01)
        status = await response.json()
        assert response.headers["Retry-After"] == "1"
        assert (status["kind"], status["reason"], status["code"]) == ("Status", "TooManyRequests", 429)
        assert status["details"]["retryAfterSeconds"] == 1
        assert (await other.get("/livez")).status == 200
        writer.write(b':{"name":"a"}}'.ljust(1000 - len(b'{"metadata"')))
        assert b" 201 " in await status_line(reader)
        assert (await other.get(PATH)).status == 200
    writer.close()


async def test_streams_are_not_counted(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IN_FLIGHT", 1)
    async with ClientSession(server.url) as client:
        watches = [await client.get(PATH, params={"watch": "1"}) for _ in range(3)]
        assert (await client.get(PATH)).status == 200
        for watch in watches:
            watch.close()


async def test_a_body_that_does_not_come_is_a_504_and_nothing_is_made(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODY_S", 0.05)
    reader, writer = await connected(server)
    writer.write(HEAD.encode() + b'{"metadata": {"name": "a"}')
    assert b" 504 " in await status_line(reader)
    assert b'"reason":"Timeout"' in await asyncio.wait_for(reader.read(2000), 20)
    writer.close()
    async with ClientSession(server.url) as client:
        assert (await (await client.get(PATH)).json())["items"] == []


async def test_a_watch_whose_client_takes_nothing_is_cut_off_and_the_server_stays(
    server: Server, registry: WatchedRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STALLED_S", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
    writer.write(f"GET {PATH}?watch=1 HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    await until(lambda: registry.open_watches == 1)
    async with ClientSession(server.url) as client:
        made = await client.post(PATH, json=config_map("big", text="x" * 500_000))
        assert made.status == 201
        turn = 0
        async with asyncio.timeout(20):
            while registry.open_watches:
                turn += 1
                patch = {"metadata": {"annotations": {"turn": str(turn)}}}
                headers = {"Content-Type": "application/merge-patch+json"}
                assert (await client.patch(f"{PATH}/big", json=patch, headers=headers)).status == 200
        assert turn > 1
    writer.close()
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await within(reader.readexactly(100 * 500_000))


async def test_two_thousand_idle_connections_bother_nobody(server: Server, many_sockets: None) -> None:
    idle = [await connected(server) for _ in range(IDLE)]
    async with ClientSession(server.url) as client:
        assert (await client.post(PATH, json=config_map())).status == 201
    # They are still good: the last of them is answered, too.
    reader, writer = idle[-1]
    writer.write(f"GET {PATH}/a HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    assert b" 200 " in await status_line(reader)
    for _, writer in idle:
        writer.close()
    await within(asyncio.gather(*(writer.wait_closed() for _, writer in idle), return_exceptions=True))
