"""watch: every change once, in order, as the selector sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.wire import WatchEvent
from kumi.registry import watching
from kumi.registry.registry import ListOptions

from .world import World, config


def watch(world: World, kind: str = "ConfigMap", ns: str = "ns", **options: object) -> AsyncIterator[WatchEvent]:
    return world.registry.watch(world.target(kind, ns=ns), ListOptions(**options))  # type: ignore[arg-type]


async def take(events: AsyncIterator[WatchEvent], number: int) -> list[tuple[str, str]]:
    """The types and names of the next events; the watch is closed."""
    found = []
    for _ in range(number):
        event = await asyncio.wait_for(anext(events), 5)
        found.append((event.type, event.object["metadata"].get("name", "")))
    await events.aclose()  # type: ignore[attr-defined]
    return found


LABELS = st.sampled_from(["a", "b"])
STEPS = st.lists(st.tuples(st.sampled_from(["x", "y"]), st.sampled_from(["a", "b", "delete"])), max_size=12)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.booleans())
async def test_who_follows_a_watch_knows_what_a_list_would_say(
    scheme: Scheme, steps: list[tuple[str, str]], selected: bool
) -> None:
    """Applying the events to nothing gives the list, after every one of them no earlier state comes back."""
    world = World(scheme)
    labels = "tier=a" if selected else ""
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    events = watch(world, revision=str(world.store.revision), labels=labels)
    for name, step in steps:
        there = world.store.get(f"/core/configmaps/ns/{name}") is not None
        if step == "delete":
            if there:
                await world.delete("ConfigMap", name)
        elif there:
            await world.patch("ConfigMap", name, {"metadata": {"labels": {"tier": step}}})
        else:
            await world.create("ConfigMap", {"metadata": {"name": name, "labels": {"tier": step}}})
    await world.create("ConfigMap", {"metadata": {"name": "end", "labels": {"tier": "a"}}})
    known: dict[str, object] = {}
    last = 0
    async for event in events:
        name = event.object["metadata"]["name"]
        revision = int(event.object["metadata"]["resourceVersion"])
        assert revision > last
        last = revision
        if event.type == "DELETED":
            del known[name]
        else:
            assert (name in known) == (event.type == "MODIFIED")
            known[name] = event.object
        if name == "end":
            break
    await events.aclose()  # type: ignore[attr-defined]
    listing = await world.registry.list(world.target("ConfigMap"), ListOptions(labels=labels))
    assert list(dict(sorted(known.items())).values()) == listing.items


async def test_from_a_revision_on_the_same_events_come_again(world: World) -> None:
    start = str(world.store.revision)
    await world.create("ConfigMap", config("a"))
    await world.patch("ConfigMap", "a", {"data": {"v": "2"}})
    await world.delete("ConfigMap", "a")
    for _ in range(2):
        assert await take(watch(world, revision=start), 3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_deletion_shows_the_last_state_at_its_own_revision(world: World) -> None:
    await world.create("ConfigMap", config("a", v="1"))
    start = str(world.store.revision)
    await world.delete("ConfigMap", "a")
    event = await anext(watch(world, revision=start))
    assert event.object["data"] == {"v": "1"}
    assert event.object["metadata"]["resourceVersion"] == str(world.store.revision)


@pytest.mark.parametrize("revision", ["", "0"])
async def test_without_a_revision_what_is_there_comes_first(world: World, revision: str) -> None:
    await world.create("ConfigMap", config("b"))
    await world.create("ConfigMap", config("a"))
    events = watch(world, revision=revision)
    first = [await anext(events), await anext(events)]
    await world.create("ConfigMap", config("c"))
    assert [(e.type, e.object["metadata"]["name"]) for e in first] == [("ADDED", "a"), ("ADDED", "b")]
    assert await take(events, 1) == [("ADDED", "c")]


async def test_an_object_that_leaves_the_selector_is_deleted_as_it_last_was(world: World) -> None:
    start = str(world.store.revision)
    for tier in ("b", "a", "c", "a"):
        change = {"metadata": {"labels": {"tier": tier}}}
        if tier == "b":
            await world.create("ConfigMap", {"metadata": {"name": "s", "labels": {"tier": "b"}}})
        else:
            await world.patch("ConfigMap", "s", change)
    await world.delete("ConfigMap", "s")
    events = watch(world, revision=start, labels="tier=a")
    found = [await anext(events) for _ in range(4)]
    assert [event.type for event in found] == ["ADDED", "DELETED", "ADDED", "DELETED"]
    assert {event.object["metadata"]["labels"]["tier"] for event in found} == {"a"}


async def test_a_watch_sees_its_own_namespace_and_kind(world: World) -> None:
    await world.create("Namespace", {"metadata": {"name": "two"}})
    start = str(world.store.revision)
    await world.create("ConfigMap", config("a"), ns="two")
    await world.create("Secret", {"metadata": {"name": "b"}})
    await world.create("ConfigMap", config("c"))
    assert await take(watch(world, revision=start), 1) == [("ADDED", "c")]
    assert await take(watch(world, ns="", revision=start), 2) == [("ADDED", "a"), ("ADDED", "c")]


async def test_initial_events_end_with_a_marked_bookmark(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    events = watch(world, bookmarks=True, send_initial_events=True, revision_match="NotOlderThan")
    assert (await anext(events)).type == "ADDED"
    mark = await anext(events)
    assert mark.type == "BOOKMARK"
    assert mark.object == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {
            "resourceVersion": str(world.store.revision),
            "annotations": {"k8s.io/initial-events-end": "true"},
        },
    }
    await world.create("ConfigMap", config("b"))
    assert await take(events, 1) == [("ADDED", "b")]


async def test_a_bookmark_tells_of_progress_that_the_selector_hides(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "TICK_S", 0.001)
    events = watch(world, revision=str(world.store.revision), labels="none=1", bookmarks=True)
    step = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    await world.create("ConfigMap", config("a"))
    mark = await asyncio.wait_for(step, 5)
    assert (mark.type, mark.object["metadata"]) == ("BOOKMARK", {"resourceVersion": str(world.store.revision)})
    await world.create("ConfigMap", {"metadata": {"name": "b", "labels": {"none": "1"}}})
    assert await take(events, 1) == [("ADDED", "b")]


async def test_a_bookmark_never_runs_ahead_of_an_event(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "TICK_S", 0.0)
    events = watch(world, revision=str(world.store.revision), bookmarks=True)

    async def write() -> None:
        for n in range(40):
            await world.create("ConfigMap", config(f"a{n}"))
            await asyncio.sleep(0)
            await world.create("Secret", {"metadata": {"name": f"s{n}"}})
            await asyncio.sleep(0)

    writing = asyncio.ensure_future(write())
    seen, last = 0, 0
    async for event in events:
        revision = int(event.object["metadata"]["resourceVersion"])
        assert revision > last
        last = revision
        seen += event.type == "ADDED"
        if seen == 40:
            break
    await writing
    await events.aclose()  # type: ignore[attr-defined]


async def test_closing_a_watch_ends_it_while_it_waits(world: World) -> None:
    for bookmarks in (False, True):
        events = watch(world, revision=str(world.store.revision), bookmarks=bookmarks)
        step = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        await events.aclose()  # type: ignore[attr-defined]
        with pytest.raises(StopAsyncIteration):
            await anext(events)


@pytest.mark.parametrize("bookmarks", [False, True])
async def test_a_store_that_closes_ends_its_watches(world: World, bookmarks: bool) -> None:
    events = watch(world, revision=str(world.store.revision), bookmarks=bookmarks)
    step = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)
    await world.store.close()
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(step, 5)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"labels": "=="}, 400, "unable to parse requirement"),
        ({"fields": "a=b"}, 400, "is not a known field selector"),
        ({"revision": "abc"}, 400, "resourceVersion: Invalid value"),
        ({"revision": "99999"}, 504, "Too large resource version"),
        ({"revision": "1", "revision_match": "Nearly"}, 422, "supported values"),
        ({"send_initial_events": True}, 422, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    ],
)
async def test_wrong_options_are_refused_by_the_call(world: World, options: dict, code: int, message: str) -> None:
    with pytest.raises(ApiError) as refused:
        watch(world, **options)
    assert refused.value.code == code
    assert message in refused.value.message


async def test_a_compacted_revision_is_expired(world: World) -> None:
    await world.create("ConfigMap", config("a"))
    await world.store.compact(world.store.revision)
    with pytest.raises(ApiError, match=r"too old resource version: 1 \(3\)") as refused:
        watch(world, revision="1")
    assert (refused.value.code, refused.value.reason) == (410, "Expired")


@pytest.mark.parametrize("bookmarks", [False, True])
async def test_a_reader_that_falls_too_far_behind_is_expired(scheme: Scheme, bookmarks: bool) -> None:
    world = World(scheme, bound=3)
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    events = watch(world, revision=str(world.store.revision), bookmarks=bookmarks)
    for n in range(10):
        await world.create("ConfigMap", config(f"a{n}"))
    with pytest.raises(ApiError, match="fell too far behind") as refused:
        async for _ in events:
            pass
    assert refused.value.code == 410


async def test_all_watchers_share_one_decoded_object(world: World) -> None:
    start = str(world.store.revision)
    made = await world.create("ConfigMap", config("a"))
    one, two = watch(world, revision=start), watch(world, revision=start)
    assert (await anext(one)).object is (await anext(two)).object is made
