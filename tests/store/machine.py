"""A store against a plain list of everything that was written: any order of writes, reads, watches and compactions."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kumi.store.base import ABSENT, Change, Compacted, Conflict, FutureRevision, Store, Watch

from .suite import is_quiet, take

T = TypeVar("T")

KEYS = st.sampled_from(["/a/1", "/a/2", "/a/3", "/ab/1", "/b/1"])
PREFIXES = st.sampled_from(["/a/", "/ab/", "/b/", "/c/", "/", ""])
VALUES = st.binary(max_size=3)
BACK = st.integers(0, 12)
"""How many revisions back a reader asks for."""


class StoreMachine(RuleBasedStateMachine):
    """The model is `history`: (revision, key, value or None) of every acknowledged write."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.store: Store = self.open()
        self.history: list[tuple[int, str, bytes | None]] = []
        self.first = self.store.revision
        self.compacted = 0
        self.watches: list[tuple[Watch, str, int]] = []

    def open(self) -> Store:
        """The store under test."""
        raise NotImplementedError

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @property
    def newest(self) -> int:
        return self.history[-1][0] if self.history else self.first

    def state(self, at: int) -> dict[str, tuple[bytes, int, int]]:
        """key -> (value, revision, created) as of a revision."""
        state: dict[str, tuple[bytes, int, int]] = {}
        for revision, key, value in self.history:
            if revision > at:
                break
            if value is None:
                state.pop(key, None)
            else:
                state[key] = (value, revision, state[key][2] if key in state else revision)
        return state

    def changes(self, prefix: str, after: int) -> list[Change]:
        last: dict[str, bytes] = {}
        found = []
        for revision, key, value in self.history:
            if revision > after and key.startswith(prefix):
                found.append(Change(revision, key, value, last.get(key)))
            last.pop(key, None)
            if value is not None:
                last[key] = value
        return found

    def write(self, key: str, value: bytes | None, expected: int | None) -> None:
        actual = self.state(self.newest).get(key, (b"", ABSENT, ABSENT))[1]
        if (expected is not None and expected != actual) or (value is None and actual == ABSENT):
            with pytest.raises(Conflict) as caught:
                self.run(self.store.put(key, value, expected))
            assert caught.value.actual == actual
            return
        revision = self.run(self.store.put(key, value, expected))
        assert revision > self.newest
        self.history.append((revision, key, value))

    @initialize()
    def start(self) -> None:
        assert self.store.revision == self.newest

    @rule(key=KEYS, value=VALUES | st.none())
    def blind(self, key: str, value: bytes | None) -> None:
        self.write(key, value, None)

    @rule(key=KEYS, value=VALUES | st.none())
    def current(self, key: str, value: bytes | None) -> None:
        self.write(key, value, self.state(self.newest).get(key, (b"", ABSENT, ABSENT))[1])

    @rule(key=KEYS, value=VALUES | st.none(), back=BACK)
    def stale(self, key: str, value: bytes | None, back: int) -> None:
        self.write(key, value, max(0, self.newest - back))

    @rule(values=st.lists(VALUES, min_size=1, max_size=4), first=KEYS)
    def together(self, values: list[bytes], first: str) -> None:
        async def all_at_once() -> list[int]:
            return list(await asyncio.gather(*(self.store.put(first, v) for v in values), self.store.put("/b/2", b"")))

        revisions = self.run(all_at_once())
        assert sorted(set(revisions)) == revisions
        self.history += [(r, first, v) for r, v in zip(revisions, values, strict=False)]
        self.history.append((revisions[-1], "/b/2", b""))

    @rule(prefix=PREFIXES, back=BACK, limit=st.integers(0, 3), after=KEYS | st.just(""))
    def lists(self, prefix: str, back: int, limit: int, after: str) -> None:
        at = self.newest - back
        if at < self.compacted or at <= 0:
            return
        page = self.store.list(prefix, limit=limit, after=after, revision=at)
        wanted = [(k, v, r, c) for k, (v, r, c) in sorted(self.state(at).items()) if k.startswith(prefix) and k > after]
        shown = wanted[:limit] if limit else wanted
        assert page == (shown, at, len(shown) < len(wanted), len(wanted) - len(shown))

    @rule(prefix=PREFIXES, back=BACK)
    def watch(self, prefix: str, back: int) -> None:
        after = max(0, self.newest - back)
        if after < self.compacted:
            with pytest.raises(Compacted):
                self.store.watch(prefix, after)
        else:
            self.watches.append((self.store.watch(prefix, after), prefix, after))

    @rule(back=BACK)
    def compact(self, back: int) -> None:
        at = self.newest - back
        self.run(self.store.compact(at))
        self.compacted = max(self.compacted, at)

    @rule(back=BACK)
    def refuses_what_is_gone_or_to_come(self, back: int) -> None:
        with pytest.raises(FutureRevision):
            self.store.list("/", revision=self.newest + 1 + back)
        if self.compacted - back - 1 > 0:
            with pytest.raises(Compacted):
                self.store.list("/", revision=self.compacted - back - 1)

    @rule()
    def drain(self) -> None:
        """Every watch has seen every change after its revision once, in order, and nothing else."""
        for watch, prefix, after in self.watches:
            wanted = self.changes(prefix, after)
            assert self.run(take(watch, len(wanted))) == wanted
            assert self.run(is_quiet(watch))
        self.watches = [(watch, prefix, self.newest) for watch, prefix, _ in self.watches]

    @invariant()
    def reads_are_of_the_newest_acknowledged_state(self) -> None:
        assert self.store.revision == self.newest
        state = self.state(self.newest)
        for key in ("/a/1", "/a/2", "/ab/1", "/b/1"):
            entry = self.store.get(key)
            assert (None if entry is None else (entry.value, entry.revision, entry.created)) == state.get(key)

    def teardown(self) -> None:
        self.drain()
        self.run(self.store.close())  # type: ignore[attr-defined]
        self.loop.close()
