from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.server import Server
from kumi.registry.bootstrap import bootstrap
from kumi.registry.registry import Registry
from kumi.store.disk import Disk
from kumi.store.memory import MemoryStore
from kumi.store.sqlite import SqliteStore
from tests.apiserver.conftest import NOW, config_map, pod

PATH = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
MERGE = {"Content-Type": "application/merge-patch+json"}


async def test_an_object_is_made_read_changed_and_removed(client: ClientSession) -> None:
    made = await client.post(PATH, json=config_map(k="1"))
    assert made.status == 201
    obj = await made.json()
    assert (await (await client.get(f"{PATH}/a")).json()) == obj
    obj["data"]["k"] = "2"
    assert (await client.put(f"{PATH}/a", json=obj)).status == 200
    patched = await client.patch(f"{PATH}/a", json={"data": {"k": "3"}}, headers=MERGE)
    assert (patched.status, (await patched.json())["data"]) == (200, {"k": "3"})
    removed = await client.delete(f"{PATH}/a")
    assert (removed.status, (await removed.json())["status"]) == (200, "Success")
    assert (await client.get(f"{PATH}/a")).status == 404


async def test_a_stale_update_is_a_conflict(client: ClientSession) -> None:
    obj = await (await client.post(PATH, json=config_map())).json()
    await client.patch(f"{PATH}/a", json={"data": {"k": "3"}}, headers=MERGE)
    refused = await client.put(f"{PATH}/a", json=obj)
    assert (refused.status, (await refused.json())["reason"]) == (409, "Conflict")


async def test_a_list_is_paged(client: ClientSession) -> None:
    for name in "abc":
        await client.post(PATH, json=config_map(name))
    first = await (await client.get(PATH, params={"limit": "2"})).json()
    second = await (await client.get(PATH, params={"limit": "2", "continue": first["metadata"]["continue"]})).json()
    assert [i["metadata"]["name"] for i in (*first["items"], *second["items"])] == ["a", "b", "c"]
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_a_page_of_a_list_that_is_gone_is_a_410_with_a_token_that_goes_on_from_now(
    client: ClientSession, store: MemoryStore
) -> None:
    for name in "abcde":
        await client.post(PATH, json=config_map(name))
    first = await (await client.get(PATH, params={"limit": "2"})).json()
    await client.delete(f"{PATH}/d")
    await client.post(PATH, json=config_map("f"))
    await store.compact(store.revision)
    expired = await client.get(PATH, params={"limit": "2", "continue": first["metadata"]["continue"]})
    status = await expired.json()
    assert (expired.status, status["kind"], status["reason"], status["code"]) == (410, "Status", "Expired", 410)
    assert "inconsistent list" in status["message"]
    found, token, revisions = [], status["metadata"]["continue"], set()
    while token:
        page = await (await client.get(PATH, params={"limit": "2", "continue": token})).json()
        found += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue")
        revisions.add(page["metadata"]["resourceVersion"])
    assert (found, revisions) == (["c", "e", "f"], {str(store.revision)})


