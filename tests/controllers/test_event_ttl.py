from __future__ import annotations

from typing import Any

from kumi.api.core import Event
from kumi.controllers.event_ttl import TTL_MS, EventTtl
from kumi.runtime.reconcile import NOTHING, Delete, Outcome
from kumi.testing.view import FakeView

from .made import NOW_MS, at, meta


def look(now_ms: int, **fields: Any) -> Outcome:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": meta("e", "team"), **fields}
    return EventTtl().reconcile(FakeView(event), "team/e", now_ms)


def test_a_fresh_one_is_looked_at_again_when_its_time_is_over() -> None:
    assert look(NOW_MS) == Outcome(wake_at_ms=NOW_MS + TTL_MS)


def test_an_old_one_goes() -> None:
    (write,) = look(NOW_MS + TTL_MS).writes
    assert isinstance(write, Delete)
    assert (write.kind.kind, write.namespace, write.name, write.uid) == ("Event", "team", "e", "uid-e")


def test_one_that_was_seen_again_stays() -> None:
    assert look(NOW_MS + TTL_MS, lastTimestamp=at(60)) == Outcome(wake_at_ms=NOW_MS + 60_000 + TTL_MS)


def test_one_that_is_gone_is_nothing() -> None:
    assert EventTtl().reconcile(FakeView(), "team/e", NOW_MS) == NOTHING


def test_its_key_is_the_events_own() -> None:
    (event,) = FakeView({"apiVersion": "v1", "kind": "Event", "metadata": meta("e", "team")}).list(Event)
    assert EventTtl().watches.keys[Event](event) == ("team/e",)
