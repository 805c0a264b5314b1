from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientResponse, ClientSession

from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.routes.watches import GATHER_AT_MOST_S, LONGEST_S, pause_s, timeout_seconds
from kumi.apiserver.server import Server
from kumi.registry.bootstrap import bootstrap
from kumi.store.memory import MemoryStore
from tests.apiserver.conftest import DEADLINE_S, NOW, WatchedRegistry, config_map, until, within

PATH = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


async def events(response: ClientResponse, count: int) -> list[JsonObject]:
    """The next events of a watch."""
    assert response.status == 200
    return [json.loads(await within(response.content.readline())) for _ in range(count)]  # type: ignore[arg-type]


def told(found: list[JsonObject]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in found]


async def revision(client: ClientSession) -> str:
    return str((await (await client.get(PATH)).json())["metadata"]["resourceVersion"])


async def test_a_watch_tells_what_changes(client: ClientSession) -> None:
    start = await revision(client)
    async with client.get(PATH, params={"watch": "1", "resourceVersion": start}) as response:
        await client.post(PATH, json=config_map())
        await client.patch(
            f"{PATH}/a", json={"data": {"k": "v"}}, headers={"Content-Type": "application/merge-patch+json"}
        )
        await client.delete(f"{PATH}/a")
        found = await events(response, 3)
    assert told(found) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    assert found[0]["object"]["kind"] == "ConfigMap"


async def test_a_watch_without_a_revision_starts_with_what_is_there(client: ClientSession) -> None:
    await client.post(PATH, json=config_map())
    async with client.get(PATH, params={"watch": "true"}) as response:
        assert told(await events(response, 1)) == [("ADDED", "a")]


@pytest.mark.parametrize(
    ("path", "params"),
    [(PATH, {"watch": "1", "fieldSelector": "metadata.name=b"}), (PATH.replace("v1/", "v1/watch/") + "/b", {})],
)
async def test_one_object_can_be_watched(client: ClientSession, path: str, params: dict[str, str]) -> None:
    for name in ("a", "b"):
        await client.post(PATH, json=config_map(name))
    async with client.get(path, params=params) as response:
        await client.delete(f"{PATH}/a")
        await client.delete(f"{PATH}/b")
        assert told(await events(response, 2)) == [("ADDED", "b"), ("DELETED", "b")]


async def test_rows_are_watched_as_tables_and_only_the_first_says_the_columns(client: ClientSession) -> None:
    await client.post(PATH, json=config_map("a"))
    async with client.get(PATH, params={"watch": "1"}, headers={"Accept": TABLE}) as response:
        await client.post(PATH, json=config_map("b"))
        first, second = (event["object"] for event in await events(response, 2))
    assert [c["name"] for c in first["columnDefinitions"]][:1] == ["Name"]
    assert second["columnDefinitions"] == []
    assert [row["cells"][0] for table in (first, second) for row in table["rows"]] == ["a", "b"]


async def test_the_time_ends_a_watch(client: ClientSession) -> None:
    async with client.get(
        PATH, params={"watch": "1", "resourceVersion": await revision(client), "timeoutSeconds": "1"}
    ) as response:
        assert await within(response.read()) == b""


@pytest.mark.parametrize(
    "params",
    [{"labelSelector": "=="}, {"fieldSelector": "data.x=1"}, {"resourceVersion": "abc"}, {"timeoutSeconds": "x"}],
)
async def test_a_watch_that_makes_no_sense_is_an_ordinary_error(client: ClientSession, params: dict[str, str]) -> None:
    response = await client.get(PATH, params={"watch": "1", **params})
    assert response.status == 400
    assert (await response.json())["kind"] == "Status"


async def test_a_revision_that_is_gone_is_an_error_event(client: ClientSession, store: MemoryStore) -> None:
    start = await revision(client)
    for name in ("a", "b"):
        await client.post(PATH, json=config_map(name))
    await store.compact(store.revision)
    async with client.get(PATH, params={"watch": "1", "resourceVersion": start}) as response:
        (event,) = await events(response, 1)
        assert (event["type"], event["object"]["kind"], event["object"]["code"]) == ("ERROR", "Status", 410)
        assert await within(response.read()) == b""


async def test_headers_come_before_the_first_event(client: ClientSession) -> None:
    response = await within(client.get(PATH, params={"watch": "1", "resourceVersion": await revision(client)}))
    assert isinstance(response, ClientResponse)
    assert response.headers["Content-Type"] == "application/json"
    response.close()


async def test_a_client_that_goes_ends_its_watch(client: ClientSession, registry: WatchedRegistry) -> None:
    async with client.get(PATH, params={"watch": "1"}):
        await until(lambda: registry.open_watches == 1)
    await until(lambda: registry.open_watches == 0)


async def test_a_reader_that_falls_too_far_behind_is_told_so_and_the_server_stays(scheme: Scheme) -> None:
    registry = WatchedRegistry(MemoryStore(bound=20), scheme, lambda: NOW, iter(map(str, range(10**6))).__next__)
    await bootstrap(registry)
    async with Server(make_app(registry, scheme, clock_ms=lambda: NOW)) as server, ClientSession(server.url) as client:
        slow = await client.get(PATH, params={"watch": "1", "resourceVersion": await revision(client)})
        for turn in range(60):  # more than sockets and the bound hold
            await client.put(f"{PATH}/a", json=config_map(text="x" * 900_000, turn=str(turn)))
            await client.post(PATH, json=config_map(text="x" * 900_000))
        found = [json.loads(line) async for line in lines_of(slow)]
        assert found[-1]["type"] == "ERROR"
        assert (found[-1]["object"]["code"], found[-1]["object"]["reason"]) == (410, "Expired")
        assert len(found) < 60
        assert (await client.get(f"{PATH}/a")).status == 200


async def lines_of(response: ClientResponse) -> AsyncIterator[bytes]:
    """Its lines, however long."""
    rest = b""
    async with asyncio.timeout(DEADLINE_S):
        async for piece in response.content.iter_any():
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line


async def test_many_watches_are_told_the_same_in_the_same_order(client: ClientSession) -> None:
    start = await revision(client)
    watches = [await client.get(PATH, params={"watch": "1", "resourceVersion": start}) for _ in range(20)]
    names = [f"c{number:02}" for number in range(50)]
    await asyncio.gather(*(client.post(PATH, json=config_map(name)) for name in names))
    seen = [told(await events(watch, len(names))) for watch in watches]
    assert sorted(seen[0]) == [("ADDED", name) for name in names]
    assert all(one == seen[0] for one in seen)
    for watch in watches:
        watch.close()


def test_few_watches_tell_at_once_and_many_let_events_gather() -> None:
    assert pause_s(1) == 0
    assert 0 < pause_s(20) < pause_s(50) <= GATHER_AT_MOST_S == pause_s(10**6)


@pytest.mark.parametrize("asked", [None, 0, -3])
def test_a_watch_without_a_time_lasts_long_and_not_for_ever(asked: int | None) -> None:
    assert LONGEST_S / 2 <= timeout_seconds(asked) <= LONGEST_S
    assert timeout_seconds(5) == 5
