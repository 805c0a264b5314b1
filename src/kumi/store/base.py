"""The store's seam: revisions and bytes, no kinds.

The model is etcd's: one counter of revisions for the whole store; every write gets the next one; a key's value is known
by the revision that wrote it. A write is acknowledged only when it is durable. Reads see acknowledged writes only.
An empty store is at revision 1, as etcd's is, so that 0 can mean "none" (ABSENT) and "whatever is newest" (list).

Invariants (a state machine test holds every implementation to them):
    no revision is used twice, and a later acknowledgement never has a smaller revision;
    `expected` is compared and set at one moment, so of two writers that read the same revision one gets a Conflict;
    a watcher sees every change after its revision once, in order of revision, or is told Compacted or Lagging.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple, Protocol

from kumi.api.errors import KumiError

ABSENT = 0
"""`expected` of a create: the key must not be there."""


class Conflict(KumiError):
    """The key is not at the expected revision; `actual` is where it is (0: absent).

    `expected` is None where any revision would have done: there is nothing to delete."""

    def __init__(self, key: str, expected: int | None, actual: int) -> None:
        wanted = "something to delete" if expected is None else f"revision {expected}"
        super().__init__(f"{key}: expected {wanted}, found {actual or 'nothing'}")
        self.key, self.expected, self.actual = key, expected, actual


class Compacted(KumiError):
    """The revision asked for is no longer kept; `oldest` is."""

    def __init__(self, revision: int, oldest: int) -> None:
        super().__init__(f"revision {revision} is compacted, the oldest kept is {oldest}")
        self.revision, self.oldest = revision, oldest


class FutureRevision(KumiError):
    """The revision asked for was not given out yet; `newest` is."""

    def __init__(self, revision: int, newest: int) -> None:
        super().__init__(f"revision {revision} is in the future, the newest is {newest}")
        self.revision, self.newest = revision, newest


class Lagging(KumiError):
    """A watcher let more than its bound of events pile up and is cut off."""


class StoreFailed(KumiError):
    """The disk refused a write (full, broken): nothing of it is kept, and no later write may jump over it."""


class Entry(NamedTuple):
    """A key's value as of `revision`, the write that made it; `created` is the revision of its first write."""

    key: str
    value: bytes
    revision: int
    created: int


class Page(NamedTuple):
    """Entries of a prefix in key order as of `revision`. `more`: the limit cut it; `remaining`: how many are left."""

    entries: list[Entry]
    revision: int
    more: bool
    remaining: int


class Change(NamedTuple):
    """One write seen by a watcher. `value` is None for a deletion, `previous` None for a creation."""

    revision: int
    key: str
    value: bytes | None
    previous: bytes | None


class Watch(Protocol):
    """An iterator of changes in order. When the store closes, the iteration ends."""

    def __aiter__(self) -> AsyncIterator[Change]: ...

    async def __anext__(self) -> Change:
        """The next change, waited for. Lagging."""
        ...

    async def some(self) -> list[Change]:
        """The next changes, as many as there are, at least one of them waited for; none when no more will come. Lagging."""
        ...

    def take(self) -> list[Change]:
        """All changes up to the store's revision that were not read yet, without waiting. Lagging."""
        ...

    def end(self) -> None:
        """No change will come any more; what waits is still read."""
        ...

    async def aclose(self) -> None:
        """Ends the watch at once, whoever waits on it included. A watch that nobody holds any more ends by itself."""
        ...


class Store(Protocol):
    """Revisions and bytes. Keys are `/`-separated paths; a prefix ends in `/`."""

    @property
    def revision(self) -> int:
        """The newest acknowledged revision."""
        ...

    def get(self, key: str) -> Entry | None:
        """The newest acknowledged value."""
        ...

    def list(self, prefix: str, *, limit: int = 0, after: str = "", revision: int = 0) -> Page:
        """Entries under `prefix` with key > `after`, at most `limit` (0: all), as of `revision` (0: newest).

        Compacted if that revision is no longer kept, FutureRevision if it is not there yet."""
        ...

    async def put(self, key: str, value: bytes | None, expected: int | None = None) -> int:
        """Writes (None deletes) and returns the new revision once durable. `expected`: the key's revision, ABSENT for
        a create, None for whatever is there. Conflict, StoreFailed; a deletion of what is absent is a Conflict."""
        ...

    def watch(self, prefix: str, after: int) -> Watch:
        """Every change under `prefix` with revision > `after`, then those to come. Registered by the call, which
        raises Compacted."""
        ...

    async def compact(self, revision: int) -> None:
        """Forgets what is older than `revision`: values that a newer write replaced, and deletions.

        Lists at `revision` and watches after it still work. More than the newest revision means the newest."""
        ...
