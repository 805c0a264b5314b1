"""The protocols of port forwarding, to a server of the test's own."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSServerHandshakeError

from kumi.api.errors import KumiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.routes.portforward import CHANNELS, TUNNEL
from kumi.apiserver.server import Server
from kumi.apiserver.spdy import data_frame
from kumi.registry.registry import Registry
from tests.apiserver.conftest import NOW, pod, within
from tests.apiserver.test_spdy import Client

URL = "/api/v1/namespaces/default/pods/p/portforward"


class Ports:
    """A pod that says everything again in capitals on port 80, closes port 81 at once, and listens on no other."""

    def __init__(self) -> None:
        self.open = 0

    async def connect(self, pod: JsonObject, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if port not in (80, 81):
            raise KumiError("connection refused")
        serve = self._shout if port == 80 else self._hang_up
        self._server = await asyncio.start_server(serve, "127.0.0.1", 0)
        return await asyncio.open_connection(*self._server.sockets[0].getsockname()[:2])

    async def _shout(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        while data := await reader.read(1 << 16):
            writer.write(data.upper())
        writer.close()
        self.open -= 1

    async def _hang_up(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()


@pytest.fixture
async def ports() -> Ports:
    return Ports()


@pytest.fixture
async def client(registry: Registry, scheme: Scheme, ports: Ports) -> AsyncIterator[ClientSession]:
    app = make_app(registry, scheme, clock_ms=lambda: NOW, execs=ports)  # type: ignore[arg-type]
    async with Server(app) as server, ClientSession(server.url) as client:
        for each in (pod("p", nodeName="n"), pod("nowhere")):
            async with client.post("/api/v1/namespaces/default/pods", json=each) as answer:
                assert answer.status == 201, await answer.text()
        yield client


class Tunnel:
    """A client's side of a tunnel, as kubectl has it; `said`, `ended`: by stream."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket, self.frames = socket, Client()
        self.said: dict[int, bytes] = {}
        self.ended: set[int] = set()
        self.control: list[int] = []

    async def open(self, request: str, port: int, first: int = 1) -> None:
        for stream, kind in ((first, "error"), (first + 2, "data")):
            headers = {"streamtype": kind, "port": str(port), "requestid": request}
            await self.socket.send_bytes(self.frames.open(stream, headers, last=kind == "error"))

    async def until(self, *streams: int) -> None:
        """Reads until these streams have ended."""
        buffer = b""
        while not set(streams) <= self.ended:
            message = await within(self.socket.receive())
            buffer += message.data
            while len(buffer) >= 8:
                first, second = struct.unpack_from("!II", buffer)
                body = buffer[8 : 8 + (second & 0xFFFFFF)]
                buffer = buffer[8 + len(body) :]
                if first >> 31:
                    self.control.append(first & 0xFFFF)
                    continue
                self.said[first] = self.said.get(first, b"") + body
                if second >> 24:
                    self.ended.add(first)


async def tunnel(client: ClientSession) -> Tunnel:
    return Tunnel(await client.ws_connect(URL, method="POST", protocols=[TUNNEL]))


async def test_a_connection_goes_both_ways_until_each_side_has_said_all(client: ClientSession) -> None:
    found = await tunnel(client)
    await found.open("0", 80)
    await found.socket.send_bytes(data_frame(3, b"hello "))
    await found.socket.send_bytes(data_frame(3, b"there", last=True))
    await found.until(1, 3)
    assert found.said == {3: b"HELLO THERE", 1: b""}
    assert found.control == [2, 2]


async def test_connections_are_kept_apart(client: ClientSession) -> None:
    found = await tunnel(client)
    for number in range(3):
        await found.open(str(number), 80, 4 * number + 1)
    for number in range(3):
        await found.socket.send_bytes(data_frame(4 * number + 3, f"word {number}".encode() * 10_000, last=True))
    await found.until(3, 7, 11)
    assert [found.said[4 * n + 3] for n in range(3)] == [f"WORD {n}".encode() * 10_000 for n in range(3)]


async def test_a_port_on_which_nothing_listens_is_told_on_the_error_stream(client: ClientSession) -> None:
    found = await tunnel(client)
    await found.open("0", 9)
    await found.until(1, 3)
    assert found.said[1].startswith(b"error forwarding port 9 to pod p, uid ")
    assert found.said[1].endswith(b": connection refused")


async def test_a_server_that_hangs_up_ends_the_streams(client: ClientSession) -> None:
    found = await tunnel(client)
    await found.open("0", 81)
    await found.socket.send_bytes(data_frame(3, b"x" * 100_000))
    await found.until(1, 3)


async def test_a_stream_that_belongs_to_nothing_is_refused_and_a_ping_is_answered(client: ClientSession) -> None:
    found = await tunnel(client)
    for stream, headers in ((1, {"streamtype": "data", "port": "80"}), (3, {"streamtype": "error", "port": "many"})):
        await found.socket.send_bytes(found.frames.open(stream, headers))
    await found.socket.send_bytes(found.frames.control(6, struct.pack("!I", 1)))
    await found.open("0", 81, 5)
    await found.until(5, 7)
    assert found.control[:3] == [3, 3, 6]


async def test_a_client_that_leaves_or_speaks_nonsense_takes_its_connections_with_it(
    client: ClientSession, ports: Ports
) -> None:
    for last_words in (b"", b"\xff" * 20):
        found = await tunnel(client)
        await found.open("0", 80)
        while not ports.open:
            await asyncio.sleep(0.005)
        if last_words:
            await found.socket.send_bytes(last_words)
            await within(found.socket.receive())
        await found.socket.close()

        async def gone() -> None:
            while ports.open:
                await asyncio.sleep(0.005)

        await within(gone())


async def test_channels_of_ports_say_their_port_first_and_then_go_both_ways(client: ClientSession) -> None:
    socket = await client.ws_connect(URL, params=[("ports", "80"), ("ports", "9")], protocols=[CHANNELS])
    found = [(await within(socket.receive())).data for _ in range(4)]
    assert found == [bytes([channel]) + struct.pack("<H", 80 if channel < 2 else 9) for channel in range(4)]
    await socket.send_bytes(b"\x00hello")
    answers = sorted([(await within(socket.receive())).data for _ in range(2)])
    assert answers[0] == b"\x00HELLO"
    assert answers[1].startswith(b"\x03error forwarding port 9")
    await socket.close()


@pytest.mark.parametrize("query", ["", "ports=none", "ports=0", "&".join(["ports=1"] * 200)])
async def test_ports_that_are_none_are_refused(client: ClientSession, query: str) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        await client.ws_connect(f"{URL}?{query}", protocols=[CHANNELS])
    assert refused.value.status == 400


async def test_what_can_not_be_forwarded_is_refused_before_the_protocol_changes(client: ClientSession) -> None:
    async with client.post(URL) as answer:
        assert (answer.status, "Upgrade request required" in await answer.text()) == (400, True)
    async with client.post(URL.replace("/p/", "/nowhere/")) as answer:
        assert "does not have a host assigned" in await answer.text()
    async with client.post(URL.replace("/p/", "/nobody/")) as answer:
        assert answer.status == 404
