"""The fake client does what real clients do, and goes wrong as asked."""

from __future__ import annotations

import asyncio

import pytest

from kumi.api.errors import ApiError
from kumi.api.meta import Object
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.testing.client_suite import ClientSuite, Setting, refused, take
from kumi.testing.clock import idle
from kumi.testing.fake_client import FakeClient


class Note(Object):
    pass


class Pod(Object):
    pass


NOTES = Kind("example.com", "v1", "Note", "notes", Note, subresources=("status",))
PODS = Kind("", "v1", "Pod", "pods", Pod)


def note(namespace: str, name: str, value: str, labels: dict[str, str]) -> JsonObject:
    metadata = {"namespace": namespace, "name": name, "labels": labels}
    return {"apiVersion": "example.com/v1", "kind": "Note", "metadata": metadata, "spec": {"text": value}}


def change(value: str) -> JsonObject:
    return {"spec": {"text": value}}


@pytest.fixture
def client() -> FakeClient:
    return FakeClient([NOTES, PODS])


class TestFakeClient(ClientSuite):
    @pytest.fixture
    def setting(self, client: FakeClient) -> Setting:
        return Setting(client, NOTES, note, change)


async def test_the_status_is_written_apart(client: FakeClient) -> None:
    await client.create(note("default", "a", "1", {}) | {"status": {"seen": True}})
    both = {"spec": {"text": "2"}, "status": {"seen": True}}
    assert "status" not in await client.patch(NOTES, "default", "a", both)
    told = await client.patch(NOTES, "default", "a", {"spec": {"text": "3"}, "status": {"n": 1}}, subresource="status")
    assert (told["spec"], told["status"]) == ({"text": "2"}, {"n": 1})
    assert told["metadata"]["generation"] == 2


async def test_a_pod_is_bound_once(client: FakeClient) -> None:
    await client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default", "name": "p"}})
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"namespace": "default", "name": "p"}}
    binding |= {"target": {"kind": "Node", "name": "n1"}}
    await client.create(binding, subresource="binding")
    assert (await client.get(PODS, "default", "p"))["spec"]["nodeName"] == "n1"
    assert (await refused(client.create(binding, subresource="binding"))).reason == "Conflict"


async def test_the_next_write_fails_once_as_asked_and_is_not_done(client: FakeClient) -> None:
    client.fail(ConnectionError("gone"), "create")
    with pytest.raises(ConnectionError):
        await client.create(note("default", "a", "1", {}))
    assert client.objects(NOTES) == []
    await client.create(note("default", "a", "1", {}))
    assert [c.verb for c in client.calls] == ["create", "create"]


async def test_a_write_can_be_done_and_its_answer_lost(client: FakeClient) -> None:
    client.fail(TimeoutError(), done=True)
    with pytest.raises(TimeoutError):
        await client.create(note("default", "a", "1", {}))
    assert len(client.objects(NOTES)) == 1


async def test_held_events_come_late_and_in_order(client: FakeClient) -> None:
    events = client.watch(NOTES, revision="1")
    client.hold()
    for name in ("a", "b", "c"):
        await client.create(note("default", name, "1", {}))
    waiting = asyncio.ensure_future(take(events, 1))
    await idle()
    assert not waiting.done()
    client.deliver(1)
    assert [e.object["metadata"]["name"] for e in await waiting] == ["a"]
    client.deliver()
    assert [e.object["metadata"]["name"] for e in await take(events, 2)] == ["b", "c"]


async def test_a_cut_watch_breaks_and_a_compacted_one_is_refused(client: FakeClient) -> None:
    events = client.watch(NOTES, revision="1")
    waiting = asyncio.ensure_future(take(events, 1))
    await idle()
    client.cut(ConnectionError("cut"))
    with pytest.raises(ConnectionError):
        await waiting
    await client.create(note("default", "a", "1", {}))
    client.compact()
    with pytest.raises(ApiError) as caught:
        await take(client.watch(NOTES, revision="1"), 1)
    assert caught.value.code == 410
