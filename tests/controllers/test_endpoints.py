"""Endpoints and slices, on the real registry."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.core import Endpoints, Pod, Service
from kumi.api.discovery import EndpointSlice
from kumi.api.wire import JsonObject
from kumi.controllers.endpoints import OVER_CAPACITY, EndpointsController
from kumi.testing.stage import Stage


async def stage(**spec: Any) -> Stage:
    made = Stage([EndpointsController()])
    await made.open("ns")
    given = {"selector": {"a": "b"}, "ports": [{"port": 80, "targetPort": "http"}], **spec}
    meta = {"name": "web", "namespace": "ns"}
    await made.make({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": given})
    await made.settle()
    return made


async def pod(on: Stage, name: str, ip: str = "", ready: bool = True, **spec: Any) -> None:
    container = {"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": 8080}]}
    meta = {"name": name, "namespace": "ns", "labels": {"a": "b"}}
    await on.make({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container], **spec}})
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    await on.pod_status("ns", name, {"phase": "Running", "podIP": ip, "conditions": conditions})
    await on.settle()


async def subsets(on: Stage) -> list[JsonObject]:
    found = await on.one(Endpoints, "ns/web")
    assert found is not None
    kept: list[JsonObject] = found.get("subsets") or []
    return kept


async def slice_of(on: Stage) -> JsonObject:
    [found] = await on.all(EndpointSlice, "ns")
    return found


async def test_pods_with_an_address_are_behind_their_service() -> None:
    on = await stage()
    assert await subsets(on) == []
    await pod(on, "a", "10.0.0.1", nodeName="n", hostname="h", subdomain="web")
    await pod(on, "b", "10.0.0.2", ready=False)
    await pod(on, "waits")
    [subset] = await subsets(on)
    [address] = subset["addresses"]
    assert (address["ip"], address["hostname"], address["nodeName"], address["targetRef"]["name"]) == (
        "10.0.0.1",
        "h",
        "n",
        "a",
    )
    assert [a["ip"] for a in subset["notReadyAddresses"]] == ["10.0.0.2"]
    assert subset["ports"] == [{"port": 8080, "protocol": "TCP"}]
    found = await slice_of(on)
    assert found["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]
    assert found["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
    assert [(e["addresses"], e["conditions"]["ready"]) for e in found["endpoints"]] == [
        (["10.0.0.1"], True),
        (["10.0.0.2"], False),
    ]


async def test_what_changes_is_followed_and_what_does_not_is_not_written() -> None:
    on = await stage()
    await pod(on, "a", "10.0.0.1")
    before = on.store.revision
    await on.settle()
    assert on.store.revision == before
    await on.delete(Pod, "ns/a")
    await on.settle()
    assert await subsets(on) == []
    assert (await slice_of(on)).get("endpoints", []) == []


async def test_one_that_ends_is_out() -> None:
    on = await stage()
    await pod(on, "a", "10.0.0.1")
    await on.pod_status("ns", "a", {"phase": "Succeeded"})
    await on.settle()
    assert await subsets(on) == []


async def test_those_that_are_not_ready_are_published_if_the_service_says_so() -> None:
    on = await stage(publishNotReadyAddresses=True, clusterIP="None")
    await pod(on, "a", "10.0.0.1", ready=False)
    [subset] = await subsets(on)
    assert [a["ip"] for a in subset["addresses"]] == ["10.0.0.1"]
    assert "service.kubernetes.io/headless" in (await slice_of(on))["metadata"]["labels"]


async def test_a_number_needs_no_name() -> None:
    on = await stage(ports=[{"port": 80, "targetPort": 99}])
    await pod(on, "a", "10.0.0.1")
    assert (await subsets(on))[0]["ports"][0]["port"] == 99


async def test_endpoints_of_a_service_without_a_selector_are_somebody_elses() -> None:
    on = await stage(selector=None)
    meta = {"name": "web", "namespace": "ns"}
    await on.make(
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta, "subsets": [{"addresses": [{"ip": "1.2.3.4"}]}]}
    )
    await on.settle()
    await on.delete(Service, "ns/web")
    await on.settle()
    assert (await subsets(on))[0]["addresses"][0]["ip"] == "1.2.3.4"


async def test_a_service_that_goes_takes_its_endpoints_along() -> None:
    on = await stage()
    await pod(on, "a", "10.0.0.1")
    await on.delete(Service, "ns/web")
    await on.settle()
    assert await on.one(Endpoints, "ns/web") is None


async def test_more_pods_than_a_slice_takes_are_split_and_endpoints_say_when_they_are_not_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kumi.controllers.endpoint_slices.MOST", 3)
    monkeypatch.setattr("kumi.controllers.endpoints.MOST", 5)
    on = await stage()
    for number in range(7):
        await pod(on, f"p{number}", f"10.0.0.{number}", ready=number != 0)
    found = await on.all(EndpointSlice, "ns")
    assert sorted(len(each["endpoints"]) for each in found) == [1, 3, 3]
    endpoints = await on.one(Endpoints, "ns/web")
    assert endpoints is not None
    assert endpoints["metadata"]["annotations"] == {OVER_CAPACITY: "truncated"}
    [subset] = endpoints["subsets"]
    assert [a["ip"] for a in subset["addresses"]] == [f"10.0.0.{number}" for number in range(1, 6)]
    for number in range(3):
        await on.delete(Pod, f"ns/p{number}")
    await on.settle()
    endpoints = await on.one(Endpoints, "ns/web")
    assert endpoints is not None
    assert not endpoints["metadata"].get("annotations")
