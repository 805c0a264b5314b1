from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import ClientSession

from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from kumi.runtime.visibility import Pending
from tests.apiserver.conftest import NOW

GROUP = "/apis/visibility.kueue.x-k8s.io"
LINE = [("a", "team", "lq"), ("b", "other", "lq"), ("c", "team", "lq"), ("d", "team", "night")]


class Lines:
    """The line of a queue `cq` with doors `team/lq`, `other/lq` and `team/night`."""

    def pending(self, cluster_queue: str) -> Iterator[Pending] | None:
        return self._line() if cluster_queue == "cq" else None

    def cluster_queue_of(self, local_queue: str) -> str | None:
        return "cq" if local_queue in ("team/lq", "other/lq", "team/night") else None

    def _line(self) -> Iterator[Pending]:
        for place, (name, namespace, door) in enumerate(LINE):
            before = sum((n, d) == (namespace, door) for _, n, d in LINE[:place])
            yield Pending({"name": name, "namespace": namespace}, 10 - place, door, place, before)


@pytest.fixture
async def asked(registry: Registry) -> AsyncIterator[ClientSession]:
    server = Server(make_app(registry, load(), clock_ms=lambda: NOW, lines=Lines()))
    await server.start()
    async with ClientSession(server.url) as session:
        yield session
    await server.stop()


async def items(session: ClientSession, path: str, status: int = 200) -> list[JsonObject]:
    response = await session.get(GROUP + path)
    assert response.status == status
    body: JsonObject = await response.json()
    found: list[JsonObject] = body.get("items", [])
    return found


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
async def test_the_line_of_a_cluster_queue(asked: ClientSession, version: str) -> None:
    response = await asked.get(f"{GROUP}/{version}/clusterqueues/cq/pendingworkloads")
    body = await response.json()
    assert (body["kind"], body["apiVersion"]) == ("PendingWorkloadsSummary", f"visibility.kueue.x-k8s.io/{version}")
    assert [i["metadata"]["name"] for i in body["items"]] == ["a", "b", "c", "d"]
    assert body["items"][2] == {
        "metadata": {"name": "c", "namespace": "team"},
        "priority": 8,
        "localQueueName": "lq",
        "positionInClusterQueue": 2,
        "positionInLocalQueue": 1,
    }


async def test_the_line_of_a_local_queue_is_its_own_part(asked: ClientSession) -> None:
    found = await items(asked, "/v1beta2/namespaces/team/localqueues/lq/pendingworkloads")
    assert [(i["metadata"]["name"], i["positionInClusterQueue"]) for i in found] == [("a", 0), ("c", 2)]


@pytest.mark.parametrize(
    ("query", "names"), [("?offset=1&limit=2", "bc"), ("?limit=1", "a"), ("?offset=9", ""), ("?limit=0", "")]
)
async def test_a_part_of_a_line(asked: ClientSession, query: str, names: str) -> None:
    found = await items(asked, f"/v1beta2/clusterqueues/cq/pendingworkloads{query}")
    assert "".join(i["metadata"]["name"] for i in found) == names


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1beta2/clusterqueues/none/pendingworkloads", 404),
        ("/v1beta2/namespaces/team/localqueues/none/pendingworkloads", 404),
        ("/v1/clusterqueues/cq/pendingworkloads", 404),
        ("/v1beta2/clusterqueues/cq", 404),
        ("/v1beta2/clusterqueues/cq/pendingworkloads?offset=-1", 400),
        ("/v1beta2/clusterqueues/cq/pendingworkloads?limit=x", 400),
    ],
)
async def test_what_is_not_there_or_not_asked_well(asked: ClientSession, path: str, status: int) -> None:
    await items(asked, path, status)


async def test_without_a_scheduler_there_is_nobody_to_ask(client: ClientSession) -> None:
    response = await client.get(f"{GROUP}/v1beta2/clusterqueues/cq/pendingworkloads")
    assert response.status == 404
    assert "no scheduler" in (await response.json())["message"]


async def test_it_is_told_to_those_who_discover(client: ClientSession) -> None:
    body = await (await client.get(f"{GROUP}/v1beta2")).json()
    told = {r["name"]: (r["kind"], r["verbs"], r["namespaced"]) for r in body["resources"]}
    assert told["clusterqueues/pendingworkloads"] == ("PendingWorkloadsSummary", ["get"], False)
    assert told["localqueues/pendingworkloads"] == ("PendingWorkloadsSummary", ["get"], True)
    assert told["clusterqueues"] == ("ClusterQueue", [], False)
