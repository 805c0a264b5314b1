"""What every store keeps in memory: the newest value of each key, and each write since the last compaction.

`live` maps a key to its newest entry and `keys` has the same keys in order, so a read never touches a disk and a page of
a list is a slice. `log` has one record a write with the entry before and after it, so that

    the state at revision r  =  the newest state with each write after r undone, newest first
    the changes after r      =  the tail of the log

as long as r >= the compacted revision. Values are held once: the log and the live map share the bytes.

Cost       get O(1); put O(log n) and one memmove of the key list for a new key; list O(log n + page), and at an older
           revision O(writes since) more; compaction O(writes dropped).
Not here   whether a write is allowed and when it is durable: memory.py, sqlite.py. Who hears of it: watch.py.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from kumi.store.base import ABSENT, Change, Compacted, Conflict, Entry, FutureRevision, Page
from kumi.store.watch import BOUND, Hub, Watcher

FIRST = 1
"""The revision of an empty store."""


class Written(NamedTuple):
    """One write: the key's entry before it (None: a creation) and after it (None: a deletion)."""

    revision: int
    key: str
    before: Entry | None
    after: Entry | None

    def change(self) -> Change:
        """As watchers see it."""
        value = None if self.after is None else self.after.value
        previous = None if self.before is None else self.before.value
        return Change(self.revision, self.key, value, previous)


Entries: TypeAlias = list[Entry]

BY_REVISION = attrgetter("revision")


class Ledger:
    """See the module. The reading half of kumi.store.base.Store."""

    def __init__(self, bound: int = BOUND) -> None:
        self._live: dict[str, Entry] = {}
        self._keys: list[str] = []
        self._log: list[Written] = []
        self._revision = FIRST
        self._compacted = 0
        self._hub = Hub(bound)

    @property
    def revision(self) -> int:
        """See Store."""
        return self._revision

    @property
    def compacted(self) -> int:
        """The oldest revision that can be listed or watched from; 0 if nothing was compacted yet."""
        return self._compacted

    def get(self, key: str) -> Entry | None:
        """See Store."""
        return self._live.get(key)

    def list(self, prefix: str, *, limit: int = 0, after: str = "", revision: int = 0) -> Page:
        """See Store."""
        at = revision or self._revision
        self._check_kept(at)
        undone = self._undone_since(at, prefix, after)
        low, high = self._range(prefix, after)
        if undone:
            entries, total = self._merged(low, high, undone, limit)
        else:
            total = high - low
            stop = min(high, low + limit) if limit else high
            entries = [self._live[key] for key in self._keys[low:stop]]
        return Page(entries, at, len(entries) < total, total - len(entries))

    def watch(self, prefix: str, after: int) -> Watcher:
        """See Store. A revision in the future is waited for."""
        if after < self._compacted:
            raise Compacted(after, self._compacted)
        tail = self._log[bisect_right(self._log, after, key=BY_REVISION) :]
        return self._hub.watch(prefix, after, (w.change() for w in tail if w.key.startswith(prefix)))

    def _range(self, prefix: str, after: str) -> tuple[int, int]:
        """Where the keys under `prefix` and past `after` stand."""
        keys = self._keys
        low = bisect_right(keys, after) if after >= prefix else bisect_left(keys, prefix)
        if not prefix:
            return low, len(keys)
        if low == len(keys) or not keys[low].startswith(prefix):
            return low, low
        return low, bisect_left(keys, end_of(prefix), low)

    def _check_kept(self, revision: int) -> None:
        if revision < self._compacted:
            raise Compacted(revision, self._compacted)
        if revision > self._revision:
            raise FutureRevision(revision, self._revision)

    def _undone_since(self, revision: int, prefix: str, after: str) -> dict[str, Entry | None]:
        """The keys under `prefix` and past `after` that were written after `revision`, each with its entry back then."""
        undone: dict[str, Entry | None] = {}
        for written in reversed(self._log):
            if written.revision <= revision:
                break
            if written.key > after and written.key.startswith(prefix):
                undone[written.key] = written.before
        return undone

    def _merged(self, low: int, high: int, undone: dict[str, Entry | None], limit: int) -> tuple[Entries, int]:
        """The first `limit` entries of keys[low:high] with `undone` laid over them, and how many there are in all."""
        old = {key: entry for key, entry in undone.items() if entry is not None}
        total = high - low - sum(1 for key in undone if key in self._live) + len(old)
        unchanged = (key for key in islice(self._keys, low, high) if key not in undone)
        keys = heapq.merge(unchanged, sorted(old))
        return [old.get(key) or self._live[key] for key in islice(keys, limit or None)], total

    def _publish(self, writes: Sequence[Written]) -> None:
        """Makes durable writes visible, in order, to readers and then to watchers."""
        for written in writes:
            self._apply(written)
        self._hub.publish([w.change() for w in writes])

    def _apply(self, written: Written) -> None:
        key = written.key
        if written.after is None:
            del self._live[key]
            del self._keys[bisect_left(self._keys, key)]
        else:
            if key not in self._live:
                insort(self._keys, key)
            self._live[key] = written.after
        self._log.append(written)
        self._revision = written.revision

    def _restore(self, rows: Iterable[tuple[int, str, int, bytes | None]], compacted: int, revision: int) -> None:
        """Fills an empty ledger from rows (revision, key, created, value) in order of revision.

        `revision` is the newest that was ever given out: its row may have been a deletion that is compacted."""
        live = self._live
        for number, key, created, value in rows:
            before = live.get(key)
            after = None if value is None else Entry(key, value, number, created)
            if after is None:
                live.pop(key, None)
            else:
                live[key] = after
            if number > compacted:
                self._log.append(Written(number, key, before, after))
        self._keys = sorted(live)
        self._compacted = compacted
        self._revision = max(revision, FIRST)

    def _doomed(self, revision: int) -> Sequence[Written]:
        """The writes that a compaction at `revision` drops from the log."""
        return self._log[: bisect_right(self._log, revision, key=BY_REVISION)]

    def _forget(self, revision: int) -> None:
        """Drops them; from now on nothing older than `revision` can be asked for."""
        del self._log[: bisect_right(self._log, revision, key=BY_REVISION)]
        self._compacted = max(self._compacted, revision)

    def _kept(self, n: int) -> int:
        """The revision at which a compaction keeps the newest `n` writes; 0 if there are no more than that."""
        return self._log[-n - 1].revision if len(self._log) > n else 0


def require(key: str, value: bytes | None, expected: int | None, before: Entry | None) -> None:
    """Conflict unless a put of `value` (None deletes) may follow `before`."""
    actual = ABSENT if before is None else before.revision
    if expected is not None and expected != actual:
        raise Conflict(key, expected, actual)
    if value is None and before is None:
        raise Conflict(key, None, ABSENT)


def created_by(key: str, before: Entry | None, value: bytes | None, revision: int) -> Entry | None:
    """The entry of a key after a write at `revision`; None for a deletion."""
    if value is None:
        return None
    return Entry(key, value, revision, revision if before is None else before.created)


def end_of(prefix: str) -> str:
    """The smallest string that is greater than every key under `prefix` (which ends in `/`)."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
