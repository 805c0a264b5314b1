"""Reading one's own writes."""

from __future__ import annotations

import pytest

from kumi.api.meta import Object, ObjectMeta
from kumi.api.wire import JsonObject
from kumi.runtime.expectations import Expectations, Expected
from kumi.runtime.informer import Informer, Informers
from kumi.runtime.reconcile import Create, Delete, Patch, Write
from kumi.testing.clock import VirtualClock
from kumi.testing.fake_client import FakeClient

from .kinds import KINDS, PODS, THINGS, Pod, Thing, ThingSpec, Zone, kind_of, pod, thing


def shown(revision: str, uid: str = "u", deleting: bool = False) -> Thing:
    meta = ObjectMeta(name="a", namespace="ns", uid=uid, resource_version=revision)
    meta.deletion_timestamp = "2026-01-01T00:00:00Z" if deleting else None
    return Thing(metadata=meta)


def returned(revision: str, name: str = "a", uid: str = "u") -> JsonObject:
    return {"metadata": {"name": name, "namespace": "ns", "uid": uid, "resourceVersion": revision}}


@pytest.mark.parametrize(
    ("expected", "view", "informed", "met"),
    [
        (Expected(Thing, "ns/a", "", "7"), None, "6", False),
        (Expected(Thing, "ns/a", "", "7"), shown("7"), "6", True),
        (Expected(Thing, "ns/a", "5", "7"), shown("6"), "6", False),
        (Expected(Thing, "ns/a", "5", "7"), shown("10"), "6", True),
        (Expected(Thing, "ns/a", "5", "7"), shown("5", uid="old"), "5", False),
        (Expected(Thing, "ns/a", "5", "7"), None, "7", True),
        (Expected(Thing, "ns/a", "x5", "x7"), shown("x5"), "x5", False),
        (Expected(Thing, "ns/a", "x5", "x7"), shown("x6"), "x6", True),
        (Expected(Thing, "ns/a", "5"), shown("5"), "9", False),
        (Expected(Thing, "ns/a", "5"), shown("6"), "9", True),
        (Expected(Thing, "ns/a", "5"), None, "9", True),
        (Expected(Thing, "ns/a", "5", deleted_uid="u"), shown("6"), "6", False),
        (Expected(Thing, "ns/a", "5", deleted_uid="u"), shown("6", deleting=True), "6", True),
        (Expected(Thing, "ns/a", "5", deleted_uid="u"), shown("6", uid="new"), "6", True),
        (Expected(Thing, "ns/a", "5", deleted_uid="u"), None, "6", True),
        (Expected(Thing, "ns/a", "5", bound=True), shown("6"), "6", False),
    ],
)
def test_a_write_is_met_when_the_view_shows_it(
    expected: Expected, view: Object | None, informed: str, met: bool
) -> None:
    assert expected.is_met(view, informed) is met


def test_a_binding_is_met_when_the_pod_has_a_node() -> None:
    bound = Pod(metadata=ObjectMeta(name="p", resource_version="5"), spec=ThingSpec(node_name="n1"))
    assert Expected(Pod, "p", "5", bound=True).is_met(bound, "5")


class Waiting:
    """Expectations over a view that the test fills by hand."""

    def __init__(self) -> None:
        self.informers = Informers(FakeClient(KINDS), VirtualClock(), kind_of)
        self.things: Informer = self.informers.declare(Thing)
        self.informers.declare(Pod)
        self.expectations = Expectations(self.informers)

    def do(self, key: str, write: Write, answer: JsonObject | None) -> bool:
        """The write was done for that key; whether the key has to wait."""
        about = self.expectations.about(write)
        self.expectations.expect(key, self.expectations.completed(about, answer))
        return self.expectations.is_waiting(key)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def test_a_key_waits_for_all_that_it_wrote_and_for_nothing_else(waiting: Waiting) -> None:
    assert waiting.do("k", Create(thing("a", namespace="ns")), returned("7"))
    assert waiting.do("k", Create(thing("b", namespace="ns")), returned("8", "b"))
    assert waiting.do("other", Create(thing("b", namespace="ns")), returned("8", "b"))
    waiting.informers.cache.set(shown("7"))
    assert waiting.expectations.changed(Thing, "ns/a") == []
    assert waiting.expectations.is_waiting("k")
    waiting.things.revision = "8"
    assert waiting.expectations.changed(Thing, "ns/b") == ["k", "other"]
    assert not waiting.expectations.is_waiting("k")
    assert waiting.expectations.changed(Thing, "ns/b") == []


def test_what_the_view_shows_already_is_not_waited_for(waiting: Waiting) -> None:
    waiting.informers.cache.set(shown("7"))
    assert not waiting.do("k", Patch(THINGS, "ns", "a", {}), returned("7"))
    assert not waiting.do("k", Delete(THINGS, "ns", "gone", "u2"), None)


def test_a_generated_name_is_waited_for_by_its_real_name(waiting: Waiting) -> None:
    obj = thing("", namespace="ns")
    obj["metadata"] = {"generateName": "x-", "namespace": "ns"}
    assert waiting.do("k", Create(obj), returned("7", "x-1"))
    waiting.informers.cache.set(shown("7"))
    assert waiting.expectations.changed(Thing, "ns/x-1") == []
    waiting.things.revision = "7"
    assert waiting.expectations.changed(Thing, "ns/x-1") == ["k"]


def test_a_list_or_a_bookmark_ends_waits_for_objects_that_came_and_went_unseen(waiting: Waiting) -> None:
    assert waiting.do("k", Create(thing("a", namespace="ns")), returned("7"))
    waiting.things.revision = "6"
    assert waiting.expectations.progressed(Thing) == []
    assert waiting.expectations.progressed(Pod) == []
    waiting.things.revision = "9"
    assert waiting.expectations.progressed(Thing) == ["k"]


def test_types_that_nobody_reads_are_not_waited_for(waiting: Waiting) -> None:
    zone = {"apiVersion": "example.com/v1", "kind": "Zone", "metadata": {"name": "z"}}
    assert not waiting.do("k", Create(zone), {"metadata": {"name": "z", "uid": "u", "resourceVersion": "7"}})
    assert waiting.informers.find(Zone) is None


def test_a_binding_and_an_eviction_are_about_the_pod(waiting: Waiting) -> None:
    meta = ObjectMeta(name="p", namespace="ns", uid="u", resource_version="5")
    waiting.informers.cache.set(Pod(metadata=meta))
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "namespace": "ns"}}
    assert waiting.do("k", Create(binding, "binding"), {"kind": "Status", "metadata": {}})
    assert waiting.do("e", Create(pod("p", namespace="ns"), "eviction"), {"kind": "Status", "metadata": {}})
    assert not waiting.do("x", Create(pod("unseen", namespace="ns"), "eviction"), {"kind": "Status", "metadata": {}})
    waiting.informers.cache.remove(Pod, "ns/p")
    assert waiting.expectations.changed(Pod, "ns/p") == ["k", "e"]
    assert waiting.expectations.about(Patch(PODS, "ns", "p", {})) == Expected(Pod, "ns/p", "")


def test_giving_up_tells_what_never_showed(waiting: Waiting) -> None:
    waiting.do("k", Create(thing("a", namespace="ns")), returned("7"))
    assert [e.key for e in waiting.expectations.give_up("k")] == ["ns/a"]
    assert not waiting.expectations.is_waiting("k")
    assert waiting.expectations.changed(Thing, "ns/a") == []
    assert waiting.expectations.give_up("k") == []
