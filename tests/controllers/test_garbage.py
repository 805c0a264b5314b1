from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.apiextensions import CustomObject, CustomResourceDefinition
from kumi.api.core import Event, Pod
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.controllers.garbage import RETRY_MS, GarbageCollector
from kumi.controllers.ownership import ABSENT_MS
from kumi.runtime.reconcile import Delete, Patch, Write
from kumi.testing.view import decoded

from .made import NOW_MS, at, pod


def reference(name: str, *, blocks: bool = True) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"uid-{name}", "blockOwnerDeletion": blocks}


class Heap:
    """A collector and the pods that it was given."""

    def __init__(self, *pods: JsonObject) -> None:
        self.collector, self.pods, self.now_ms = GarbageCollector(load()), dict[str, JsonObject](), NOW_MS
        for manifest in pods:
            self.put(manifest)

    def put(self, manifest: JsonObject) -> None:
        new = decoded(manifest)
        before = self.pods.get(new.key)
        self.pods[new.key] = manifest
        self.collector.apply(Pod, new.key, decoded(before) if before else None, new)

    def remove(self, name: str) -> None:
        self.collector.apply(Pod, f"team/{name}", decoded(self.pods.pop(f"team/{name}")), None)

    def collect(self) -> list[Write]:
        batch = self.collector.decide(self.now_ms)
        for step in batch.steps:
            self.collector.settle(step.token, True, "")
        return [write for step in batch.steps for write in step.writes]


def deleted(writes: list[Write]) -> dict[str, str]:
    return {w.name: w.propagation for w in writes if isinstance(w, Delete)}


def patched(writes: list[Write]) -> dict[str, Any]:
    return {w.name: w.body["metadata"] for w in writes if isinstance(w, Patch) and isinstance(w.body, dict)}


def owned(name: str, *owners: str, **fields: Any) -> JsonObject:
    return pod(name, ownerReferences=[reference(owner) for owner in owners], **fields)


def test_what_nobody_owns_any_more_goes() -> None:
    heap = Heap(pod("a"), owned("b", "a"), owned("c", "b"), pod("d"))
    assert heap.collect() == []
    heap.remove("a")
    (write,) = heap.collect()
    assert isinstance(write, Delete)
    assert (write.name, write.uid, write.propagation) == ("b", "uid-b", "Background")


def test_one_owner_that_is_left_keeps_it_and_the_other_reference_goes() -> None:
    heap = Heap(pod("a"), pod("b"), owned("c", "a", "b"))
    heap.remove("a")
    writes = heap.collect()
    assert deleted(writes) == {}
    assert [o["name"] for o in patched(writes)["c"]["ownerReferences"]] == ["b"]
    assert patched(writes)["c"]["resourceVersion"] == "1"


def test_an_owner_that_was_never_seen_is_waited_for() -> None:
    heap = Heap(owned("b", "a"))
    batch = heap.collector.decide(NOW_MS)
    assert batch.steps == ()
    assert batch.wake_at_ms == NOW_MS + ABSENT_MS
    heap.now_ms += ABSENT_MS
    assert deleted(heap.collect()) == {"b": "Background"}


def test_an_owner_that_comes_late_keeps_it() -> None:
    heap = Heap(owned("b", "a"))
    heap.collect()
    heap.put(pod("a"))
    heap.now_ms += ABSENT_MS
    assert heap.collect() == []


def test_another_object_of_the_same_name_is_no_owner() -> None:
    heap = Heap(pod("a"), owned("b", "a"))
    heap.put(pod("a", uid="uid-again"))
    assert deleted(heap.collect()) == {"b": "Background"}


def test_in_the_foreground_dependents_go_first_then_the_owner() -> None:
    going = {"deletionTimestamp": at(0), "finalizers": ["foregroundDeletion", "theirs"]}
    heap = Heap(pod("a"), owned("b", "a"), owned("c", "b"))
    heap.collect()
    heap.put(pod("a", **going))
    assert deleted(heap.collect()) == {"b": "Foreground"}
    heap.put(owned("b", "a", deletionTimestamp=at(0), finalizers=["foregroundDeletion"]))
    assert deleted(heap.collect()) == {"c": "Background"}
    heap.remove("c")
    assert patched(heap.collect()) == {"b": {"resourceVersion": "1", "finalizers": None}}
    heap.remove("b")
    assert patched(heap.collect()) == {"a": {"resourceVersion": "1", "finalizers": ["theirs"]}}


def test_a_dependent_that_does_not_block_does_not_hold_its_owner() -> None:
    loose = pod("b", ownerReferences=[reference("a", blocks=False)])
    heap = Heap(pod("a", deletionTimestamp=at(0), finalizers=["foregroundDeletion"]), loose)
    writes = heap.collect()
    assert deleted(writes) == {"b": "Background"}
    assert patched(writes)["a"]["finalizers"] is None


