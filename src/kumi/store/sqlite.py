"""The durable store: writes queue up, one thread commits them in groups, reads never leave the memory.

The way of a write:
    1. `put` checks it against the newest state of its key and gives it the next revision. While another write of the
       same key is on its way, an optimistic write (`expected`) waits for that one's end first: nobody can have read a
       revision that isn't durable, and who gets a Conflict must find the winner when reading again. A blind write
       follows the one on its way.
    2. It joins the queue. One batch at a time goes to the thread, so what queues up meanwhile shares the next commit.
    3. Committed: readers and watchers see the batch in order of revision, then its callers are answered.
    4. Refused (disk full, broken): the batch and all that is queued behind it fail with StoreFailed, since some of
       it was checked against what now never happened. Their revisions are given to nobody else. What comes later is
       checked against the durable state and works as soon as the disk does.

Cost       one fsync a batch: 64 writes a commit are 4 to 30 times as fast as one.
Measures   commits, how many writes share one and how long it takes, what failed, compactions, the size of the file.
Not here   the file: disk.py; reading, history: ledger.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kumi.api.measures import Family, FamilyKind, Histogram, Sample, one
from kumi.store.base import ABSENT, Entry, StoreFailed
from kumi.store.disk import Disk, Row
from kumi.store.ledger import Ledger, Written, created_by, require
from kumi.store.watch import BOUND

BATCH = 128
"""Writes in one commit, at most: enough to hide the fsync, few enough that one commit stays short and that their values
fit into one statement of any SQLite (999 of them)."""

WRITES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
SECONDS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.0, 2.0, 4.0, 8.0)
"""bounds of what a commit holds, and of how long it takes"""


@dataclass(eq=False, slots=True)
class _Put:
    """A write on its way. `done` is set to what went wrong, or to None once durable; it is never an exception."""

    written: Written
    previous: int
    done: asyncio.Future[StoreFailed | None]

    def row(self) -> Row:
        revision, key, _, after = self.written
        if after is None:
            return Row(revision, key, self.previous, 0, None)
        return Row(revision, key, self.previous, after.created, after.value)


class SqliteStore(Ledger):
    """See kumi.store.base.Store. Belongs to the event loop of its first write."""

    def __init__(self, disk: Disk, bound: int = BOUND) -> None:
        """Loads everything that `disk` has, and owns it from now on. `open` is the usual way."""
        super().__init__(bound)
        self._disk = disk
        self._restore(disk.read(), disk.compacted(), disk.newest())
        self._given = self._revision
        self._graves = {w.key: w.revision for w in self._log if w.after is None and w.key not in self._live}
        self._queue: list[_Put] = []
        self._newest: dict[str, _Put] = {}
        self._flusher: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._compacting = asyncio.Lock()
        self._closed = False
        self._released = False
        self._sizes, self._seconds = Histogram(WRITES), Histogram(SECONDS)
        self._failed = self._compactions = 0

    @classmethod
    def open(cls, path: str | Path, bound: int = BOUND) -> SqliteStore:
        """The store in that file, made if it is not there. KumiError: in use, newer schema, damaged, no permission."""
        disk = Disk(Path(path))
        try:
            with _collector_paused():
                return cls(disk, bound)
        except BaseException:
            disk.close()
            raise

    async def put(self, key: str, value: bytes | None, expected: int | None = None) -> int:
        """See Store. A caller that is cancelled doesn't know whether its write was done."""
        while expected is not None and key in self._newest:
            await asyncio.wait([self._newest[key].done])
        if self._closed:
            raise StoreFailed("the store is closed")
        before, previous = self._head(key)
        require(key, value, expected, before)
        self._given += 1
        written = Written(self._given, key, before, created_by(key, before, value, self._given))
        put = _Put(written, previous, asyncio.get_running_loop().create_future())
        self._queue.append(put)
        self._newest[key] = put
        if self._flusher is None:
            self._flusher = asyncio.create_task(self._flush(), name="store-flush")
        failed = await asyncio.shield(put.done)
        if failed is not None:
            raise StoreFailed(str(failed))
        return written.revision

    def _head(self, key: str) -> tuple[Entry | None, int]:
        """What a write of the key follows: the entry, and the revision of its row (a deletion has one, too)."""
        if key in self._newest:
            newest = self._newest[key].written
            return newest.after, newest.revision
        entry = self._live.get(key)
        return entry, self._graves.get(key, ABSENT) if entry is None else entry.revision

    async def _flush(self) -> None:
        """Commits batch after batch until the queue is empty."""
        loop = asyncio.get_running_loop()
        batch: list[_Put] = []
        try:
            while self._queue:
                batch, self._queue = self._queue[:BATCH], self._queue[BATCH:]
                begun = time.monotonic()
                try:
                    await loop.run_in_executor(self._thread, self._disk.append, [put.row() for put in batch])
                except StoreFailed as failed:
                    batch, self._queue = batch + self._queue, []
                    self._failed += len(batch)
                    self._settle(batch, failed)
                else:
                    self._sizes.observe(len(batch))
                    self._seconds.observe(time.monotonic() - begun)
                    self._commit(batch)
                    self._settle(batch, None)
                batch = []
        except BaseException:
            self._closed = True
            self._settle(batch + self._queue, StoreFailed("the store was stopped in the middle of a commit"))
            raise
        finally:
            self._flusher = None

    def _commit(self, batch: list[_Put]) -> None:
        for put in batch:
            if put.written.after is None:
                self._graves[put.written.key] = put.written.revision
            else:
                self._graves.pop(put.written.key, None)
        self._publish([put.written for put in batch])

    def _settle(self, batch: list[_Put], failed: StoreFailed | None) -> None:
        for put in batch:
            if self._newest.get(put.written.key) is put:
                del self._newest[put.written.key]
            if not put.done.done():
                put.done.set_result(failed)

    async def compact(self, revision: int) -> None:
        """See Store. StoreFailed: nothing is forgotten."""
        async with self._compacting:
            at = min(revision, self.revision)
            if self._closed or at <= self.compacted:
                return
            doomed = [r for w in self._doomed(at) for r in _replaced(w)]
            await asyncio.get_running_loop().run_in_executor(self._thread, self._disk.compact, doomed, at)
            self._compactions += 1
            self._forget(at)
            self._graves = {key: r for key, r in self._graves.items() if r > at}

    async def compact_keep(self, n: int) -> None:
        """Compacts all but the newest `n` writes."""
        await self.compact(self._kept(n))

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        size = (Sample(("kumi",), self._disk.size),)
        told = "Bytes of the database, its journal included."
        yield Family("apiserver_storage_size_bytes", told, "gauge", ("storage_cluster_id",), size)
        numbers: tuple[tuple[str, str, FamilyKind, float | Histogram], ...] = (
            ("commits_total", "Groups of writes that were made durable.", "counter", self._sizes.count),
            ("commit_writes", "How many writes shared a commit.", "histogram", self._sizes),
            ("commit_duration_seconds", "How long a commit took.", "histogram", self._seconds),
            ("failed_writes_total", "Writes that the disk refused.", "counter", self._failed),
            ("queued_writes", "Writes that wait for the next commit.", "gauge", len(self._queue)),
            ("compactions_total", "How often old revisions were forgotten.", "counter", self._compactions),
            ("compacted_revision", "The oldest revision that is kept.", "gauge", self.compacted),
            ("revision", "The newest revision.", "gauge", self.revision),
            ("keys", "Objects that are stored.", "gauge", len(self._live)),
            ("watchers", "Watches that are open.", "gauge", len(self._hub)),
        )
        for name, help, kind, value in numbers:
            yield one(f"kumi_store_{name}", help, kind, value)

    async def close(self) -> None:
        """Waits for the writes on their way, ends every watch, and gives up the file. May be called twice."""
        self._closed = True
        if self._flusher is not None:
            await asyncio.wait([self._flusher])
        async with self._compacting:
            if not self._released:
                self._released = True
                await asyncio.get_running_loop().run_in_executor(self._thread, self._disk.close)
                self._thread.shutdown()
                self._hub.close()


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Loading makes nothing but live objects: collecting meanwhile doubles its time (0.3 s for 100,000 objects)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _replaced(written: Written) -> list[int]:
    """The rows that a write makes superfluous: the one that it replaced, and its own if it is a deletion."""
    rows = [] if written.before is None else [written.before.revision]
    return [*rows, written.revision] if written.after is None else rows
