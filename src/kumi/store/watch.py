"""Fan-out: every change to every watcher whose prefix it has, once, in order, without waiting for anybody.

Each watcher has its own queue. A reader that lets more than its bound pile up is cut off with Lagging rather than served
an incomplete story or allowed to fill the memory: it lists again and watches from there, as after a Compacted.
What a watch replays at its start does not count against its bound.

The hub holds watchers weakly: a watch whose reader went away without a word is forgotten with it.

Cost       O(levels of its key) a change, and O(1) a watcher for all that one commit has for it, but for the queue's own copying;
           a change is one tuple, shared by all queues.
Not here   which changes are replayed: ledger.py.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count

from kumi.store.base import Change, Lagging

BOUND = 10_000
"""Changes that a watcher may let pile up."""


class Watcher:
    """One reader's queue; see kumi.store.base.Watch. One task at a time may wait for the next change."""

    __slots__ = ("__weakref__", "_after", "_bound", "_ended", "_error", "_ready", "_waiter")

    def __init__(self, after: int, replay: Iterable[Change], bound: int) -> None:
        self._after = after
        self._ready = deque(replay)
        self._bound = bound + len(self._ready)
        self._waiter: asyncio.Future[None] | None = None
        self._error: Lagging | None = None
        self._ended = False

    def __aiter__(self) -> Watcher:
        return self

    async def __anext__(self) -> Change:
        if not await self._is_there():
            raise StopAsyncIteration
        return self._ready.popleft()

    async def some(self) -> list[Change]:
        """See kumi.store.base.Watch."""
        return self.take() if self._ready or await self._is_there() else []

    async def _is_there(self) -> bool:
        """Waits until a change can be read; False if none will come. Lagging."""
        while not self._ready:
            if self._error is not None:
                raise self._error
            if self._ended:
                return False
            if self._waiter is not None:
                raise RuntimeError("two tasks read one watch")
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return True

    def take(self) -> list[Change]:
        """See kumi.store.base.Watch."""
        if self._error is not None:
            raise self._error
        ready = list(self._ready)
        self._ready.clear()
        return ready

    async def aclose(self) -> None:
        """See kumi.store.base.Watch."""
        self._ready.clear()
        self.end()

    @property
    def over(self) -> bool:
        """Whether no more changes are wanted."""
        return self._ended or self._error is not None

    def push(self, changes: Sequence[Change]) -> None:
        """More changes, but for those that are older than what the reader asked for; cuts it off if too many wait."""
        if changes[0].revision <= self._after:
            changes = [change for change in changes if change.revision > self._after]
        if len(self._ready) + len(changes) > self._bound:
            self._error = Lagging(f"the watcher is {self._bound} changes behind; list again and watch from there")
            self._ready.clear()
        else:
            self._ready.extend(changes)
        self._wake()

    def end(self) -> None:
        """No change will come any more; what waits is still read."""
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def prefixes_of(key: str) -> list[str]:
    """What a watch of this key may ask for, the shortest first: `/a/b` has "" (everything), `/`, `/a/`."""
    return ["", *(key[: place + 1] for place, letter in enumerate(key) if letter == "/")]


class Hub:
    """The watchers of a store, by prefix."""

    def __init__(self, bound: int = BOUND) -> None:
        self._bound = bound
        self._ids = count()
        self._by_prefix: dict[str, weakref.WeakValueDictionary[int, Watcher]] = {}
        self._closed = False

    def __len__(self) -> int:
        return sum(len(watchers) for watchers in self._by_prefix.values())

    def watch(self, prefix: str, after: int, replay: Iterable[Change]) -> Watcher:
        """A new watcher that starts with `replay`, the changes under `prefix` with revision > `after` so far."""
        watcher = Watcher(after, replay, self._bound)
        if self._closed:
            watcher.end()
        else:
            self._by_prefix.setdefault(prefix, weakref.WeakValueDictionary())[next(self._ids)] = watcher
        return watcher

    def publish(self, changes: Sequence[Change]) -> None:
        """Hands each change to those who watch its prefix; forgets those who are gone."""
        told: dict[str, list[Change]] = {}
        for change in changes:
            for prefix in prefixes_of(change.key):
                if prefix in self._by_prefix:
                    told.setdefault(prefix, []).append(change)
        for prefix, theirs in told.items():
            watchers = self._by_prefix[prefix]
            self._tell(watchers, theirs)
            if not watchers:
                del self._by_prefix[prefix]

    @staticmethod
    def _tell(watchers: weakref.WeakValueDictionary[int, Watcher], changes: Sequence[Change]) -> None:
        gone = False
        for reference in watchers.valuerefs():
            watcher = reference()
            if watcher is not None:
                if not watcher.over:
                    watcher.push(changes)
                gone = gone or watcher.over
        if gone:
            for number in [number for number, watcher in watchers.items() if watcher.over]:
                del watchers[number]

    def close(self) -> None:
        """Ends every watch."""
        self._closed = True
        for watchers in self._by_prefix.values():
            for watcher in list(watchers.values()):
                watcher.end()
        self._by_prefix.clear()
