from __future__ import annotations

from kumi.api.events import from_core, to_core
from kumi.api.scheme import load

CORE = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod"},
    "message": "m",
    "reason": "R",
    "count": 2,
    "firstTimestamp": "2026-01-01T00:00:00Z",
    "reportingComponent": "c",
    "source": {"component": "c"},
}


def test_an_event_has_two_names_for_what_it_says_and_comes_back_the_same() -> None:
    named = from_core(CORE)
    assert named["apiVersion"] == "events.k8s.io/v1"
    assert (named["regarding"], named["note"], named["reportingController"]) == ({"kind": "Pod"}, "m", "c")
    assert named["deprecatedCount"] == 2
    assert to_core(named) == CORE


def test_both_groups_have_one_store() -> None:
    named = load().find("events.k8s.io", "Event")
    assert named is not None
    assert named.twin is not None
    assert named.twin.group == ""
