"""NodeMetrics and PodMetrics: of stored objects, what was measured, as clients of a real server know it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest
from aiohttp import ClientSession

from kumi.api.metrics import Usage, Used
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from tests.apiserver.access import ADMIN, serve
from tests.apiserver.conftest import NOW, pod
from tests.registry.authorization.made import binding

V1BETA1 = "/apis/metrics.k8s.io/v1beta1"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


class Meter:
    """Has measured the node n1, and pods by uid."""

    def __init__(self) -> None:
        self.pods: dict[str, Usage[Mapping[str, Used]]] = {}

    def node(self, name: str) -> Usage[Used] | None:
        return Usage(NOW, 10_000, Used(3 * 10**9, 1 << 30)) if name == "n1" else None

    def pod(self, uid: str) -> Usage[Mapping[str, Used]] | None:
        return self.pods.get(uid)


@pytest.fixture
async def meter() -> Meter:
    return Meter()


@pytest.fixture
async def asked(registry: Registry, scheme: Scheme, meter: Meter) -> AsyncIterator[ClientSession]:
    """A server with two nodes and, in each of two namespaces, the pods a and b, of which the a's are measured."""
    app = make_app(registry, scheme, clock_ms=lambda: NOW, usage=meter)
    async with Server(app) as server, ClientSession(server.url) as client:
        for name in ("n1", "n2"):
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": name}}}
            await client.post("/api/v1/nodes", json=node)
        await client.post("/api/v1/namespaces", json={"metadata": {"name": "other"}})
        for namespace in ("default", "other"):
            for name in ("a", "b"):
                made = pod(name)
                made["metadata"]["labels"] = {"app": name, "in": namespace}
                response = await client.post(f"/api/v1/namespaces/{namespace}/pods", json=made)
                assert response.status == 201, await response.text()
                if name == "a":
                    uid = (await response.json())["metadata"]["uid"]
                    meter.pods[uid] = Usage(NOW, 5_000, {"c": Used(10**8, 1 << 20), "d": Used()})
        yield client


async def get(client: ClientSession, path: str, status: int = 200, **headers: str) -> JsonObject:
    async with client.get(f"{V1BETA1}{path}", headers=headers) as response:
        found: JsonObject = await response.json(content_type=None)
        assert response.status == status, found
        return found


def names(found: JsonObject) -> list[str]:
    return [f"{i['metadata'].get('namespace', '')}/{i['metadata']['name']}" for i in found["items"]]


async def test_what_is_measured_is_listed_with_the_labels_of_the_object(asked: ClientSession) -> None:
    nodes = await get(asked, "/nodes")
    assert (nodes["kind"], nodes["apiVersion"]) == ("NodeMetricsList", "metrics.k8s.io/v1beta1")
    assert nodes["items"] == [
        {
            "metadata": {"name": "n1", "creationTimestamp": "2027-01-15T08:00:00Z", "labels": {"zone": "n1"}},
            "timestamp": "2027-01-15T08:00:00Z",
            "window": "10s",
            "usage": {"cpu": "3", "memory": "1Gi"},
        }
    ]
    pods = await get(asked, "/pods")
    assert (pods["kind"], names(pods)) == ("PodMetricsList", ["default/a", "other/a"])
    assert pods["items"][0]["containers"] == [
        {"name": "c", "usage": {"cpu": "100m", "memory": "1Mi"}},
        {"name": "d", "usage": {"cpu": "0", "memory": "0"}},
    ]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/namespaces/other/pods", ["other/a"]),
        ("/pods?labelSelector=in%3Ddefault", ["default/a"]),
        ("/pods?labelSelector=app%3Db", []),
        ("/pods?fieldSelector=metadata.namespace%3Dother", ["other/a"]),
        ("/pods?fieldSelector=metadata.name%3Da&limit=1", ["default/a", "other/a"]),
        ("/namespaces/none/pods", []),
        ("/nodes?labelSelector=zone%3Dn2", []),
        ("/nodes?labelSelector=zone%21%3Dn2", ["/n1"]),
    ],
)
async def test_selectors_are_about_the_nodes_and_pods_themselves(
    asked: ClientSession, path: str, found: list[str]
) -> None:
    assert names(await get(asked, path)) == found


