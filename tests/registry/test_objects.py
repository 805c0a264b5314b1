"""Stored objects: keys, sharing, and when two objects say the same."""

from __future__ import annotations

import copy

import orjson
import pytest

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.registry.objects import (
    CACHED,
    Decoded,
    Head,
    Objects,
    clone,
    decode,
    key_of,
    prefix_of,
    same,
    with_managers,
)
from kumi.store.base import Conflict, StoreFailed
from kumi.store.memory import MemoryStore


def test_keys_are_paths_of_group_plural_namespace_and_name(scheme: Scheme) -> None:
    pod, node, job = scheme.find("", "Pod"), scheme.find("", "Node"), scheme.find("batch", "Job")
    assert pod is not None
    assert node is not None
    assert job is not None
    assert key_of(pod, "ns", "a") == "/core/pods/ns/a"
    assert key_of(node, "", "n") == "/core/nodes//n"
    assert prefix_of(job, "ns") == "/batch/jobs/ns/"
    assert prefix_of(job, "") == "/batch/jobs/"


async def test_the_stored_bytes_have_no_resource_version_and_reads_have_it() -> None:
    store = MemoryStore()
    objects = Objects(store)
    stored = await objects.put("/k", {"metadata": {"name": "a", "resourceVersion": "99"}}, 0)
    entry = store.get("/k")
    assert entry is not None
    assert orjson.loads(entry.value) == {"metadata": {"name": "a"}, "kumi.dev/managedFields": []}
    assert stored["metadata"]["resourceVersion"] == str(entry.revision)


async def test_who_manages_an_object_stays_text_until_somebody_asks() -> None:
    store = MemoryStore()
    objects = Objects(store)
    managed = [{"manager": "m", "fieldsV1": {"f:a": {}}}]
    await objects.put("/k", {"metadata": {"name": "a", "managedFields": managed}}, 0)
    entry = store.get("/k")
    assert entry is not None
    found = objects.found(entry)
    for obj in (found.object, found.copy(), decode(entry.value, 7)):
        assert type(obj["metadata"]["managedFields"]) is orjson.Fragment
        assert with_managers(obj)["metadata"]["managedFields"] == managed
        assert orjson.loads(orjson.dumps(obj)) == with_managers(obj)
        assert with_managers(copy.deepcopy(obj)) == with_managers(obj)
    assert found.copy() == found.object
    assert with_managers(with_managers(found.object)) == with_managers(found.object)


async def test_what_looks_like_managers_within_an_object_is_not_taken_for_them() -> None:
    store = MemoryStore()
    objects = Objects(store)
    tricky = {"metadata": {"name": "a"}, "spec": {"x": 1, "kumi.dev/managedFields": [{"manager": "m"}]}}
    await objects.put("/k", orjson.loads(orjson.dumps(tricky)), 0)
    entry = store.get("/k")
    assert entry is not None
    assert decode(entry.value, 1) == {**tricky, "metadata": {"name": "a", "resourceVersion": "1"}}


async def test_a_copy_for_the_status_shares_the_rest() -> None:
    store = MemoryStore()
    objects = Objects(store)
    await objects.put("/k", {"metadata": {"name": "a"}, "spec": {"x": 1}, "status": {"y": {}}}, 0)
    entry = store.get("/k")
    assert entry is not None
    found = objects.found(entry)
    own = found.copy_for_status()
    assert own == found.object
    assert own["spec"] is found.object["spec"]
    own["status"]["y"]["z"], own["metadata"]["name"] = 1, "b"
    assert found.object["status"] == {"y": {}}
    assert found.object["metadata"]["name"] == "a"


async def test_all_readers_of_a_revision_share_one_object() -> None:
    store = MemoryStore()
    objects = Objects(store)
    stored = await objects.put("/k", {"metadata": {}}, 0)
    entry = store.get("/k")
    assert entry is not None
    found = objects.found(entry)
    assert found.object is stored is objects.listed(entry)
    assert found.copy() == stored
    assert found.copy() is not stored


