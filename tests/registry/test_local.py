"""The client of Kumi's own loops."""

from __future__ import annotations

import pytest

from kumi.api.errors import ApiError
from kumi.runtime.client import Client

from .world import World, pod


def as_client(world: World) -> Client:
    """LocalClient has the shape of the protocol (mypy checks it, and so does the call)."""
    return world.client


async def test_reads_and_writes(world: World) -> None:
    client, kind = as_client(world), world.kind("Pod")
    body = {"apiVersion": "v1", "kind": "Pod", **pod()}
    body["metadata"]["namespace"] = "ns"
    made = await client.create(body)
    assert await client.get(kind, "ns", "p") == made
    await client.patch(kind, "ns", "p", {"metadata": {"labels": {"a": "b"}}})
    await client.patch(kind, "ns", "p", [{"op": "remove", "path": "/metadata/labels/a"}], type="json")
    await client.patch(kind, "ns", "p", {"spec": {"containers": [{"name": "c", "image": "2"}]}}, type="strategic")
    await client.patch(kind, "ns", "p", {"status": {"phase": "Running"}}, subresource="status")
    now = await client.get(kind, "ns", "p")
    assert (now["spec"]["containers"][0]["image"], now["status"]["phase"]) == ("2", "Running")
    assert "labels" not in now["metadata"]
    assert [o["metadata"]["name"] for o in (await client.list(kind, labels="!a", fields="metadata.name=p")).items] == [
        "p"
    ]
    with pytest.raises(ApiError) as refused:
        await client.delete(kind, "ns", "p", uid="other")
    assert refused.value.code == 409
    await client.delete(kind, "ns", "p", uid=now["metadata"]["uid"], grace_seconds=0)
    assert (await client.list(kind, "ns")).items == []


async def test_a_watch_goes_on_from_a_list(world: World) -> None:
    client, kind = as_client(world), world.kind("Pod")
    listing = await client.list(kind)
    made = await world.create("Pod", pod())
    event = await anext(client.watch(kind, revision=listing.revision))
    assert (event.type, event.object) == ("ADDED", made)


async def test_a_pod_is_bound_and_evicted_by_creating(world: World) -> None:
    client = as_client(world)
    await world.create("Pod", pod())
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"namespace": "ns", "name": "p"},
        "target": {"kind": "Node", "name": "n"},
    }
    await client.create(binding, subresource="binding")
    assert (await world.get("Pod", "p"))["spec"]["nodeName"] == "n"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"namespace": "ns", "name": "p"}}
    await client.create(eviction, subresource="eviction")
    assert (await world.get("Pod", "p"))["metadata"]["deletionTimestamp"]


async def test_what_is_created_is_copied(world: World) -> None:
    template = pod()["spec"]
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "ns", "name": "p"}, "spec": template}
    before = str(template)
    await as_client(world).create(body)
    assert str(template) == before


async def test_an_unknown_kind_is_refused(world: World) -> None:
    with pytest.raises(ApiError, match='no kind "Gadget" is known in version "x/v1"'):
        await as_client(world).create({"apiVersion": "x/v1", "kind": "Gadget"})
