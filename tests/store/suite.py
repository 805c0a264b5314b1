"""What every store must do: run by test_memory.py and test_sqlite.py, each with its own `store` fixture."""

from __future__ import annotations

import asyncio
import gc

import pytest

from kumi.store.base import ABSENT, Change, Compacted, Conflict, FutureRevision, Lagging, Store, Watch
from kumi.store.ledger import FIRST

SMALL_BOUND = 50
"""The bound that the fixtures give their watchers."""


async def take(watch: Watch, n: int) -> list[Change]:
    """The next `n` changes; fails rather than hangs."""
    return [await asyncio.wait_for(watch.__anext__(), 10) for _ in range(n)]


async def is_quiet(watch: Watch) -> bool:
    """Whether the watch has nothing to say after everything that can run has run."""
    step = asyncio.ensure_future(watch.__anext__())
    for _ in range(5):
        await asyncio.sleep(0)
    quiet = not step.done()
    step.cancel()
    await asyncio.gather(step, return_exceptions=True)
    return quiet


def keys(store: Store, prefix: str, **options: int | str) -> list[str]:
    return [e.key for e in store.list(prefix, **options).entries]  # type: ignore[arg-type]


class StoreSuite:
    """The laws of kumi.store.base, one behaviour a test."""

    async def test_an_empty_store_is_at_the_first_revision_and_has_nothing(self, store: Store) -> None:
        assert store.revision == FIRST
        assert store.get("/a/x") is None
        assert store.list("/a/") == ([], FIRST, False, 0)

    async def test_each_write_gets_the_next_revision_and_is_read_back(self, store: Store) -> None:
        first = await store.put("/a/x", b"1")
        second = await store.put("/a/x", b"2")
        assert FIRST < first < second == store.revision
        assert store.get("/a/x") == ("/a/x", b"2", second, first)

    async def test_a_create_of_what_is_there_conflicts_and_names_where_it_is(self, store: Store) -> None:
        at = await store.put("/a/x", b"1", ABSENT)
        with pytest.raises(Conflict) as caught:
            await store.put("/a/x", b"2", ABSENT)
        assert (caught.value.key, caught.value.expected, caught.value.actual) == ("/a/x", ABSENT, at)
        assert store.get("/a/x") == ("/a/x", b"1", at, at)

    async def test_an_update_of_an_old_revision_conflicts(self, store: Store) -> None:
        old = await store.put("/a/x", b"1")
        new = await store.put("/a/x", b"2", old)
        with pytest.raises(Conflict) as caught:
            await store.put("/a/x", b"3", old)
        assert caught.value.actual == new

    async def test_an_update_of_what_was_deleted_conflicts(self, store: Store) -> None:
        old = await store.put("/a/x", b"1")
        await store.put("/a/x", None, old)
        with pytest.raises(Conflict) as caught:
            await store.put("/a/x", b"2", old)
        assert caught.value.actual == ABSENT

    async def test_a_refused_write_uses_no_revision_and_tells_no_watcher(self, store: Store) -> None:
        at = await store.put("/a/x", b"1")
        watch = store.watch("/a/", at)
        with pytest.raises(Conflict):
            await store.put("/a/x", b"2", ABSENT)
        assert store.revision == at
        assert await is_quiet(watch)

    @pytest.mark.parametrize("expected", [None, ABSENT])
    async def test_deleting_what_is_absent_conflicts(self, store: Store, expected: int | None) -> None:
        with pytest.raises(Conflict) as caught:
            await store.put("/a/x", None, expected)
        assert caught.value.actual == ABSENT

    async def test_a_key_made_again_is_a_new_creation(self, store: Store) -> None:
        await store.put("/a/x", b"1")
        gone = await store.put("/a/x", None)
        again = await store.put("/a/x", b"2", ABSENT)
        assert gone < again
        assert store.get("/a/x") == ("/a/x", b"2", again, again)

    async def test_of_writers_that_read_the_same_revision_one_wins(self, store: Store) -> None:
        at = await store.put("/a/x", b"0")
        results = await asyncio.gather(
            *(store.put("/a/x", str(i).encode(), at) for i in range(10)), return_exceptions=True
        )
        won = [r for r in results if isinstance(r, int)]
        assert len(won) == 1
        assert [type(r) for r in results if not isinstance(r, int)] == [Conflict] * 9
        entry = store.get("/a/x")
        assert entry is not None
        assert entry.revision == won[0]

    async def test_of_creators_of_one_key_one_wins(self, store: Store) -> None:
        results = await asyncio.gather(*(store.put("/a/x", b"", ABSENT) for _ in range(10)), return_exceptions=True)
        assert sum(isinstance(r, int) for r in results) == 1

    async def test_who_gets_a_conflict_finds_the_winner_when_reading_again(self, store: Store) -> None:
        async def add_one() -> None:
            for _ in range(1000):
                entry = store.get("/n")
                try:
                    await store.put(
                        "/n", str(int(entry.value) + 1 if entry else 1).encode(), entry.revision if entry else 0
                    )
                    return
                except Conflict as conflict:
                    winner = conflict.actual
                seen = store.get("/n")
                assert seen is not None
                assert seen.revision >= winner
            raise AssertionError("never got through")

        await asyncio.gather(*(add_one() for _ in range(20)))
        entry = store.get("/n")
        assert entry is not None
        assert entry.value == b"20"

    async def test_blind_writes_at_once_all_happen_in_order(self, store: Store) -> None:
        watch = store.watch("/a/", store.revision)
        revisions = await asyncio.gather(*(store.put("/a/x", str(i).encode()) for i in range(5)))
        assert sorted(revisions) == list(revisions)
        assert [c.value for c in await take(watch, 5)] == [b"0", b"1", b"2", b"3", b"4"]

    async def test_writes_of_many_keys_at_once_get_distinct_revisions(self, store: Store) -> None:
        revisions = await asyncio.gather(*(store.put(f"/a/{i}", b"v") for i in range(600)))
        assert len(set(revisions)) == 600
        assert store.revision == max(revisions)
        assert all(store.get(f"/a/{i}").revision == r for i, r in enumerate(revisions))  # type: ignore[union-attr]

    async def test_a_list_is_in_key_order_and_of_its_prefix_only(self, store: Store) -> None:
        for key in ("/b/1", "/a/2", "/a/1", "/a0", "/a/10", "/a", "/aa/1", "/a/é"):
            await store.put(key, b"v")
        assert keys(store, "/a/") == ["/a/1", "/a/10", "/a/2", "/a/é"]
        assert keys(store, "/c/") == []
        assert len(keys(store, "")) == 8

    async def test_pages_continue_after_a_key_and_count_what_is_left(self, store: Store) -> None:
        for i in range(5):
            await store.put(f"/a/{i}", b"v")
        await store.put("/b/9", b"v")
        first = store.list("/a/", limit=2)
        assert ([e.key for e in first.entries], first.more, first.remaining) == (["/a/0", "/a/1"], True, 3)
        second = store.list("/a/", limit=2, after="/a/1")
        assert ([e.key for e in second.entries], second.more, second.remaining) == (["/a/2", "/a/3"], True, 1)
        last = store.list("/a/", limit=2, after="/a/3")
        assert ([e.key for e in last.entries], last.more, last.remaining) == (["/a/4"], False, 0)
        assert store.list("/a/", after="/a/4").entries == []

    async def test_a_page_at_a_revision_shows_the_world_as_it_was(self, store: Store) -> None:
        await store.put("/a/1", b"one")
        await store.put("/a/2", b"two")
        at = await store.put("/a/4", b"four")
        await store.put("/a/2", b"changed")
        await store.put("/a/3", b"new")
        await store.put("/a/4", None)
        page = store.list("/a/", limit=2, revision=at)
        assert [(e.key, e.value) for e in page.entries] == [("/a/1", b"one"), ("/a/2", b"two")]
        assert (page.revision, page.more, page.remaining) == (at, True, 1)
        rest = store.list("/a/", limit=2, after="/a/2", revision=at)
        assert [(e.key, e.value) for e in rest.entries] == [("/a/4", b"four")]
        assert (rest.more, rest.remaining) == (False, 0)

    async def test_a_list_in_the_future_is_refused(self, store: Store) -> None:
        with pytest.raises(FutureRevision):
            store.list("/a/", revision=store.revision + 1)

    async def test_a_watch_replays_what_was_and_goes_on_with_what_comes(self, store: Store) -> None:
        one = await store.put("/a/x", b"1")
        two = await store.put("/a/x", b"2")
        await store.put("/b/x", b"other")
        watch = store.watch("/a/", one)
        three = await store.put("/a/x", None)
        four = await store.put("/a/x", b"4")
        assert await take(watch, 3) == [
            (two, "/a/x", b"2", b"1"),
            (three, "/a/x", None, b"2"),
            (four, "/a/x", b"4", None),
        ]
        assert await is_quiet(watch)

    async def test_a_watch_waits_for_the_next_change(self, store: Store) -> None:
        watch = store.watch("/a/", store.revision)
        waiting = asyncio.ensure_future(take(watch, 1))
        await asyncio.sleep(0)
        at = await store.put("/a/x", b"1")
        assert await waiting == [(at, "/a/x", b"1", None)]

    async def test_a_watch_of_the_future_skips_what_comes_before(self, store: Store) -> None:
        watch = store.watch("/a/", store.revision + 1)
        await store.put("/a/x", b"1")
        second = await store.put("/a/x", b"2")
        assert await take(watch, 1) == [(second, "/a/x", b"2", b"1")]

    async def test_a_watcher_that_is_cancelled_can_go_on(self, store: Store) -> None:
        watch = store.watch("/a/", store.revision)
        waiting = asyncio.ensure_future(watch.__anext__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await store.put("/a/x", b"1")
        assert [c.value for c in await take(watch, 1)] == [b"1"]

    async def test_a_closed_watch_ends_even_for_who_waits_on_it(self, store: Store) -> None:
        watch = store.watch("/a/", store.revision)

        async def read() -> list[Change]:
            return [c async for c in watch]

        reader = asyncio.ensure_future(read())
        await asyncio.sleep(0)
        await watch.aclose()
        assert await asyncio.wait_for(reader, 10) == []
        await store.put("/a/x", b"1")

    async def test_a_reader_that_lags_is_cut_off_and_others_are_not(self, store: Store) -> None:
        slow, other = store.watch("/a/", store.revision), store.watch("/b/", store.revision)
        for i in range(SMALL_BOUND + 1):
            await store.put(f"/a/{i}", b"v")
        await store.put("/b/x", b"v")
        with pytest.raises(Lagging):
            await take(slow, 1)
        assert len(await take(other, 1)) == 1

    async def test_what_a_watch_replays_does_not_count_as_lagging(self, store: Store) -> None:
        start = store.revision
        for i in range(SMALL_BOUND * 2):
            await store.put(f"/a/{i}", b"v")
        watch = store.watch("/a/", start)
        await store.put("/a/last", b"v")
        assert (await take(watch, SMALL_BOUND * 2 + 1))[-1].key == "/a/last"

    async def test_a_watch_that_nobody_holds_is_forgotten(self, store: Store) -> None:
        watch = store.watch("/a/", store.revision)
        hub = store._hub  # type: ignore[attr-defined]
        assert len(hub) == 1
        del watch
        gc.collect()
        await store.put("/a/x", b"v")
        assert len(hub) == 0

    async def test_compaction_keeps_the_newest_values_and_later_history(self, store: Store) -> None:
        await store.put("/a/1", b"old")
        at = await store.put("/a/1", b"kept")
        await store.put("/a/2", b"two")
        await store.compact(at)
        assert [(e.key, e.value) for e in store.list("/a/", revision=at).entries] == [("/a/1", b"kept")]
        assert [c.key for c in await take(store.watch("/a/", at), 1)] == ["/a/2"]
        assert keys(store, "/a/") == ["/a/1", "/a/2"]

    async def test_what_is_older_than_a_compaction_is_refused_with_the_oldest_kept(self, store: Store) -> None:
        old = await store.put("/a/1", b"1")
        at = await store.put("/a/1", b"2")
        await store.compact(at)
        for ask in (lambda: store.list("/a/", revision=old), lambda: store.watch("/a/", old)):
            with pytest.raises(Compacted) as caught:
                ask()
            assert (caught.value.revision, caught.value.oldest) == (old, at)

    async def test_compaction_never_goes_back_nor_past_the_newest(self, store: Store) -> None:
        await store.put("/a/1", b"1")
        newest = await store.put("/a/1", b"2")
        await store.compact(newest + 100)
        await store.compact(newest - 1)
        assert store.list("/a/", revision=newest).revision == newest
        with pytest.raises(Compacted) as caught:
            store.list("/a/", revision=newest - 1)
        assert caught.value.oldest == newest

    async def test_a_key_deleted_compacted_and_made_again_works(self, store: Store) -> None:
        await store.put("/a/1", b"1")
        await store.compact(await store.put("/a/1", None))
        again = await store.put("/a/1", b"2", ABSENT)
        await store.put("/a/1", None, again)
        last = await store.put("/a/1", b"3", ABSENT)
        assert store.get("/a/1") == ("/a/1", b"3", last, last)

    async def test_keeping_n_writes_compacts_the_rest(self, store: Store) -> None:
        revisions = [await store.put(f"/a/{i}", b"v") for i in range(10)]
        await store.compact_keep(3)  # type: ignore[attr-defined]
        assert len(await take(store.watch("/a/", revisions[6]), 3)) == 3
        with pytest.raises(Compacted):
            store.watch("/a/", revisions[5])
        await store.compact_keep(100)  # type: ignore[attr-defined]
        assert len(await take(store.watch("/a/", revisions[6]), 3)) == 3

    async def test_closing_ends_watches_after_what_they_have_and_refuses_writes(self, store: Store) -> None:
        watch = store.watch("/a/", store.revision)
        await store.put("/a/1", b"1")
        await store.close()  # type: ignore[attr-defined]
        await store.close()  # type: ignore[attr-defined]
        assert [c.value async for c in watch] == [b"1"]
        assert [c async for c in store.watch("/a/", store.revision)] == []
        with pytest.raises(Exception, match="closed"):
            await store.put("/a/2", b"2")