@pytest.mark.parametrize("token", ["nonsense", "e30", "!!", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6IngifQ"])
async def test_a_token_that_is_none_is_a_400(client: ClientSession, token: str) -> None:
    response = await client.get(PATH, params={"limit": "2", "continue": token})
    assert (response.status, (await response.json())["reason"]) == (400, "BadRequest")


async def test_a_full_disk_refuses_writes_and_is_over_as_soon_as_there_is_room(scheme: Scheme, tmp_path: Path) -> None:
    disk = Disk(tmp_path / "kumi.db")
    store = SqliteStore(disk)
    registry = Registry(store, scheme, lambda: NOW, iter(map(str, range(10**6))).__next__)
    await bootstrap(registry)
    async with Server(make_app(registry, scheme, clock_ms=lambda: NOW)) as server, ClientSession(server.url) as client:
        assert (await client.post(PATH, json=config_map("a"))).status == 201
        (pages,) = disk._db.execute("PRAGMA page_count").fetchone()
        disk._db.execute(f"PRAGMA max_page_count = {pages}")
        for refused in (
            await client.post(PATH, json=config_map("b", text="x" * 200_000)),
            await client.patch(f"{PATH}/a", json={"data": {"k": "x" * 200_000}}, headers=MERGE),
        ):
            status = await refused.json()
            assert (refused.status, status["kind"], status["reason"]) == (500, "Status", "InternalError")
            assert "nothing was written" in status["message"]
            assert "full" in status["message"]
        there = (await (await client.get(PATH)).json())["items"]
        assert [(item["metadata"]["name"], item.get("data")) for item in there] == [("a", None)]
        disk._db.execute("PRAGMA max_page_count = 1000000")
        assert (await client.post(PATH, json=config_map("b", text="x" * 200_000))).status == 201
    await store.close()


async def test_a_collection_is_deleted_by_selector(client: ClientSession) -> None:
    for name in "ab":
        body = config_map(name)
        body["metadata"]["labels"] = {"n": name}
        await client.post(PATH, json=body)
    deleted = await (await client.delete(PATH, params={"labelSelector": "n=a"})).json()
    assert (deleted["kind"], [i["metadata"]["name"] for i in deleted["items"]]) == ("ConfigMapList", ["a"])
    left = await (await client.get(PATH)).json()
    assert [i["metadata"]["name"] for i in left["items"]] == ["b"]


async def test_a_dry_run_changes_nothing(client: ClientSession) -> None:
    assert (await client.post(PATH, params={"dryRun": "All"}, json=config_map())).status == 201
    assert (await client.get(f"{PATH}/a")).status == 404


async def test_warnings_are_headers(client: ClientSession) -> None:
    response = await client.post(PATH, params={"fieldValidation": "Warn"}, json={**config_map(), "dta": {}})
    assert response.headers.getall("Warning") == ['299 - "unknown field \\"dta\\""']


async def test_a_strict_writer_is_refused(client: ClientSession) -> None:
    response = await client.post(PATH, params={"fieldValidation": "Strict"}, json={**config_map(), "dta": {}})
    assert (response.status, "strict decoding error" in (await response.json())["message"]) == (400, True)


async def test_a_pod_is_bound_through_its_subresource(client: ClientSession) -> None:
    await client.post(PODS, json=pod())
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    bound = await client.post(f"{PODS}/p/binding", json=body)
    assert (bound.status, (await bound.json())["status"]) == (201, "Success")
    assert (await (await client.get(f"{PODS}/p")).json())["spec"]["nodeName"] == "n"


async def test_the_status_is_written_through_its_subresource(client: ClientSession) -> None:
    await client.post(PODS, json=pod())
    patched = await client.patch(f"{PODS}/p/status", json={"status": {"phase": "Running"}}, headers=MERGE)
    assert (patched.status, (await patched.json())["status"]["phase"]) == (200, "Running")


async def test_a_namespace_is_read_at_its_own_path(client: ClientSession) -> None:
    assert (await (await client.get("/api/v1/namespaces/default")).json())["metadata"]["name"] == "default"


async def test_the_form_of_the_answer_is_negotiated(client: ClientSession) -> None:
    await client.post(PATH, json=config_map())
    table = await client.get(PATH, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    assert (await table.json())["kind"] == "Table"
    yaml = await client.get(f"{PATH}/a", headers={"Accept": "application/yaml"})
    assert (yaml.content_type, "kind: ConfigMap" in await yaml.text()) == ("application/yaml", True)
    assert (await client.get(PATH, headers={"Accept": "text/html"})).status == 406


@pytest.mark.parametrize("path", [PATH, f"{PATH}/a"])
async def test_nothing_is_done_for_an_answer_that_nobody_takes(client: ClientSession, path: str) -> None:
    await client.post(PATH, json=config_map())
    assert (await client.delete(path, headers={"Accept": "text/html"})).status == 406
    assert (await client.get(f"{PATH}/a")).status == 200


async def test_a_method_that_is_not_there_is_a_405(client: ClientSession) -> None:
    response = await client.request("OPTIONS", PATH)
    assert (response.status, (await response.json())["reason"]) == (405, "MethodNotAllowed")


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def definition() -> JsonObject:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    version = {"served": True, "schema": {"openAPIV3Schema": schema}, "additionalPrinterColumns": columns}
    old = {"name": "v1beta1", "storage": False, "deprecated": True, "deprecationWarning": "use v1"}
    new = {"name": "v1", "storage": True, "subresources": {"status": {}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [version | new, version | old],
        },
    }


async def test_a_kind_that_somebody_defines_is_served_like_any_other_until_its_definition_goes(
    registry: Registry, scheme: Scheme
) -> None:
    own = scheme.copy()
    registry = Registry(registry.store, own, lambda: NOW, lambda: "uid")
    async with Server(make_app(registry, own, clock_ms=lambda: NOW)) as server, ClientSession(server.url) as client:
        assert (await client.post(DEFINITIONS, json=definition())).status == 201
        listed = await (await client.get("/apis/example.com/v1")).json()
        assert [resource["name"] for resource in listed["resources"]] == ["widgets", "widgets/status"]
        listed = await (await client.get("/apis/example.com/v1beta1")).json()
        assert [resource["name"] for resource in listed["resources"]] == ["widgets"]
        path = "/apis/example.com/v1/namespaces/default/widgets"
        widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3}}
        assert (await client.post(path, json=widget)).status == 201
        table = await client.get(path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
        assert (await table.json())["rows"][0]["cells"] == ["w", 3]
        old = await client.get(path.replace("v1", "v1beta1") + "/w")
        assert old.headers.getall("Warning") == ['299 - "use v1"']
        assert (await old.json())["apiVersion"] == "example.com/v1beta1"
        absent = await client.get(path.replace("v1", "v1beta1") + "/none")
        assert (absent.status, absent.headers.getall("Warning")) == (404, ['299 - "use v1"'])
        document = await (await client.get("/openapi/v3/apis/example.com/v1")).json()
        assert "com.example.v1.Widget" in document["components"]["schemas"]
        assert (await client.delete(f"{DEFINITIONS}/widgets.example.com")).status == 200
        assert (await client.get(path)).status == 404
        assert (await client.get("/apis/example.com/v1")).status == 404
