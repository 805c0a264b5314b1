"""The protocol of commands in pods, on a fake that runs them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSServerHandshakeError

from kumi.api.errors import ApiError, KumiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.routes.commands import PROTOCOLS, end_of
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from kumi.runtime.streams import ExecOptions
from tests.apiserver.conftest import NOW, pod, until, within

URL = "/api/v1/namespaces/default/pods/p/exec"
V5, V4 = PROTOCOLS


class Echo:
    """Says its input again on stdout until that ends, a word on stderr, and ends with `result`."""

    def __init__(self, options: ExecOptions) -> None:
        self.options = options
        self.input: asyncio.Queue[bytes] = asyncio.Queue()
        self.sizes: list[tuple[int, int]] = []
        self.closed = self.warned = False
        self.result: int | KumiError = 0

    async def read(self, stream: str) -> bytes:
        if stream == "stdout":
            return await self.input.get() if self.options.stdin else b""
        self.warned, before = True, self.warned
        return b"" if before else b"warning"

    async def write(self, data: bytes) -> None:
        self.input.put_nowait(data)

    async def close_input(self) -> None:
        self.input.put_nowait(b"")

    def resize(self, columns: int, rows: int) -> None:
        self.sizes.append((columns, rows))

    async def code(self) -> int:
        if isinstance(self.result, KumiError):
            raise self.result
        return self.result

    async def close(self) -> None:
        self.closed = True


class FakeExecs:
    def __init__(self) -> None:
        self.made: list[Echo] = []
        self.result: int | KumiError = 0
        self.refusal: ApiError | None = None

    async def execute(self, pod: JsonObject, options: ExecOptions) -> Echo:
        if self.refusal is not None:
            raise self.refusal
        self.made.append(Echo(options))
        self.made[-1].result = self.result
        return self.made[-1]

    async def attach(self, pod: JsonObject, container: str, stdin: bool) -> Echo:
        return await self.execute(pod, ExecOptions(container, (), stdin))


@pytest.fixture
async def execs() -> FakeExecs:
    return FakeExecs()


@pytest.fixture
async def client(registry: Registry, scheme: Scheme, execs: FakeExecs) -> AsyncIterator[ClientSession]:
    app = make_app(registry, scheme, clock_ms=lambda: NOW, execs=execs)
    async with Server(app) as server, ClientSession(server.url) as client:
        for each in (pod("p", nodeName="n"), pod("nowhere")):
            async with client.post("/api/v1/namespaces/default/pods", json=each) as answer:
                assert answer.status == 201, await answer.text()
        yield client


async def connect(client: ClientSession, protocol: str = V5, **query: str) -> ClientWebSocketResponse:
    asked = {"command": "cat", "stdout": "true", "stderr": "true", **query}
    return await client.ws_connect(URL, params=asked, protocols=[protocol])


async def messages(socket: ClientWebSocketResponse) -> list[bytes]:
    """All until the server closes."""
    found: list[bytes] = []

    async def read() -> None:
        async for message in socket:
            found.append(message.data)

    await within(read())
    return found


def status_in(found: list[bytes]) -> dict[str, Any]:
    (last,) = [m for m in found if m[0] == 3]
    assert last == found[-1], "the end is last"
    return dict(json.loads(last[1:]))


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_command_s_streams_go_over_channels_and_its_end_is_a_status(
    client: ClientSession, execs: FakeExecs, protocol: str
) -> None:
    socket = await connect(client, protocol)
    assert socket.protocol == protocol
    found = await messages(socket)
    assert found[0] == b"\x01", "an empty message says that it runs"
    assert b"\x02warning" in found
    assert status_in(found) == {"metadata": {}, "status": "Success"}
    assert execs.made[0].closed
    assert execs.made[0].options == ExecOptions("c", ("cat",))


async def test_what_runs_is_what_webhooks_make_of_what_was_asked_for(
    client: ClientSession, execs: FakeExecs, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def changed(_target: object, asked: JsonObject, _options: object) -> JsonObject:
        return {**asked, "command": ["date"], "stdin": False}

    monkeypatch.setattr(registry, "connect", changed)
    socket = await connect(client, stdin="true")
    await messages(socket)
    assert execs.made[0].options == ExecOptions("c", ("date",))


async def test_input_and_its_end_reach_the_command(client: ClientSession, execs: FakeExecs) -> None:
    socket = await connect(client, stdin="true", tty="true")
    await socket.send_bytes(b"\x00hello")
    await socket.send_str("\x00as text")
    await socket.send_bytes(b'\x04{"Width":100,"Height":40}')
    await socket.send_bytes(b"\x04nonsense")
    await socket.send_bytes(b"\xff\x00")
    found = await messages(socket)
    assert b"\x01hello" in found
    assert b"\x01as text" in found
    assert execs.made[0].sizes == [(100, 40)]
    assert execs.made[0].options.terminal


async def test_a_code_that_is_not_zero_is_the_cause_of_a_failure(client: ClientSession, execs: FakeExecs) -> None:
    execs.result = 7
    said = status_in(await messages(await connect(client)))
    assert (said["status"], said["reason"]) == ("Failure", "NonZeroExitCode")
    assert said["details"]["causes"] == [{"reason": "ExitCode", "message": "7"}]
    assert said == end_of(7)


async def test_a_command_that_could_not_be_started_is_an_internal_error(
    client: ClientSession, execs: FakeExecs
) -> None:
    execs.result = KumiError("not there")
    said = status_in(await messages(await connect(client)))
    assert said["reason"] == "InternalError"
    assert "not there" in said["message"]


async def test_a_stream_that_was_not_asked_for_is_not_told(client: ClientSession) -> None:
    found = await messages(await connect(client, stderr="false"))
    assert not [m for m in found if m[0] == 2]


async def test_a_client_that_leaves_takes_its_command_with_it(client: ClientSession, execs: FakeExecs) -> None:
    socket = await connect(client, stdin="true")
    await socket.close()
    await until(lambda: execs.made[0].closed)


@pytest.mark.parametrize(
    ("path", "query", "code", "words"),
    [
        (URL, {"stdout": "1"}, 400, "must specify a command"),
        (URL, {"command": "cat"}, 400, "at least 1 of stdin"),
        (URL, {"command": "cat", "stdout": "1", "container": "x"}, 400, "container x is not valid"),
        (URL, {"command": "cat", "stdout": "1"}, 400, "Upgrade request required"),
        (URL.replace("/p/", "/nowhere/"), {"command": "cat", "stdout": "1"}, 400, "does not have a host"),
        (URL.replace("/p/", "/nobody/"), {"command": "cat", "stdout": "1"}, 404, "not found"),
    ],
)
async def test_what_can_not_be_is_refused_before_the_protocol_changes(
    client: ClientSession, execs: FakeExecs, path: str, query: dict[str, str], code: int, words: str
) -> None:
    async with client.post(path, params=query) as answer:
        said = await answer.json()
    assert (answer.status, said["kind"]) == (code, "Status")
    assert words in said["message"]
    assert execs.made == []


async def test_a_pod_that_is_over_takes_no_command(client: ClientSession, registry: Registry) -> None:
    async with client.patch(
        URL.replace("/exec", "/status"),
        json={"status": {"phase": "Succeeded"}},
        headers={"Content-Type": "application/merge-patch+json"},
    ) as answer:
        assert answer.status == 200
    async with client.get(URL, params={"command": "cat", "stdout": "1"}) as answer:
        assert (answer.status, (await answer.json())["message"]) == (
            400,
            "cannot exec into a container in a completed pod; current phase is Succeeded",
        )


@pytest.mark.parametrize("verb", ["exec", "attach"])
async def test_a_client_that_comes_back_without_websocket_is_told_that_the_container_does_not_run(
    client: ClientSession, execs: FakeExecs, verb: str
) -> None:
    async def asked(state: JsonObject) -> tuple[int, str]:
        statuses = [{"name": "c", "image": "i", "imageID": "", "ready": False, "restartCount": 1, "state": state}]
        async with client.patch(
            URL.replace("/exec", "/status"),
            json={"status": {"phase": "Running", "containerStatuses": statuses}},
            headers={"Content-Type": "application/merge-patch+json"},
        ) as answer:
            assert answer.status == 200, await answer.text()
        query = {"command": "cat", "stdout": "1"}
        async with client.post(URL.replace("exec", verb), params=query) as answer:
            return answer.status, (await answer.json())["message"]

    assert await asked({"waiting": {"reason": "CrashLoopBackOff"}}) == (404, 'container not found ("c")')
    code, words = await asked({"running": {"startedAt": "2024-01-01T00:00:00Z"}})
    assert (code, "Upgrade request required" in words) == (400, True)
    assert execs.made == []


async def test_what_the_node_refuses_is_told_before_the_protocol_changes(
    client: ClientSession, execs: FakeExecs
) -> None:
    execs.refusal = ApiError(404, "NotFound", 'container not found ("c")')
    with pytest.raises(WSServerHandshakeError) as refused:
        await connect(client)
    assert refused.value.status == 404


async def test_another_protocol_is_not_spoken(client: ClientSession) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        await connect(client, "v3.channel.k8s.io")
    assert refused.value.status == 400


async def test_a_container_s_own_streams_go_over_the_same_channels(client: ClientSession, execs: FakeExecs) -> None:
    url = URL.replace("exec", "attach")
    socket = await client.ws_connect(url, params={"stdin": "true", "stdout": "true"}, protocols=[V5])
    await socket.send_bytes(b"\x00hello")
    await socket.send_bytes(b"\xff\x00")
    found = await messages(socket)
    assert found[:2] == [b"\x01", b"\x01hello"]
    assert status_in(found)["status"] == "Success"
    assert execs.made[0].options == ExecOptions("c", (), stdin=True)
    assert execs.made[0].closed


async def test_what_can_not_be_attached_to_is_refused(client: ClientSession) -> None:
    url = URL.replace("exec", "attach")
    async with client.get(url, params={"stdout": "true"}) as answer:
        assert (answer.status, "Upgrade request required" in await answer.text()) == (400, True)
    async with client.get(url) as answer:
        assert "at least 1 of stdin, stdout, stderr" in await answer.text()