async def test_a_watcher_decodes_what_nobody_kept_once() -> None:
    store = MemoryStore()
    await store.put("/k", b'{"metadata":{}}')
    await store.put("/k", b'{"metadata":{},"x":1}')
    objects = Objects(store)
    changes = store.watch("/", 1)
    first, second = [await anext(changes), await anext(changes)]
    await changes.aclose()
    assert objects.current(first) is objects.current(first)
    assert objects.previous(first) is None
    before = objects.previous(second)
    assert before == {"metadata": {"resourceVersion": str(second.revision)}}
    assert before is objects.previous(second)


async def test_a_write_at_another_revision_is_a_conflict() -> None:
    objects = Objects(MemoryStore())
    await objects.put("/k", {"metadata": {}}, 0)
    with pytest.raises(Conflict):
        await objects.put("/k", {"metadata": {}}, 0)


async def test_what_is_kept_is_bounded() -> None:
    objects = Objects(MemoryStore())
    for number in range(CACHED + 50):
        await objects.put(f"/k/{number}", {"metadata": {}}, 0)
    assert len(objects._cache) == CACHED


@pytest.mark.parametrize(
    ("new", "old", "alike"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
    ],
)
def test_two_objects_say_the_same_to_the_type_of_every_value(new: dict, old: dict, alike: bool) -> None:
    assert same(new, old) is alike


def test_a_clone_shares_nothing() -> None:
    original = {"a": {"b": [1]}}
    copied = clone(original)
    copied["a"]["b"].append(2)
    assert original == {"a": {"b": [1]}}


def test_decoding_gives_a_new_object_with_its_revision() -> None:
    assert decode(b'{"metadata":{"name":"a"}}', 5) == {"metadata": {"name": "a", "resourceVersion": "5"}}


async def test_a_disk_that_refuses_is_an_error_of_the_server_and_nothing_is_written() -> None:
    class Full(MemoryStore):
        async def put(self, key: str, value: bytes | None, expected: int | None = None) -> int:
            raise StoreFailed("disk full")

    objects = Objects(Full())
    for write in (objects.put("/k", {"metadata": {}}, 0), objects.remove("/k", 1)):
        with pytest.raises(ApiError, match="nothing was written: disk full") as refused:
            await write
        assert refused.value.code == 500


async def test_the_text_of_an_object_says_what_the_object_says(scheme: Scheme) -> None:
    kind = scheme.find("", "ConfigMap")
    assert kind is not None
    store = MemoryStore()
    objects = Objects(store)
    managed = [{"manager": "m", "fieldsV1": {"f:data": {}}}]
    for name, metadata in (("a", {"managedFields": managed}), ("b", {})):
        obj = {"data": {"x": ',"kumi.dev/managedFields":[1]'}, "metadata": {"name": name, **metadata}}
        await objects.put(f"/k/{name}", {**obj, "kind": "ConfigMap", "apiVersion": "v1"}, 0)
    # As versions stored it that put members in the writer's order.
    await store.put("/k/c", b'{"metadata":{"name":"c"},"kind":"ConfigMap","apiVersion":"v1"}')
    await store.put("/k/d", b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"}}')
    for entry in store.list("/k/").entries:
        whole = with_managers(objects.listed(entry))
        assert orjson.loads(objects.text(entry, Head.of(kind, within_list=False))) == whole
        short = {key: value for key, value in whole.items() if key not in ("apiVersion", "kind")}
        assert orjson.loads(objects.text(entry, Head.of(kind, within_list=True))) == short


async def test_a_long_list_is_decoded_as_it_is_read() -> None:
    store = MemoryStore()
    for number in range(3):
        await store.put(f"/k/{number}", b'{"metadata":{"name":"%d"}}' % number)
    objects = Objects(store)
    entries = store.list("/k/").entries
    items = Decoded(objects, entries)
    assert len(items) == 3
    assert items == [objects.listed(entry) for entry in entries]
    assert items[1:] == [items[1], items[2]]
    assert items[0] is not items[0]
    assert items != [items[0]]