async def test_one_is_asked_for_by_name(asked: ClientSession) -> None:
    assert (await get(asked, "/nodes/n1"))["kind"] == "NodeMetrics"
    one = await get(asked, "/namespaces/other/pods/a")
    assert (one["kind"], one["metadata"]["namespace"], one["window"]) == ("PodMetrics", "other", "5s")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/nodes/n2", 'nodemetrics.metrics.k8s.io "n2" not found'),
        ("/nodes/nobody", 'nodemetrics.metrics.k8s.io "nobody" not found'),
        ("/namespaces/default/pods/b", 'podmetrics.metrics.k8s.io "default/b" not found'),
        ("/namespaces/default/pods/nobody", 'podmetrics.metrics.k8s.io "default/nobody" not found'),
    ],
)
async def test_what_is_not_measured_is_not_there(asked: ClientSession, path: str, words: str) -> None:
    assert (await get(asked, path, 404))["message"] == words


async def test_a_pod_that_was_made_again_is_not_the_one_that_was_measured(asked: ClientSession) -> None:
    await asked.delete("/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0")
    await asked.post("/api/v1/namespaces/default/pods", json=pod("a"))
    assert names(await get(asked, "/pods")) == ["other/a"]


async def test_a_wrong_selector_is_refused(asked: ClientSession) -> None:
    await get(asked, "/pods?labelSelector=%3D%3D", 400)
    await get(asked, "/nodes?fieldSelector=spec.colour%3Dred", 400)


async def test_a_table_has_what_is_used(asked: ClientSession) -> None:
    found = await get(asked, "/pods", Accept=TABLE)
    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "cpu", "memory", "Window"]
    assert found["rows"][0]["cells"] == ["a", "100m", "1Mi", "5s"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/namespaces/default/pods", 405),
        ("DELETE", "/nodes/n1", 405),
        ("PUT", "/nodes/n1", 405),
        ("GET", "/pods?watch=true", 405),
        ("GET", "/watch/pods", 405),
        ("GET", "/nodes/n1/status", 404),
        ("GET", "/namespaces/default/nodes", 404),
        ("GET", "/services", 404),
    ],
)
async def test_nothing_else_can_be_done(asked: ClientSession, method: str, path: str, status: int) -> None:
    response = await asked.request(method, f"{V1BETA1}{path}", json={})
    assert response.status == status


async def test_where_no_node_runs_nothing_is_measured(client: ClientSession) -> None:
    await client.post("/api/v1/nodes", json={"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    assert (await get(client, "/nodes"))["items"] == []
    await get(client, "/nodes/n1", 404)


async def test_discovery_tells_of_both(asked: ClientSession) -> None:
    response = await asked.get(V1BETA1)
    resources = (await response.json())["resources"]
    assert [(r["name"], r["kind"], r["namespaced"], r["verbs"]) for r in resources] == [
        ("nodes", "NodeMetrics", False, ["get", "list"]),
        ("pods", "PodMetrics", True, ["get", "list"]),
    ]


async def test_the_schemas_are_published(asked: ClientSession) -> None:
    response = await asked.get("/openapi/v3/apis/metrics.k8s.io/v1beta1")
    document = await response.json(content_type=None)
    assert f"{V1BETA1}/namespaces/{{namespace}}/pods/{{name}}" in document["paths"]
    assert any(name.endswith("NodeMetricsList") for name in document["components"]["schemas"])


async def test_viewers_see_what_pods_of_their_namespace_use_and_others_nothing(
    registry: Registry, scheme: Scheme
) -> None:
    async with serve(registry, scheme) as guarded:
        await guarded.put(binding("User viewer", to="view", namespace="default"))
        pods = f"{V1BETA1}/namespaces/default/pods"
        assert (await guarded.ask("viewer", "GET", pods))[0] == 200
        assert (await guarded.ask("viewer", "GET", f"{V1BETA1}/nodes"))[0] == 403
        status, refused = await guarded.ask("stranger", "GET", pods)
        assert status == 403
        assert 'pods.metrics.k8s.io is forbidden: User "stranger" cannot list resource "pods"' in refused["message"]
        assert (await guarded.ask(ADMIN, "GET", f"{V1BETA1}/nodes"))[0] == 200
