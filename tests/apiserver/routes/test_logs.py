from __future__ import annotations

import json

import pytest
from aiohttp import ClientPayloadError, ClientSession

from kumi.api.errors import ApiError, bad_request
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.routes.logs import chosen_container, log_options
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from tests.apiserver.conftest import NOW, FakeLogs, pod, until, within

PODS = "/api/v1/namespaces/default/pods"
LOG = f"{PODS}/p/log"


def made(*containers: str, init: tuple[str, ...] = ()) -> JsonObject:
    found = pod("p")
    found["spec"]["containers"] = [{"name": name, "image": "i"} for name in containers]
    if init:
        found["spec"]["initContainers"] = [{"name": name, "image": "i"} for name in init]
    return found


async def test_a_log_is_text(client: ClientSession, logs: FakeLogs) -> None:
    await client.post(PODS, json=pod("p", nodeName="n"))
    logs.chunks["p"] = [b"one\n", b"", b"two\n"]
    response = await client.get(LOG)
    assert (response.status, response.content_type, await response.read()) == (200, "text/plain", b"one\ntwo\n")


async def test_an_empty_log_is_empty(client: ClientSession, logs: FakeLogs) -> None:
    await client.post(PODS, json=pod("p", nodeName="n"))
    logs.chunks["p"] = []
    response = await client.get(LOG)
    assert (response.status, await response.read()) == (200, b"")


async def test_a_followed_log_goes_on_until_its_end(client: ClientSession, logs: FakeLogs) -> None:
    await client.post(PODS, json=pod("p", nodeName="n"))
    logs.chunks["p"] = [b"one\n"]
    async with client.get(LOG, params={"follow": "true"}) as response:
        assert await within(response.content.readline()) == b"one\n"
        logs.held.set()
        assert await within(response.read()) == b"the end\n"


async def test_a_client_that_goes_ends_its_log(client: ClientSession, logs: FakeLogs) -> None:
    await client.post(PODS, json=pod("p", nodeName="n"))
    logs.chunks["p"] = [b"one\n"]
    async with client.get(LOG, params={"follow": "true"}) as response:
        await within(response.content.readline())
        assert logs.open == 1
    await until(lambda: logs.open == 0)


async def test_a_refusal_is_an_ordinary_error(client: ClientSession, logs: FakeLogs) -> None:
    await client.post(PODS, json=pod("p", nodeName="n"))
    logs.chunks["p"] = bad_request('container "c" in pod "p" is waiting to start: ContainerCreating')
    response = await client.get(LOG)
    assert response.status == 400
    assert "waiting to start" in (await response.json())["message"]


async def test_a_log_that_breaks_off_does_not_look_whole(
    client: ClientSession, logs: FakeLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client.post(PODS, json=pod("p", nodeName="n"))

    async def breaking(_pod: JsonObject, _options: object):  # type: ignore[no-untyped-def]
        yield b"one\n"
        raise OSError("the disk is gone")

    monkeypatch.setattr(logs, "logs", breaking)
    with pytest.raises(ClientPayloadError):
        await (await client.get(LOG)).read()


async def test_a_pod_on_no_node_has_no_log(client: ClientSession) -> None:
    await client.post(PODS, json=pod("p"))
    response = await client.get(LOG)
    assert (response.status, await response.read()) == (204, b"")


async def test_a_pod_that_is_not_there_has_no_log(client: ClientSession) -> None:
    response = await client.get(LOG)
    assert (response.status, (await response.json())["message"]) == (404, 'pods "p" not found')


async def test_a_server_without_nodes_says_so(registry: Registry, scheme: object) -> None:
    app = make_app(registry, scheme, clock_ms=lambda: NOW)  # type: ignore[arg-type]
    async with Server(app) as server, ClientSession(server.url) as client:
        response = await client.get(LOG)
        assert (response.status, json.loads(await response.read())["kind"]) == (501, "Status")


def test_the_options_are_read() -> None:
    query = {
        "follow": "true",
        "previous": "1",
        "timestamps": "true",
        "tailLines": "5",
        "limitBytes": "9",
        "sinceSeconds": "3",
    }
    options = log_options(query, made("c"), NOW)
    assert (options.container, options.follow, options.previous, options.timestamps) == ("c", True, True, True)
    assert (options.tail_lines, options.limit_bytes, options.since_ms) == (5, 9, NOW - 3000)


def test_a_time_may_be_given_instead_of_seconds() -> None:
    assert log_options({"sinceTime": "2027-01-15T08:00:00Z"}, made("c"), NOW).since_ms == NOW
    assert log_options({}, made("c"), NOW).since_ms is None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"tailLines": "-1"}, 422),
        ({"sinceSeconds": "0"}, 422),
        ({"limitBytes": "0"}, 422),
        ({"sinceSeconds": "1", "sinceTime": "2027-01-15T08:00:00Z"}, 422),
        ({"sinceTime": "yesterday"}, 400),
        ({"tailLines": "many"}, 400),
        ({"container": "other"}, 400),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(query: dict[str, str], code: int) -> None:
    with pytest.raises(ApiError) as refused:
        log_options(query, made("c"), NOW)
    assert refused.value.code == code


def test_one_of_several_containers_must_be_named() -> None:
    several = made("a", "b", init=("i",))
    assert [chosen_container(several, name) for name in ("a", "b", "i")] == ["a", "b", "i"]
    with pytest.raises(ApiError, match=r"\[a b\] or one of the init containers: \[i\]"):
        chosen_container(several, "")


def test_the_only_container_need_not_be_named() -> None:
    assert chosen_container(made("a", init=("i",)), "") == "a"
