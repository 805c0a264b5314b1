"""Fan-out: every change to every watcher whose prefix it has, once, in order, without waiting for anybody.

Each watcher has its own queue. A reader that lets more than its bound pile up is cut off with Lagging rather than served
an incomplete story or allowed to fill the memory: it lists again and watches from there, as after a Compacted.
What a watch replays at its start does not count against its bound.

The hub holds watchers weakly: a watch whose reader went away without a word is forgotten with it.

Cost       O(levels of its key + watchers that match) a change; a change is one tuple, shared by all queues.
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
        while not self._ready:
            if self._error is not None:
                raise self._error
            if self._ended:
                raise StopAsyncIteration
            if self._waiter is not None:
                raise RuntimeError("two tasks read one watch")
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._ready.popleft()

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

    def push(self, change: Change) -> None:
        """One more change, unless it is older than what the reader asked for; cuts it off if too many wait."""
        if change.revision <= self._after:
            return
        if len(self._ready) >= self._bound:
            self._error = Lagging(f"the watcher is {len(self._ready)} changes behind; list again and watch from there")
            self._ready.clear()
        else:
            self._ready.append(change)
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
        for change in changes:
            for prefix in prefixes_of(change.key):
                watchers = self._by_prefix.get(prefix)
                if watchers is not None:
                    self._tell(watchers, change)
                    if not watchers:
                        del self._by_prefix[prefix]

    @staticmethod
    def _tell(watchers: weakref.WeakValueDictionary[int, Watcher], change: Change) -> None:
        for number, watcher in list(watchers.items()):
            if not watcher.over:
                watcher.push(change)
            if watcher.over:
                del watchers[number]

    def close(self) -> None:
        """Ends every watch."""
        self._closed = True
        for watchers in self._by_prefix.values():
            for watcher in list(watchers.values()):
                watcher.end()
        self._by_prefix.clear()
