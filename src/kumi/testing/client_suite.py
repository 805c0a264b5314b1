"""What every client must do, whatever is behind it: a dictionary, the embedded server in process, HTTP.

    class TestMyClient(ClientSuite):
        @pytest.fixture
        async def setting(self): yield Setting(client, kind, make)

`kind` is any namespaced kind whose objects can carry `data`-like free content and finalizers (ConfigMap does): `make(name,
value, labels)` returns a valid object of it with a string somewhere that depends on `value`, and `change(value)` the merge
patch that turns it into that of another value.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kumi.api.errors import ApiError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject, WatchEvent
from kumi.runtime.client import Client

PATIENCE_SECONDS = 20
"""How long a real server may take for one answer before the suite calls it missing."""


@dataclass(frozen=True)
class Setting:
    """A client to try, and objects to try it with. The namespaces `default` and `other` are there and empty."""

    client: Client
    kind: Kind
    make: Callable[[str, str, str, dict[str, str]], JsonObject]
    """(namespace, name, value, labels) -> object"""
    change: Callable[[str], JsonObject]
    """value -> merge patch"""


async def refused(work: Awaitable[Any]) -> ApiError:
    """The error that `work` ends with; AssertionError if it does not."""
    try:
        await work
    except ApiError as error:
        return error
    raise AssertionError("it was not refused")


async def take(events: AsyncIterator[WatchEvent], n: int) -> list[WatchEvent]:
    """The next `n` events, bookmarks aside."""
    taken: list[WatchEvent] = []
    while len(taken) < n:
        event = await asyncio.wait_for(anext(events), PATIENCE_SECONDS)
        if event.type != "BOOKMARK":
            taken.append(event)
    return taken


async def stop(events: AsyncIterator[WatchEvent]) -> None:
    """Closes a watch."""
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()


def names(items: Sequence[JsonObject]) -> list[str]:
    """namespace/name of each."""
    return [f"{o['metadata']['namespace']}/{o['metadata']['name']}" for o in items]


class ClientSuite:
    """The tests; each is one behaviour that loops rely on."""

    async def test_a_created_object_has_an_identity_and_reads_back(self, setting: Setting) -> None:
        """uid, resourceVersion, creationTimestamp."""
        made = await setting.client.create(setting.make("default", "a", "1", {}))
        meta = made["metadata"]
        assert meta["uid"]
        assert meta["resourceVersion"]
        assert meta["creationTimestamp"]
        read = await setting.client.get(setting.kind, "default", "a")
        assert read["metadata"] == meta
        assert read["apiVersion"] == setting.kind.api_version
        assert read["kind"] == setting.kind.kind

    async def test_a_second_object_of_the_same_name_is_refused(self, setting: Setting) -> None:
        """AlreadyExists, 409."""
        await setting.client.create(setting.make("default", "a", "1", {}))
        error = await refused(setting.client.create(setting.make("default", "a", "2", {})))
        assert (error.code, error.reason) == (409, "AlreadyExists")

    async def test_a_name_is_generated(self, setting: Setting) -> None:
        """generateName."""
        obj = setting.make("default", "", "1", {})
        del obj["metadata"]["name"]
        obj["metadata"]["generateName"] = "some-"
        first, second = await setting.client.create(obj), await setting.client.create(obj)
        assert first["metadata"]["name"].startswith("some-")
        assert first["metadata"]["name"] != second["metadata"]["name"]

    async def test_what_is_absent_is_404_for_every_verb(self, setting: Setting) -> None:
        """NotFound."""
        client, kind = setting.client, setting.kind
        for work in (
            client.get(kind, "default", "a"),
            client.patch(kind, "default", "a", setting.change("2")),
            client.delete(kind, "default", "a"),
        ):
            error = await refused(work)
            assert (error.code, error.reason) == (404, "NotFound")

    async def test_a_merge_patch_changes_what_it_names_and_keeps_the_rest(self, setting: Setting) -> None:
        """Labels are merged; null removes one."""
        made = await setting.client.create(setting.make("default", "a", "1", {"x": "1", "y": "2"}))
        body = setting.change("2") | {"metadata": {"labels": {"x": None, "z": "3"}}}
        changed = await setting.client.patch(setting.kind, "default", "a", body)
        assert changed["metadata"]["labels"] == {"y": "2", "z": "3"}
        assert changed["metadata"]["uid"] == made["metadata"]["uid"]
        assert changed["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
        assert await setting.client.get(setting.kind, "default", "a") == changed

    async def test_a_patch_that_changes_nothing_makes_no_new_version(self, setting: Setting) -> None:
        """And wakes nobody."""
        made = await setting.client.create(setting.make("default", "a", "1", {}))
        same = await setting.client.patch(setting.kind, "default", "a", setting.change("1"))
        assert same["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]

    async def test_a_patch_of_an_old_version_is_a_conflict(self, setting: Setting) -> None:
        """Optimistic: of two that read the same, one is refused."""
        made = await setting.client.create(setting.make("default", "a", "1", {}))
        at = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}}
        await setting.client.patch(setting.kind, "default", "a", setting.change("2") | at)
        error = await refused(setting.client.patch(setting.kind, "default", "a", setting.change("3") | at))
        assert (error.code, error.reason) == (409, "Conflict")

    async def test_a_deletion_names_the_object_by_uid(self, setting: Setting) -> None:
        """Another object of the same name is not touched."""
        client, kind = setting.client, setting.kind
        made = await client.create(setting.make("default", "a", "1", {}))
        error = await refused(client.delete(kind, "default", "a", uid="some-other"))
        assert (error.code, error.reason) == (409, "Conflict")
        await client.delete(kind, "default", "a", uid=made["metadata"]["uid"])
        assert (await refused(client.get(kind, "default", "a"))).code == 404

    async def test_a_deletion_may_be_of_what_was_read_only(self, setting: Setting) -> None:
        """What has changed since is not touched."""
        client, kind = setting.client, setting.kind
        made = await client.create(setting.make("default", "a", "1", {}))
        changed = await client.patch(kind, "default", "a", setting.change("2"))
        error = await refused(client.delete(kind, "default", "a", revision=made["metadata"]["resourceVersion"]))
        assert (error.code, error.reason) == (409, "Conflict")
        await client.delete(kind, "default", "a", revision=changed["metadata"]["resourceVersion"])
        assert (await refused(client.get(kind, "default", "a"))).code == 404

    async def test_an_object_with_a_finalizer_waits_for_it(self, setting: Setting) -> None:
        """deletionTimestamp first, gone with the last finalizer."""
        client, kind = setting.client, setting.kind
        obj = setting.make("default", "a", "1", {})
        obj["metadata"]["finalizers"] = ["example.com/wait"]
        await client.create(obj)
        await client.delete(kind, "default", "a")
        going = await client.get(kind, "default", "a")
        assert going["metadata"]["deletionTimestamp"]
        await client.patch(kind, "default", "a", {"metadata": {"finalizers": None}})
        assert (await refused(client.get(kind, "default", "a"))).code == 404

    async def test_a_list_is_of_a_namespace_or_of_all_in_order(self, setting: Setting) -> None:
        """By namespace and name."""
        client, kind = setting.client, setting.kind
        for namespace, name in (("other", "a"), ("default", "b"), ("default", "a")):
            await client.create(setting.make(namespace, name, "1", {"suite": "list"}))
        everywhere = await client.list(kind, labels="suite=list")
        assert names(everywhere.items) == ["default/a", "default/b", "other/a"]
        here = await client.list(kind, "default", labels="suite=list")
        assert names(here.items) == ["default/a", "default/b"]

    async def test_a_list_selects_by_labels_and_fields(self, setting: Setting) -> None:
        """As kubectl's -l and --field-selector."""
        client, kind = setting.client, setting.kind
        await client.create(setting.make("default", "a", "1", {"x": "1", "y": "1"}))
        await client.create(setting.make("default", "b", "1", {"x": "1", "y": "2"}))
        assert names((await client.list(kind, "default", labels="x=1,y=2")).items) == ["default/b"]
        assert names((await client.list(kind, "default", fields="metadata.name=a")).items) == ["default/a"]

    async def test_a_watch_tells_what_happens_after_a_list(self, setting: Setting) -> None:
        """Each change once, in order, with the object as it was after it."""
        client, kind = setting.client, setting.kind
        await client.create(setting.make("default", "before", "1", {}))
        events = client.watch(kind, "default", revision=(await client.list(kind, "default")).revision)
        made = await client.create(setting.make("default", "a", "1", {}))
        changed = await client.patch(kind, "default", "a", setting.change("2"))
        await client.create(setting.make("other", "a", "1", {}))
        await client.delete(kind, "default", "a")
        told = await take(events, 3)
        await stop(events)
        assert [e.type for e in told] == ["ADDED", "MODIFIED", "DELETED"]
        assert told[0].object["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
        assert told[1].object == changed
        assert told[2].object["metadata"]["uid"] == made["metadata"]["uid"]
        assert told[2].object["metadata"]["resourceVersion"] != changed["metadata"]["resourceVersion"]

    async def test_a_watch_goes_on_from_where_another_one_stopped(self, setting: Setting) -> None:
        """Nothing is lost and nothing is told twice."""
        client, kind = setting.client, setting.kind
        start = (await client.list(kind, "default")).revision
        for name in ("a", "b", "c"):
            await client.create(setting.make("default", name, "1", {}))
        first = client.watch(kind, "default", revision=start)
        seen = await take(first, 2)
        await stop(first)
        again = client.watch(kind, "default", revision=seen[-1].object["metadata"]["resourceVersion"])
        rest = await take(again, 1)
        await stop(again)
        assert names([e.object for e in seen + rest]) == ["default/a", "default/b", "default/c"]

    async def test_an_object_that_stops_matching_is_deleted_for_that_watch(self, setting: Setting) -> None:
        """And added when it matches again."""
        client, kind = setting.client, setting.kind
        await client.create(setting.make("default", "a", "1", {"x": "1"}))
        events = client.watch(kind, "default", revision=(await client.list(kind)).revision, labels="x=1")
        await client.patch(kind, "default", "a", {"metadata": {"labels": {"x": "2"}}})
        await client.patch(kind, "default", "a", setting.change("2"))
        await client.patch(kind, "default", "a", {"metadata": {"labels": {"x": "1"}}})
        told = await take(events, 2)
        await stop(events)
        assert [e.type for e in told] == ["DELETED", "ADDED"]

    async def test_two_watches_both_see_a_change(self, setting: Setting) -> None:
        """And one that is closed does not stop the other."""
        client, kind = setting.client, setting.kind
        start = (await client.list(kind)).revision
        first, second = client.watch(kind, revision=start), client.watch(kind, revision=start)
        await client.create(setting.make("default", "a", "1", {}))
        assert len(await take(first, 1)) == len(await take(second, 1)) == 1
        await stop(first)
        await client.create(setting.make("default", "b", "1", {}))
        assert names([e.object for e in await take(second, 1)]) == ["default/b"]
        await stop(second)