def test_orphans_lose_their_reference_before_the_owner_goes() -> None:
    heap = Heap(pod("a", deletionTimestamp=at(0), finalizers=["orphan"]), owned("b", "a"))
    writes = heap.collect()
    assert patched(writes) == {"b": {"resourceVersion": "1", "ownerReferences": None}}
    heap.put(pod("b"))
    assert patched(heap.collect()) == {"a": {"resourceVersion": "1", "finalizers": None}}
    heap.remove("a")
    assert heap.collect() == []


def test_a_dependent_that_is_seen_only_when_its_owner_has_left_it_stays() -> None:
    heap = Heap(pod("a", deletionTimestamp=at(0), finalizers=["orphan"]))
    heap.collect()
    heap.put(owned("late", "a"))
    heap.remove("a")
    writes = heap.collect()
    assert deleted(writes) == {}
    assert patched(writes) == {"late": {"resourceVersion": "1", "ownerReferences": None}}


def test_how_far_its_watch_has_come_decides_about_an_owner_that_was_never_seen() -> None:
    heap = Heap(owned("b", "a", resourceVersion="5"))
    heap.collector.reached(Pod, "4")
    heap.now_ms += 100 * ABSENT_MS
    assert heap.collect() == []
    heap.collector.reached(Pod, "5")
    assert deleted(heap.collect()) == {"b": "Background"}


def test_a_deletion_is_of_what_was_read_and_nothing_newer() -> None:
    heap = Heap(pod("a"), owned("b", "a", resourceVersion="5"))
    heap.remove("a")
    [delete] = heap.collect()
    assert isinstance(delete, Delete)
    assert (delete.uid, delete.revision) == ("uid-b", "5")


def test_what_was_refused_is_tried_again_later() -> None:
    heap = Heap(pod("a"), owned("b", "a"))
    heap.remove("a")
    (step,) = heap.collector.decide(NOW_MS).steps
    heap.collector.settle(step.token, False, "conflict")
    batch = heap.collector.decide(NOW_MS + 1)
    assert batch.steps == ()
    assert batch.wake_at_ms == NOW_MS + RETRY_MS
    (again,) = heap.collector.decide(NOW_MS + RETRY_MS).steps
    assert again == step


def test_it_reaches_a_fixed_point() -> None:
    heap = Heap(pod("a"), owned("b", "a"))
    heap.remove("a")
    assert heap.collect()
    assert heap.collect() == []


def test_it_watches_every_kind_but_events() -> None:
    types = GarbageCollector(load()).watches
    assert Pod in types
    assert Event not in types


def gadget(name: str) -> CustomObject:
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}"}
    return msgspec.convert(
        {"apiVersion": "example.com/v1", "kind": "Gadget", "plural": "gadgets", "metadata": metadata}, CustomObject
    )


def gadgets() -> CustomResourceDefinition:
    spec = {"group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"}}
    spec["versions"] = [{"name": "v1", "served": True, "storage": True}]
    status = {"conditions": [{"type": "Established", "status": "True"}]}
    return msgspec.convert({"metadata": {"uid": "d"}, "spec": spec, "status": status}, CustomResourceDefinition)


def owned_by_gadget(name: str, owner: str) -> JsonObject:
    reference = {"apiVersion": "example.com/v1", "kind": "Gadget", "name": owner, "uid": f"uid-{owner}"}
    return pod(name, ownerReferences=[reference])


def test_what_an_object_of_anothers_kind_owned_goes_with_it() -> None:
    heap = Heap()
    heap.collector.apply(CustomResourceDefinition, "gadgets.example.com", None, gadgets())
    heap.collector.apply(CustomObject, gadget("g").key, None, gadget("g"))
    heap.put(owned_by_gadget("a", "g"))
    assert heap.collect() == []
    heap.collector.apply(CustomObject, gadget("g").key, gadget("g"), None)
    assert deleted(heap.collect()) == {"a": "Background"}


def test_an_owner_of_a_kind_that_is_defined_is_waited_for_and_one_of_no_known_kind_is_left_alone() -> None:
    heap = Heap(owned_by_gadget("a", "g"))
    heap.now_ms += 2 * ABSENT_MS
    assert heap.collect() == []
    heap.collector.apply(CustomResourceDefinition, "gadgets.example.com", None, gadgets())
    heap.put(owned_by_gadget("b", "g"))
    assert heap.collect() == []
    heap.now_ms += ABSENT_MS
    assert "b" in deleted(heap.collect())


def test_it_tells_how_many_objects_it_knows_and_how_many_wait_for_a_look() -> None:
    heap = Heap(pod("a"), pod("b"))

    def told() -> list[object]:
        return [family.samples[0].value for family in heap.collector.measures()]

    assert told() == [2, 2]
    heap.collect()
    assert told() == [2, 0]
