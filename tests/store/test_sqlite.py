"""The durable store: the laws of every store, restarts, a disk that refuses, and a process that is killed."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import rule

from kumi.api.errors import KumiError
from kumi.api.measures import Histogram
from kumi.store.base import ABSENT, Compacted, Conflict, Store, StoreFailed
from kumi.store.disk import Disk
from kumi.store.sqlite import BATCH, SqliteStore

from .machine import KEYS, StoreMachine
from .suite import SMALL_BOUND, StoreSuite, take

TOO_BIG = b"x" * 200_000


def fill(disk: Disk) -> None:
    """No page more than there is: the next big write finds the disk full."""
    (pages,) = disk._db.execute("PRAGMA page_count").fetchone()
    disk._db.execute(f"PRAGMA max_page_count = {pages}")


def free(disk: Disk) -> None:
    disk._db.execute("PRAGMA max_page_count = 1000000")


class SqliteMachine(StoreMachine):
    """Adds restarts and a full disk: neither changes what is there."""

    def open(self) -> Store:
        if not hasattr(self, "directory"):
            self.directory = tempfile.TemporaryDirectory()
        self.disk = Disk(Path(self.directory.name) / "store.db")
        return SqliteStore(self.disk)

    @rule()
    def restart(self) -> None:
        self.drain()
        self.run(self.store.close())  # type: ignore[attr-defined]
        self.watches = []
        self.store = self.open()
        assert self.store.compacted == min(self.compacted, self.newest)  # type: ignore[attr-defined]

    @rule(key=KEYS)
    def full(self, key: str) -> None:
        fill(self.disk)
        with pytest.raises(StoreFailed):
            self.run(self.store.put(key, TOO_BIG))
        free(self.disk)

    def teardown(self) -> None:
        super().teardown()
        self.directory.cleanup()


TestSqliteMachine = SqliteMachine.TestCase
TestSqliteMachine.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore.open(path, SMALL_BOUND)
    yield store
    await store.close()


class TestSqliteStore(StoreSuite):
    pass


async def test_it_tells_of_its_commits_of_what_failed_and_of_its_size(store: SqliteStore) -> None:
    def told() -> dict[str, float]:
        samples = {family.name: family.samples[0].value for family in store.measures()}
        return {name: value.total if isinstance(value, Histogram) else value for name, value in samples.items()}

    before = told()
    await asyncio.gather(*(store.put(f"/a/{i}", b"x") for i in range(5)))
    fill(store._disk)
    with pytest.raises(StoreFailed):
        await store.put("/a/big", TOO_BIG)
    free(store._disk)
    await store.compact(store.revision)
    after = told()
    assert after["kumi_store_commit_writes"] == 5
    assert before["kumi_store_commits_total"] < after["kumi_store_commits_total"] <= 5
    assert after["kumi_store_failed_writes_total"] == 1
    assert after["kumi_store_compactions_total"] == 1
    assert (after["kumi_store_keys"], after["kumi_store_compacted_revision"]) == (5, store.revision)
    assert after["apiserver_storage_size_bytes"] >= after["kumi_store_keys"]
    assert after["kumi_store_commit_duration_seconds"] > 0


async def test_everything_is_there_after_a_restart_history_and_compaction_included(path: Path) -> None:
    store = SqliteStore.open(path)
    old = await store.put("/a/1", b"1")
    await store.put("/a/2", b"2")
    at = await store.put("/a/2", None)
    await store.compact(at)
    await store.put("/a/1", b"11", old)
    last = await store.put("/a/3", b"3")
    await store.close()

    again = SqliteStore.open(path)
    assert again.revision == last
    assert [(e.key, e.value, e.created) for e in again.list("/a/").entries] == [
        ("/a/1", b"11", old),
        ("/a/3", b"3", last),
    ]
    assert [c.previous for c in await take(again.watch("/a/", at), 2)] == [b"1", None]
    assert [e.value for e in again.list("/a/", revision=at).entries] == [b"1"]
    with pytest.raises(Compacted):
        again.watch("/a/", at - 1)
    await again.close()


async def test_a_revision_is_not_reused_after_the_newest_write_was_compacted_away(path: Path) -> None:
    store = SqliteStore.open(path)
    await store.put("/a/1", b"1")
    gone = await store.put("/a/1", None)
    await store.compact(gone)
    await store.close()
    again = SqliteStore.open(path)
    assert again.revision == gone
    assert await again.put("/a/1", b"2", ABSENT) == gone + 1
    await again.close()


async def test_a_full_disk_refuses_the_batch_and_all_behind_it_and_nothing_of_them_is_kept(
    store: SqliteStore, path: Path
) -> None:
    at = await store.put("/a/0", b"0")
    watch = store.watch("/", at)
    fill(store._disk)
    puts = [store.put("/a/big", TOO_BIG), *(store.put(f"/a/{i}", b"v") for i in range(BATCH + 50))]
    results = await asyncio.gather(*puts, return_exceptions=True)
    assert {type(r) for r in results} == {StoreFailed}
    assert "full" in str(results[0])
    assert store.revision == at
    assert [e.key for e in store.list("/").entries] == ["/a/0"]

    free(store._disk)
    later = await store.put("/a/1", b"1", ABSENT)
    assert later > at
    assert await take(watch, 1) == [(later, "/a/1", b"1", None)]
    await store.close()
    again = SqliteStore.open(path)
    assert [e.key for e in again.list("/").entries] == ["/a/0", "/a/1"]
    await again.close()


async def test_an_optimistic_write_behind_a_failed_one_is_checked_against_what_is_kept(store: SqliteStore) -> None:
    at = await store.put("/a/0", b"0")
    fill(store._disk)
    failing = asyncio.ensure_future(store.put("/a/0", TOO_BIG))
    await asyncio.sleep(0)
    behind = asyncio.ensure_future(store.put("/a/0", b"1", at))
    with pytest.raises(StoreFailed):
        await failing
    free(store._disk)
    assert await behind > at


async def test_a_compaction_that_the_disk_refuses_forgets_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = await store.put("/a/0", b"0")
    at = await store.put("/a/0", b"1")

    def refuse(doomed: object, revision: int) -> None:
        raise StoreFailed("broken")

    with monkeypatch.context() as patch:
        patch.setattr(store._disk, "compact", refuse)
        with pytest.raises(StoreFailed):
            await store.compact(at)
    assert store.list("/a/", revision=old).entries[0].value == b"0"
    await store.compact(at)
    with pytest.raises(Compacted):
        store.list("/a/", revision=old)


async def test_a_compacted_file_has_one_row_a_living_key(store: SqliteStore) -> None:
    for _ in range(3):
        await store.put("/a/gone", b"v")
        await store.put("/a/kept", b"v")
        await store.put("/a/gone", None)
    await store.compact(store.revision)
    assert [key for _, key, _, _ in store._disk.read()] == ["/a/kept"]


async def test_a_caller_that_is_cancelled_leaves_the_store_in_order(store: SqliteStore) -> None:
    writing = asyncio.ensure_future(store.put("/a/0", b"0"))
    await asyncio.sleep(0)
    writing.cancel()
    assert await asyncio.gather(writing, return_exceptions=True) != []
    with pytest.raises(Conflict):
        await store.put("/a/0", b"1", ABSENT)
    entry = store.get("/a/0")
    assert entry is not None
    assert entry.value == b"0"


async def test_what_is_not_durable_yet_is_not_read(store: SqliteStore) -> None:
    at = store.revision
    writing = asyncio.ensure_future(store.put("/a/0", b"0"))
    await asyncio.sleep(0)
    assert store.get("/a/0") is None
    assert store.revision == at
    await writing
    assert store.get("/a/0") is not None


async def test_writes_that_come_together_share_a_commit(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    append = store._disk.append

    def counted(rows: list[object]) -> None:
        sizes.append(len(rows))
        append(rows)  # type: ignore[arg-type]

    monkeypatch.setattr(store._disk, "append", counted)
    await asyncio.gather(*(store.put(f"/a/{i}", b"v") for i in range(BATCH + 44)))
    assert sizes == [BATCH, 44]


async def test_a_second_opener_is_told_which_file_is_in_use(store: SqliteStore, path: Path) -> None:
    with pytest.raises(KumiError, match=f"{path}.lock: the store is in use by another process"):
        SqliteStore.open(path)
    await store.close()
    again = SqliteStore.open(path)
    await again.close()


async def test_closing_waits_for_the_writes_on_their_way(path: Path) -> None:
    store = SqliteStore.open(path)
    writing = asyncio.ensure_future(store.put("/a/0", b"0"))
    await asyncio.sleep(0)
    await store.close()
    at = await writing
    again = SqliteStore.open(path)
    assert again.get("/a/0") == ("/a/0", b"0", at, at)
    await again.close()


WRITERS = """
import asyncio, os, sys
from kumi.store.sqlite import SqliteStore

