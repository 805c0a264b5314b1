"""A store that forgets everything at its end: for tests, the time machine and a cluster that is thrown away.

Every write is "durable" at once, so revisions, conflicts, watches and compaction are the whole of it. It passes the same
conformance suite as sqlite.py.
"""

from __future__ import annotations

from kumi.store.base import StoreFailed
from kumi.store.ledger import Ledger, Written, created_by, require


class MemoryStore(Ledger):
    """See kumi.store.base.Store."""

    _closed = False

    async def put(self, key: str, value: bytes | None, expected: int | None = None) -> int:
        """See Store."""
        if self._closed:
            raise StoreFailed("the store is closed")
        before = self.get(key)
        require(key, value, expected, before)
        revision = self.revision + 1
        self._publish([Written(revision, key, before, created_by(key, before, value, revision))])
        return revision

    async def compact(self, revision: int) -> None:
        """See Store."""
        self._forget(min(revision, self.revision))

    async def compact_keep(self, n: int) -> None:
        """Compacts all but the newest `n` writes."""
        await self.compact(self._kept(n))

    async def close(self) -> None:
        """Ends every watch; writes are refused from now on."""
        self._closed = True
        self._hub.close()
