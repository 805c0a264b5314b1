"""Events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from kumi.api.errors import ApiError
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.runtime.correlation import COMBINED, SIMILAR, SPAM_BURST, Correlator
from kumi.runtime.events import BURST, MESSAGE_AT_MOST, PER_SECOND, QUEUE, REMEMBERED, EventSink
from kumi.runtime.reconcile import Note
from kumi.testing.clock import START_MS, VirtualClock
from kumi.testing.fake_client import FakeClient

from .kinds import EVENTS, KINDS

ABOUT: JsonObject = {
    "apiVersion": "example.com/v1", "kind": "Thing", "namespace": "team", "name": "a", "uid": "u1", "resourceVersion": "5",
}  # fmt: skip


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.client = FakeClient(KINDS)
        self.sink = EventSink(self.client, self.clock, EVENTS)

    def events(self) -> list[JsonObject]:
        return self.client.objects(EVENTS)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    task = asyncio.ensure_future(world.sink.run())
    yield world
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_note_becomes_an_event_with_what_kubectl_shows(world: World) -> None:
    world.sink.tell(Note(ABOUT, "Started", "the job runs"), "my-loop")
    await world.sink.flush()
    (event,) = world.events()
    at = format_time(START_MS)
    assert event["metadata"]["namespace"] == "team"
    assert event["metadata"]["name"].startswith("a.")
    int(event["metadata"]["name"].removeprefix("a."), 16)
    assert event["involvedObject"] == ABOUT
    assert (event["reason"], event["message"], event["type"]) == ("Started", "the job runs", "Normal")
    assert (event["source"], event["reportingComponent"]) == ({"component": "my-loop"}, "my-loop")
    assert (event["firstTimestamp"], event["lastTimestamp"], event["count"]) == (at, at, 1)


async def test_the_same_note_again_only_counts(world: World) -> None:
    for _ in range(3):
        world.sink.tell(Note(ABOUT, "Failed", "no", "Warning"), "my-loop")
        await world.sink.flush()
        await world.clock.advance(10_000)
    (event,) = world.events()
    assert event["count"] == 3
    assert event["firstTimestamp"] == format_time(START_MS)
    assert event["lastTimestamp"] == format_time(START_MS + 20_000)


@pytest.mark.parametrize(
    "other",
    [
        Note(ABOUT, "Failed", "no", "Normal"),
        Note(ABOUT, "Failed", "nope", "Warning"),
        Note(ABOUT, "Refused", "no", "Warning"),
        Note(ABOUT | {"uid": "u2"}, "Failed", "no", "Warning"),
        Note(ABOUT | {"fieldPath": "spec.containers{a}"}, "Failed", "no", "Warning"),
    ],
)
async def test_a_note_that_differs_is_another_event(world: World, other: Note) -> None:
    world.sink.tell(Note(ABOUT, "Failed", "no", "Warning"), "my-loop")
    world.sink.tell(other, "my-loop")
    await world.sink.flush()
    assert [e["count"] for e in world.events()] == [1, 1]


async def test_the_version_of_the_object_does_not_make_another_event(world: World) -> None:
    world.sink.tell(Note(ABOUT, "Failed", "no"), "my-loop")
    world.sink.tell(Note(ABOUT | {"resourceVersion": "6"}, "Failed", "no"), "my-loop")
    await world.sink.flush()
    assert [e["count"] for e in world.events()] == [2]


async def test_an_event_that_expired_is_told_anew(world: World) -> None:
    world.sink.tell(Note(ABOUT, "Failed", "no"), "my-loop")
    await world.sink.flush()
    await world.client.delete(EVENTS, "team", world.events()[0]["metadata"]["name"])
    world.sink.tell(Note(ABOUT, "Failed", "no"), "my-loop")
    await world.sink.flush()
    assert [e["count"] for e in world.events()] == [1]


async def test_similar_notes_are_combined_into_one_event_that_counts_and_says_the_latest(world: World) -> None:
    for number in range(SIMILAR + 5):
        world.sink.tell(Note(ABOUT, "SuccessfulCreate", f"Created pod: {number}"), "my-loop")
    await world.sink.flush()
    counts = {event["message"]: event["count"] for event in world.events()}
    assert counts.pop(f"{COMBINED}Created pod: {SIMILAR + 4}") == 5
    assert counts == {f"Created pod: {number}": 1 for number in range(SIMILAR)}


async def test_what_an_object_has_no_room_for_is_not_told_and_counted(world: World) -> None:
    for _ in range(SPAM_BURST + 4):
        world.sink.tell(Note(ABOUT, "BackOff", "restarting"), "my-loop")
    await world.sink.flush()
    assert [event["count"] for event in world.events()] == [SPAM_BURST]
    told = {family.name: family.samples[0].value for family in world.sink.measures()}
    assert told == {"kumi_events_told_total": SPAM_BURST, "kumi_events_spam_total": 4, "kumi_events_dropped_total": 0}


async def test_an_object_without_a_namespace_is_told_about_in_default(world: World) -> None:
    world.sink.tell(Note({"apiVersion": "example.com/v1", "kind": "Zone", "name": "z", "uid": "u"}, "Full", "no"), "l")
    await world.sink.flush()
    assert world.events()[0]["metadata"]["namespace"] == "default"


async def test_what_can_not_be_told_is_dropped_with_a_line_in_the_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.client.fail(ApiError(403, "Forbidden", "not allowed"))
    world.client.fail(ConnectionError("gone"))
    for message in ("one", "two", "three"):
        world.sink.tell(Note(ABOUT, "Failed", message), "my-loop")
    await world.sink.flush()
    assert [e["message"] for e in world.events()] == ["three"]
    assert world.sink.dropped == 2
    assert "event dropped (not allowed): Thing a Failed" in caplog.text


async def test_the_rate_is_bounded_and_nothing_within_the_queue_is_lost(world: World) -> None:
    for i in range(BURST + PER_SECOND * 2):
        world.sink.tell(Note(ABOUT | {"name": f"{i:04}"}, "Failed", f"{i:04}"), "my-loop")
    await world.clock.advance()
    assert len(world.events()) == BURST
    await world.clock.advance(1_000)
    assert BURST + PER_SECOND - 1 <= len(world.events()) <= BURST + PER_SECOND
    await world.clock.advance(1_100)
    assert [e["message"] for e in world.events()] == [f"{i:04}" for i in range(BURST + PER_SECOND * 2)]


async def test_a_flood_is_dropped_rather_than_kept_or_waited_for(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    for i in range(QUEUE + 7):
        world.sink.tell(Note(ABOUT | {"name": str(i)}, "Failed", "no"), "my-loop")
    assert world.sink.dropped == 7
    assert caplog.text.count("events are dropped") == 1
    for _ in range(QUEUE // PER_SECOND):
        await world.clock.advance(1_000)
    assert "7 events were dropped" in caplog.text


async def test_long_messages_and_names_are_cut_to_what_the_api_takes(world: World) -> None:
    world.sink.tell(Note(ABOUT | {"name": "n" * 253}, "Failed", "m" * 5_000), "my-loop")
    await world.sink.flush()
    (event,) = world.events()
    assert len(event["metadata"]["name"]) == 253
    assert len(event["message"]) == MESSAGE_AT_MOST
    assert event["message"].endswith("...")


async def test_the_memory_of_what_was_told_is_bounded() -> None:
    world = World()
    for i in range(REMEMBERED + 5):
        for note in (Note(ABOUT | {"name": str(i)}, "Failed", "no"), Note(ABOUT, "Kept", "told all the time")):
            correlated = Correlator().take(note, "my-loop", 0)
            assert correlated is not None
            await world.sink._write(note, "my-loop", START_MS, correlated)
    assert len(world.sink._known) == REMEMBERED
    assert len([e for e in world.events() if e["reason"] == "Kept"]) == 1