async def main(path, round_):
    store = SqliteStore.open(path)

    async def work(worker):
        key = f"/{round_}/{worker}"
        for i in range(1, 100_000):
            revision = await store.put(key, None if i % 7 == 0 else str(i).encode())
            os.write(1, f"{worker} {i} {revision}\\n".encode())
            if worker == 0 and i % 10 == 0:
                await store.compact_keep(20)

    await asyncio.gather(*(work(w) for w in range(8)))

for line in sys.stdin:
    path, round_ = line.split()
    child = os.fork()
    if not child:
        os.write(1, f"pid {os.getpid()}\\n".encode())
        asyncio.run(main(path, round_))
    os.waitpid(child, 0)
    os.write(1, b"end\\n")
"""
"""Reads lines of (file, round) and has a child write to that file until somebody kills it; says every acknowledged write."""

KILLS = 200


class Writers:
    """Children that write until they are killed."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, "-c", WRITERS], stdin=pipe, stdout=pipe, bufsize=0)
        assert self.process.stdin
        assert self.process.stdout
        self._in, self._out = self.process.stdin, io.BufferedReader(self.process.stdout)

    def until_killed(self, path: Path, round_: int, after_s: float) -> list[tuple[int, int, int]]:
        """Every (worker, its count, revision) that one had acknowledged when it was killed, so long after its start."""
        self._in.write(f"{path} {round_}\n".encode())
        said, pid = self._out.readline().split()
        assert said == b"pid"
        threading.Timer(after_s, os.kill, (int(pid), signal.SIGKILL)).start()
        acknowledged = []
        for line in iter(self._out.readline, b"end\n"):
            worker, count, revision = (int(word) for word in line.split())
            acknowledged.append((worker, count, revision))
        return acknowledged

    def close(self) -> None:
        self._in.close()
        self._out.close()
        self.process.wait()


