"""Informers: the cache ends up as the server has it, and subscribers are told an unbroken story."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import msgspec
import pytest

from kumi.api.apiextensions import CustomObject, CustomResourceDefinition, custom_kind_of, kind_defined_by
from kumi.api.core import ConfigMap, Secret
from kumi.api.errors import ApiError
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject, Listing, WatchEvent
from kumi.runtime.informer import RETRY_LAST_MS, TURN, Informers
from kumi.testing.clock import VirtualClock
from kumi.testing.fake_client import FakeClient

from .kinds import KINDS, THINGS, ZONES, Thing, Zone, kind_of, thing


@dataclass
class World:
    """An informer of things over a fake server, with the story that a subscriber was told."""

    client: FakeClient = field(default_factory=lambda: FakeClient(KINDS))
    clock: VirtualClock = field(default_factory=VirtualClock)
    story: list[tuple[Object | None, Object | None]] = field(default_factory=list)
    progressed: int = 0

    def __post_init__(self) -> None:
        self.informers = Informers(self.client, self.clock, kind_of)
        self.informers.subscribe([Thing], self.tell, self.progress)

    def tell(self, type_: type[Object], old: Object | None, new: Object | None) -> None:
        assert type_ is Thing
        self.story.append((old, new))

    def progress(self, type_: type[Object]) -> None:
        self.progressed += 1

    async def settle(self) -> None:
        await self.clock.advance(RETRY_LAST_MS * 2)

    def shown(self) -> dict[str, int]:
        return {o.metadata.name: o.spec.size for o in self.informers.cache.list(Thing)}

    def told(self) -> list[tuple[str | None, str | None]]:
        """The story as revisions."""
        return [tuple(o and f"{o.metadata.name}={o.spec.size}" for o in pair) for pair in self.story]  # type: ignore[union-attr,misc,attr-defined]

    def is_unbroken(self) -> bool:
        """Whether what was told as new is the next old, for each object, and the last is what the cache has."""
        last: dict[str, Object | None] = {}
        for old, new in self.story:
            changed = new or old
            assert changed is not None
            if last.get(changed.key) is not old:
                return False
            last[changed.key] = new
        return {k: v for k, v in last.items() if v is not None} == {o.key: o for o in self.informers.cache.list(Thing)}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    await world.client.create(thing("a", 1))
    task = asyncio.ensure_future(world.informers.run())
    await asyncio.wait_for(world.informers.synced(), 10)
    await world.clock.advance()
    yield world
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_what_is_there_is_told_as_new_and_then_every_change(world: World) -> None:
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": 2}})
    await world.client.create(thing("b", 5))
    await world.client.delete(THINGS, "default", "a")
    await world.clock.advance()
    assert world.told() == [(None, "a=1"), ("a=1", "a=2"), (None, "b=5"), ("a=2", None)]
    assert world.shown() == {"b": 5}


async def test_the_revision_is_how_far_the_cache_is(world: World) -> None:
    informer = world.informers.find(Thing)
    assert informer is not None
    made = await world.client.create(thing("b"))
    await world.clock.advance()
    assert informer.revision == made["metadata"]["resourceVersion"]
    before = world.progressed
    await world.client.create({"apiVersion": "example.com/v1", "kind": "Zone", "metadata": {"name": "z"}})
    world.client.bookmark()
    await world.clock.advance()
    assert informer.revision == str(int(made["metadata"]["resourceVersion"]) + 1)
    assert world.progressed == before + 1


async def test_a_broken_watch_goes_on_where_it_was(world: World) -> None:
    world.client.cut(ConnectionError("reset"))
    await world.client.create(thing("b", 2))
    await world.settle()
    assert world.told() == [(None, "a=1"), (None, "b=2")]
    assert world.client.watching == 1


async def test_a_watch_that_ends_in_good_order_is_opened_again(world: World) -> None:
    for _ in range(20):
        world.client.cut()
        await world.settle()
    world.client.cut()
    await world.client.create(thing("b", 2))
    await world.clock.advance(100)
    assert world.shown() == {"a": 1, "b": 2}


async def test_after_a_compaction_only_the_differences_are_told(world: World) -> None:
    await world.client.create(thing("same", 7))
    await world.client.create(thing("untouched", 7))
    await world.clock.advance()
    world.story.clear()
    world.client.hold()
    world.client.cut(ConnectionError("reset"))
    await world.client.create(thing("new", 3))
    await world.client.patch(THINGS, "default", "same", {"spec": {"size": 8}})
    await world.client.patch(THINGS, "default", "same", {"spec": {"size": 7}})
    await world.client.delete(THINGS, "default", "a")
    world.client.compact()
    world.client.deliver()
    await world.settle()
    assert world.told() == [(None, "new=3"), ("same=7", "same=7"), ("a=1", None)]


async def test_an_object_made_again_between_two_looks_is_told_as_gone_and_new(world: World) -> None:
    world.client.hold()
    world.client.cut(ConnectionError("reset"))
    await world.client.delete(THINGS, "default", "a")
    await world.client.create(thing("a", 9))
    world.client.compact()
    world.client.deliver()
    await world.settle()
    assert world.told() == [(None, "a=1"), ("a=1", None), (None, "a=9")]


async def test_an_object_that_does_not_decode_is_reported_once_and_stops_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.client.create(thing("bad") | {"spec": {"size": "big"}})
    await world.client.create(thing("good", 4))
    await world.clock.advance()
    world.client.cut(ApiError(410, "Expired", "too old"))
    await world.settle()
    assert world.shown() == {"a": 1, "good": 4}
    reports = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(reports) == 1
    assert "Thing default/bad can't be read and is left out" in reports[0]
    assert "$.spec.size" in reports[0]


async def test_an_object_that_no_longer_decodes_stays_as_it_was_until_it_is_deleted(world: World) -> None:
    await world.client.patch(THINGS, "default", "a", {"spec": {"size": "big"}})
    await world.clock.advance()
    world.client.cut(ApiError(410, "Expired", "too old"))
    await world.settle()
    assert world.shown() == {"a": 1}
    await world.client.delete(THINGS, "default", "a")
    await world.clock.advance()
    assert world.shown() == {}


async def test_a_server_that_refuses_is_asked_less_and_less_often_and_then_followed_again() -> None:
    class Moody(FakeClient):
        refusals = 0
        asked: list[int] = []

        async def list(self, *args: object, **selectors: str) -> Listing:
            self.asked.append(clock.now_ms())
            if self.refusals:
                self.refusals -= 1
                raise ApiError(503, "ServiceUnavailable", "not yet")
            return await super().list(*args, **selectors)  # type: ignore[arg-type]

    clock = VirtualClock()
    client = Moody(KINDS)
    client.refusals = 12
    informers = Informers(client, clock, kind_of)
    informers.declare(Thing)
    task = asyncio.ensure_future(informers.run())
    await clock.run_until(informers.find(Thing).synced.is_set)  # type: ignore[union-attr]
    gaps = [b - a for a, b in zip(client.asked, client.asked[1:], strict=False)]
    assert gaps == [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000, 30000]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class Scripted:
    """A reader that says what it is told to say."""

    def __init__(self, listing: Listing, events: list[WatchEvent]) -> None:
        self.listing, self.events = listing, events

    async def get(self, *args: object) -> JsonObject:
        raise NotImplementedError

    async def list(self, *args: object, **selectors: str) -> Listing:
        return self.listing

    async def watch(self, *args: object, revision: str, **selectors: str) -> AsyncIterator[WatchEvent]:
        for event in self.events:
            yield event
        await asyncio.Event().wait()


def at(revision: str, size: int, uid: str = "u") -> JsonObject:
    return {
        "metadata": {"name": "a", "namespace": "ns", "uid": uid, "resourceVersion": revision},
        "spec": {"size": size},
    }


@pytest.mark.parametrize(
    ("events", "revision", "story"),
    [
        ([WatchEvent("MODIFIED", at("4", 4))], "5", [(None, "a=5")]),
        ([WatchEvent("MODIFIED", at("5", 5))], "5", [(None, "a=5")]),
        ([WatchEvent("DELETED", at("4", 4))], "5", [(None, "a=5")]),
        ([WatchEvent("DELETED", at("5", 5))], "5", [(None, "a=5"), ("a=5", None)]),
        ([WatchEvent("DELETED", at("6", 5))], "6", [(None, "a=5"), ("a=5", None)]),
        ([WatchEvent("ADDED", at("10", 6))], "10", [(None, "a=5"), ("a=5", "a=6")]),
        ([WatchEvent("ADDED", at("4", 6, "v"))], "5", [(None, "a=5")]),
        ([WatchEvent("ADDED", at("7", 6, "v"))], "7", [(None, "a=5"), ("a=5", None), (None, "a=6")]),
        ([WatchEvent("MODIFIED", at("x", 6))], "x", [(None, "a=5"), ("a=5", "a=6")]),
    ],
)
async def test_an_event_older_than_the_cache_is_passed_over(
    events: list[WatchEvent], revision: str, story: list[tuple[str | None, str | None]]
) -> None:
    world = World()
    world.informers = Informers(Scripted(Listing([at("5", 5)], "5"), events), world.clock, kind_of)
    world.informers.subscribe([Thing], world.tell)
    task = asyncio.ensure_future(world.informers.run())
    await world.clock.advance()
    assert world.told() == story
    assert world.informers.declare(Thing).revision == revision
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_each_type_has_one_informer_whoever_asks() -> None:
    world = World()
    assert world.informers.declare(Thing) is world.informers.declare(Thing, ["job"])
    assert world.informers.find(Zone) is None
    assert world.informers.declare(Zone).kind is ZONES
    assert world.informers.kind_named("example.com", "Zone") is ZONES
    assert world.informers.kind_named("", "Zone") is None


@pytest.mark.parametrize("seed", range(15))
async def test_whatever_goes_wrong_the_cache_converges_and_the_story_is_unbroken(seed: int) -> None:
    """Writes, late events, broken watches and compactions in any order."""
    chance = random.Random(seed)
    world = World()
    task = asyncio.ensure_future(world.informers.run())
    for step in range(120):
        name = chance.choice("abcd")
        there = any(o["metadata"]["name"] == name for o in world.client.objects(THINGS))
        action = chance.choice(["write"] * 6 + ["delete", "delete", "hold", "deliver", "cut", "end", "compact", "pass"])
        if action == "write":
            if there:
                await world.client.patch(THINGS, "default", name, {"spec": {"size": step}})
            else:
                await world.client.create(thing(name, step))
        elif action == "delete" and there:
            await world.client.delete(THINGS, "default", name)
        elif action == "hold":
            world.client.hold()
        elif action == "deliver":
            world.client.deliver(chance.randint(1, 3))
        elif action in ("cut", "end"):
            world.client.cut(ConnectionError("reset") if action == "cut" else None)
        elif action == "compact":
            world.client.compact()
        elif action == "pass":
            await world.clock.advance(chance.choice([0, 100, 5_000]))
    world.client.deliver()
    await world.settle()
    assert world.shown() == {o["metadata"]["name"]: o["spec"]["size"] for o in world.client.objects(THINGS)}
    assert world.is_unbroken()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


GADGETS = "gadgets.example.com"


def gadgets(*, established: str = "True") -> JsonObject:
    names = {"plural": "gadgets", "kind": "Gadget"}
    versions = [{"name": "v1", "served": True, "storage": True}]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": GADGETS},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions},
        "status": {"conditions": [{"type": "Established", "status": established}]},
    }


async def test_objects_of_kinds_that_others_define_come_and_go_with_their_definition() -> None:
    definitions = SCHEME.of(CustomResourceDefinition)
    established = kind_defined_by(msgspec.convert(gadgets(), CustomResourceDefinition))
    assert established is not None
    client, clock = FakeClient([definitions, established]), VirtualClock()
    informers, story = Informers(client, clock), list[tuple[str, str]]()

    def tell(_: type[Object], old: Object | None, new: Object | None) -> None:
        changed = new or old
        assert changed is not None
        story.append(("gone" if new is None else "there", changed.key))

    informers.subscribe([CustomObject], tell)
    running = asyncio.create_task(informers.run())
    try:
        await informers.synced([CustomObject])
        for name in ("a", "b"):
            await client.create(
                {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name, "namespace": "ns"}}
            )
        await clock.advance(RETRY_LAST_MS)
        assert story == []
        await client.create(gadgets())
        await client.patch(definitions, "", GADGETS, {"status": gadgets()["status"]}, subresource="status")
        await clock.advance(RETRY_LAST_MS)
        assert story == [("there", "ns/Gadget.example.com/a"), ("there", "ns/Gadget.example.com/b")]
        await client.delete(established, "ns", "a")
        await clock.advance(RETRY_LAST_MS)
        assert story[2:] == [("gone", "ns/Gadget.example.com/a")]
        (left,) = informers.cache.list(CustomObject, "ns")
        assert (left.plural, custom_kind_of(left)) == ("gadgets", established)
        await client.delete(definitions, "", GADGETS)
        await clock.advance(RETRY_LAST_MS)
        assert story[3:] == [("gone", "ns/Gadget.example.com/b")]
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_others_have_their_turn_while_a_long_list_is_taken_in() -> None:
    world = World()
    for number in range(4 * TURN):
        await world.client.create(thing(f"t{number}"))
    seen: list[int] = []

    async def others() -> None:
        while not world.informers.declare(Thing).synced.is_set():
            seen.append(len(world.story))
            await asyncio.sleep(0)

    running = asyncio.create_task(world.informers.run())
    await others()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert {TURN - 1, 2 * TURN - 1, 3 * TURN - 1} <= set(seen)
    assert len(world.story) == 4 * TURN


@pytest.mark.parametrize(
    ("payloads", "kept"), [(None, {"a": {"k": "v"}, "b": {"k": "v"}}), (frozenset(["b"]), {"a": {}, "b": {"k": "v"}})]
)
@pytest.mark.parametrize("type_", [ConfigMap, Secret])
async def test_payloads_are_kept_of_the_names_whose_readers_asked_for_them(
    type_: type[ConfigMap] | type[Secret], payloads: frozenset[str] | None, kept: dict[str, dict[str, str]]
) -> None:
    kind = SCHEME.of(type_)
    client = FakeClient([kind])
    for name in kept:
        metadata = {"name": name, "namespace": "ns"}
        await client.create({"apiVersion": "v1", "kind": kind.kind, "metadata": metadata, "data": {"k": "v"}})
    informers = Informers(client, VirtualClock(), payloads=payloads)
    informers.declare(type_)
    running = asyncio.create_task(informers.run())
    await informers.synced()
    assert {obj.metadata.name: obj.data for obj in informers.cache.list(type_)} == kept
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
