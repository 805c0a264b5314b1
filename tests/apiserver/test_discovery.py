from __future__ import annotations

import pytest
from aiohttp import ClientSession
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.scheme import Scheme
from kumi.apiserver.discovery import kinds, version_order, wants_aggregated

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = V2.replace("v=v2", "v=v2beta1")


async def get(client: ClientSession, path: str, accept: str = "application/json") -> dict:  # type: ignore[type-arg]
    response = await client.get(path, headers={"Accept": accept})
    assert response.status == 200
    found = await response.json(content_type=None)
    assert isinstance(found, dict)
    return found


@given(st.lists(st.text(), unique=True))
def test_versions_are_told_apart(versions: list[str]) -> None:
    assert len({version_order(v) for v in versions}) == len(versions)


def test_versions_stand_as_kubernetes_orders_them() -> None:
    ordered = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    assert sorted({*ordered}, key=version_order) == ordered


async def test_every_kind_is_found_through_its_group(client: ClientSession, scheme: Scheme) -> None:
    listed = await get(client, "/apis")
    found = {group["name"]: [v["version"] for v in group["versions"]] for group in listed["groups"]}
    for kind in scheme:
        for version in kind.versions:
            path = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
            resources = {r["name"]: r for r in (await get(client, path))["resources"]}
            assert resources[kind.plural]["kind"] == kind.kind
            assert resources[kind.plural]["namespaced"] is kind.namespaced
            assert not kind.group or version in found[kind.group]


async def test_the_core_has_no_group(client: ClientSession) -> None:
    assert (await get(client, "/api"))["versions"] == ["v1"]
    assert "" not in [g["name"] for g in (await get(client, "/apis"))["groups"]]


async def test_one_group_says_its_preferred_version(client: ClientSession) -> None:
    group = await get(client, "/apis/batch")
    assert group["kind"] == "APIGroup"
    assert group["preferredVersion"] == {"groupVersion": "batch/v1", "version": "v1"}


async def test_a_resource_has_its_names_verbs_and_subresources(client: ClientSession) -> None:
    resources = {r["name"]: r for r in (await get(client, "/api/v1"))["resources"]}
    assert resources["pods"] == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["po"],
        "categories": ["all"],
    }
    eviction = {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "kind": "Eviction",
        "verbs": ["create"],
    }
    assert resources["pods/eviction"] == {**eviction, "group": "policy", "version": "v1"}
    assert resources["pods/log"]["verbs"] == ["get"]
    assert resources["namespaces/status"]["verbs"] == ["get", "patch", "update"]


@pytest.mark.parametrize(
    ("accept", "version"), [(V2, "v2"), (V2BETA1, "v2beta1"), (f"{V2},{V2BETA1},application/json", "v2")]
)
async def test_aggregated_discovery_says_everything_at_once(
    client: ClientSession, scheme: Scheme, accept: str, version: str
) -> None:
    response = await client.get("/apis", headers={"Accept": accept})
    assert response.headers["Content-Type"] == V2.replace("v=v2", f"v={version}")
    core = await get(client, "/api", accept)
    listed = await response.json(content_type=None)
    assert listed["apiVersion"] == f"apidiscovery.k8s.io/{version}"
    found = {
        (group["metadata"].get("name", ""), v["version"], r["resource"])
        for group in (*core["items"], *listed["items"])
        for v in group["versions"]
        for r in v["resources"]
    }
    assert found == {(kind.group, v, kind.plural) for kind in kinds(scheme) for v in kind.versions}


async def test_aggregated_resources_have_their_subresources(client: ClientSession) -> None:
    (core,) = (await get(client, "/api", V2))["items"]
    (pods,) = [r for r in core["versions"][0]["resources"] if r["resource"] == "pods"]
    assert pods["scope"] == "Namespaced"
    assert {
        "subresource": "binding",
        "responseKind": {"group": "", "version": "v1", "kind": "Binding"},
        "verbs": ["create"],
    } in pods["subresources"]


@pytest.mark.parametrize(
    ("accept", "version"),
    [
        ("", ""),
        ("application/json", ""),
        (f"application/json,{V2}", ""),
        (f"{V2};q=0.1,application/json", ""),
        (V2.replace("v=v2", "v=v7"), ""),
        ("application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", ""),
        (V2, "v2"),
    ],
)
def test_the_aggregated_form_is_for_those_who_ask_for_it_first(accept: str, version: str) -> None:
    assert wants_aggregated(accept) == version