def value_after(count: int) -> bytes | None:
    return None if count == 0 or count % 7 == 0 else str(count).encode()


@pytest.mark.process
async def test_no_acknowledged_write_is_lost_whenever_the_process_is_killed(path: Path) -> None:
    """After each kill a worker's key is as its last acknowledged write left it, or one write further (done, not told)."""
    chance = random.Random(20)
    newest, told = 0, 0
    settled: dict[str, bytes | None] = {}
    with contextlib.closing(Writers()) as writers:
        for round_ in range(KILLS):
            acknowledged = writers.until_killed(path, round_, chance.uniform(0.002, 0.06))
            told += len(acknowledged)
            revisions = [revision for _, _, revision in acknowledged]
            assert len(set(revisions)) == len(revisions)
            assert min(revisions, default=newest + 1) > newest, "none is used again"
            newest = max(revisions, default=newest)

            store = SqliteStore.open(path)
            assert store.revision >= newest
            for worker in range(8):
                key = f"/{round_}/{worker}"
                entry = store.get(key)
                value = None if entry is None else entry.value
                last = max((count for w, count, _ in acknowledged if w == worker), default=0)
                assert value in (value_after(last), value_after(last + 1))
                settled[key] = value
            there = {each.key: each.value for each in store.list("/").entries}
            assert there == {key: value for key, value in settled.items() if value is not None}
            newest = store.revision
            await store.close()
    assert told > KILLS, "most of them wrote before they were killed"
