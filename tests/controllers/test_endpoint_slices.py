from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.core import Service
from kumi.api.discovery import EndpointSlice
from kumi.controllers.endpoint_slices import MOST, Offer, slices
from kumi.runtime.reconcile import Create, Delete, Patch
from kumi.testing.view import decoded

from .made import meta

PORTS = {"a": [{"name": "", "port": 80, "protocol": "TCP"}], "b": [{"name": "", "port": 81, "protocol": "TCP"}]}
LABELS = {"x": "y"}


def service() -> Service:
    found = decoded({"apiVersion": "v1", "kind": "Service", "metadata": meta("web", "ns"), "spec": {}})
    assert isinstance(found, Service)
    return found


def offer(number: int, ports: str = "a") -> Offer:
    who = {"kind": "Pod", "namespace": "ns", "name": f"p{number:04}", "uid": f"u{number}"}
    return Offer({"addresses": [f"10.0.0.{number}"], "targetRef": who}, PORTS[ports])


class Shelf:
    """The slices as they are after each change."""

    def __init__(self) -> None:
        self.there: dict[str, dict[str, Any]] = {}
        self.written: list[str] = []

    def hold(self, *offers: Offer) -> None:
        found = [decoded(each) for each in self.there.values()]
        ours = [each for each in found if isinstance(each, EndpointSlice)]
        writes = slices(service(), ours, offers, PORTS["a"], dict(LABELS))
        self.written = []
        for write in writes:
            if isinstance(write, Create):
                made = write.object
                assert made["metadata"]["name"] not in self.there
                self.there[made["metadata"]["name"]] = {**made, "metadata": {**made["metadata"], "uid": "u"}}
                self.written.append(f"create {len(made['endpoints'])}")
            elif isinstance(write, Delete):
                del self.there[write.name]
                self.written.append("delete")
            elif isinstance(write, Patch):
                assert isinstance(write.body, dict)
                kept = {key: write.body[key] for key in ("endpoints", "ports")}
                self.there[write.name] = {**self.there[write.name], **kept}
                self.written.append("patch")


@given(st.lists(st.lists(st.tuples(st.integers(0, 260), st.sampled_from("ab")), max_size=250), max_size=4))
def test_every_endpoint_is_in_one_slice_of_its_ports_and_no_slice_has_too_many(
    steps: list[list[tuple[int, str]]],
) -> None:
    shelf = Shelf()
    for step in steps:
        offers = [offer(number, ports) for number, ports in dict(step).items()]
        shelf.hold(*offers)
        held = [(e["targetRef"]["uid"], s["ports"]) for s in shelf.there.values() for e in s["endpoints"]]
        wanted = [(each.who, each.ports) for each in offers]
        assert sorted(held, key=str) == sorted(wanted, key=str)
        sizes = [len(each["endpoints"]) for each in shelf.there.values()]
        assert all(size <= MOST for size in sizes)
        assert 0 not in sizes or sizes == [0]
        before = dict(shelf.there)
        shelf.hold(*offers)
        assert (shelf.written, shelf.there) == ([], before)


def test_a_change_of_one_pod_writes_one_slice() -> None:
    shelf = Shelf()
    shelf.hold(*(offer(number) for number in range(250)))
    assert shelf.written == ["create 100", "create 100", "create 50"]
    shelf.hold(*(offer(number) for number in range(250) if number != 7))
    assert shelf.written == ["patch"]
    shelf.hold(*(offer(number) for number in range(251) if number != 7))
    assert shelf.written == ["patch"]


def test_a_slice_that_becomes_empty_goes_but_for_the_last_one() -> None:
    shelf = Shelf()
    shelf.hold(*(offer(number) for number in range(101)))
    shelf.hold(*(offer(number) for number in range(50)))
    assert sorted(shelf.written) == ["delete", "patch"]
    shelf.hold()
    assert shelf.written == ["patch"]
    assert len(shelf.there) == 1


def test_pods_with_other_ports_have_slices_of_their_own() -> None:
    shelf = Shelf()
    shelf.hold(offer(1), offer(2, "b"))
    assert sorted(each["ports"][0]["port"] for each in shelf.there.values()) == [80, 81]
    shelf.hold(offer(1, "b"), offer(2, "b"))
    assert [each["ports"][0]["port"] for each in shelf.there.values()] == [81]
