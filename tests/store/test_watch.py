"""The fan-out."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.store.base import Change, Lagging
from kumi.store.watch import Hub

from .suite import take


def change(revision: int, key: str = "/a/x") -> Change:
    return Change(revision, key, b"v", None)


@given(
    st.lists(st.lists(st.sampled_from(["/a/1", "/ab/1", "/b/1", "/b/c/1"]), max_size=5), max_size=5),
    st.lists(st.sampled_from(["/a/", "/b/", "/b/c/", ""]), min_size=1, max_size=6),
)
def test_every_watcher_gets_every_change_of_its_prefix_in_order(batches: list[list[str]], prefixes: list[str]) -> None:
    async def run() -> None:
        hub = Hub()
        watchers = [(prefix, hub.watch(prefix, 0, ())) for prefix in prefixes]
        said = []
        for batch in batches:
            changes = [change(len(said) + i + 1, key) for i, key in enumerate(batch)]
            hub.publish(changes)
            said += changes
        hub.close()
        for prefix, watcher in watchers:
            assert [c async for c in watcher] == [c for c in said if c.key.startswith(prefix)]

    asyncio.run(run())


async def test_a_watcher_at_its_bound_is_whole_and_one_over_it_is_cut_off() -> None:
    hub = Hub(bound=3)
    watcher = hub.watch("/a/", 0, ())
    hub.publish([change(i) for i in range(1, 4)])
    assert len(await take(watcher, 3)) == 3
    hub.publish([change(i) for i in range(4, 8)])
    assert len(hub) == 0
    for _ in range(2):
        with pytest.raises(Lagging, match="3 changes behind"):
            await take(watcher, 1)


async def test_a_closed_watcher_leaves_the_hub_and_keeps_nothing() -> None:
    hub = Hub()
    watcher = hub.watch("/a/", 0, [change(1)])
    await watcher.aclose()
    assert [c async for c in watcher] == []
    hub.publish([change(2)])
    assert len(hub) == 0


async def test_two_readers_of_one_watch_are_a_mistake() -> None:
    watcher = Hub().watch("/a/", 0, ())
    first = asyncio.ensure_future(watcher.__anext__())
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="two tasks"):
        await watcher.__anext__()
    first.cancel()


async def test_a_watch_of_a_closed_hub_ends_after_its_replay() -> None:
    hub = Hub()
    hub.close()
    assert [c async for c in hub.watch("/a/", 0, [change(1)])] == [change(1)]


async def test_what_is_there_is_taken_without_waiting_and_what_comes_is_still_waited_for() -> None:
    hub = Hub(bound=3)
    watcher = hub.watch("/a/", 0, [change(1)])
    hub.publish([change(2)])
    assert [c.revision for c in watcher.take()] == [1, 2]
    assert watcher.take() == []
    hub.publish([change(3)])
    assert (await anext(watcher)).revision == 3
    hub.publish([change(i) for i in range(4, 9)])
    with pytest.raises(Lagging):
        watcher.take()


async def test_all_that_is_there_is_read_at_once_and_what_comes_is_waited_for() -> None:
    hub = Hub()
    watcher = hub.watch("/a/", 0, [change(1)])
    hub.publish([change(2), change(3, "/b/x")])
    assert [c.revision for c in await watcher.some()] == [1, 2]
    waiting = asyncio.ensure_future(watcher.some())
    await asyncio.sleep(0)
    assert not waiting.done()
    hub.publish([change(4), change(5)])
    assert [c.revision for c in await waiting] == [4, 5]
    hub.close()
    assert await watcher.some() == []


async def test_a_change_is_not_lost_when_who_waits_for_it_gives_up_as_it_comes() -> None:
    hub = Hub()
    watcher = hub.watch("/a/", 0, ())
    waiting = asyncio.ensure_future(watcher.some())
    await asyncio.sleep(0)
    hub.publish([change(1)])
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert [c.revision for c in await watcher.some()] == [1]


def test_what_a_reader_has_seen_is_not_told_again() -> None:
    hub = Hub(bound=2)
    watcher = hub.watch("/a/", 2, ())
    hub.publish([change(1), change(2), change(3), change(4)])
    assert [c.revision for c in watcher.take()] == [3, 4]
