"""watch: what changes, in order of revision, each change once.

From       ""       what is there now as ADDED events in key order, then every change after that
           "0"      the same
           r        every change after r; 410 if the store no longer keeps them, or the kind wasn't there yet
           with sendInitialEvents what is there first, at least as new as r, then a bookmark that is marked
           `k8s.io/initial-events-end`
Selectors  a watch shows the objects that are selected: one that comes to be selected is ADDED, one that no longer is is
           DELETED (as it last was, with the revision of the change).
Bookmarks  a BOOKMARK names a revision up to which the watch has told everything, so that its reader can go on from there.
           One is sent when nothing was told for a while though the store moved on.
Why        a bookmark for revision r is only right once every change up to r was handed over. A tick notes the store's
           revision, the next tick sends what the one before noted: whatever was under way then has arrived by now.
Source     Kubernetes: API concepts (watch, bookmarks, streaming lists).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TypeAlias

from kumi.api.errors import ApiError
from kumi.api.scheme import Kind
from kumi.api.wire import EventType, JsonObject, WatchEvent
from kumi.registry import versions
from kumi.registry.custom.kind import CustomKind
from kumi.registry.environment import Environment
from kumi.registry.objects import prefix_of
from kumi.registry.reading import check_revision_match, parse_revision
from kumi.registry.refusals import Refusal, revision_too_large
from kumi.registry.requests import ListOptions, Target
from kumi.registry.selectors import Predicate, selection
from kumi.store.base import Change, Compacted, Lagging, Watch

TICK_S = 2.0
"""Seconds between two looks at whether a bookmark is due."""
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
TOGETHER = 128
"""Events that are handed over at once, at most."""

Batch: TypeAlias = list[WatchEvent]


class Watching:
    """The verb that follows."""

    def __init__(self, env: Environment) -> None:
        self._env = env

    def watch(self, target: Target, options: ListOptions) -> AsyncGenerator[WatchEvent, None]:
        """The events of `batches`, one at a time."""
        return _singly(self.batches(target, options))

    def batches(self, target: Target, options: ListOptions) -> AsyncGenerator[Batch, None]:
        """Events in the caller's version, all that there are at a time (one at least, TOGETHER at most); closing the iterator
        ends the watch. Wrong options are refused by the call.

        ApiError 400, 410, 422, 504; 410 also later, for a reader that fell too far behind."""
        kind, objects = target.kind, self._env.objects
        selected = selection(kind, options.labels, options.fields, target.version)
        if options.send_initial_events or options.revision_match != "NotOlderThan":
            check_revision_match(options)
        revision, newest = parse_revision(options.revision), objects.store.revision
        if revision > newest:
            raise revision_too_large(revision, newest)
        if isinstance(kind, CustomKind) and 0 < revision < kind.since and not options.send_initial_events:
            raise Refusal(410, "Expired", f"too old resource version: {revision} ({kind.since})")
        prefix = prefix_of(kind, target.namespace)
        initial = revision == 0 or options.send_initial_events
        after = newest if initial else revision
        try:
            changes = objects.store.watch(prefix, after)
        except Compacted as error:
            message = f"too old resource version: {error.revision} ({error.oldest})"
            raise Refusal(410, "Expired", message) from error
        if isinstance(kind, CustomKind):
            kind.watches.add(changes)
        first = self._present(prefix, selected) if initial else []
        marked = initial and options.send_initial_events and options.bookmarks
        events = _Events(self._env, target, selected, changes, after)
        return events.run(first, marked, options.bookmarks)

    def _present(self, prefix: str, selected: Predicate | None) -> list[JsonObject]:
        found = (self._env.objects.listed(entry) for entry in self._env.objects.page(prefix).entries)
        return [obj for obj in found if selected is None or selected(obj)]


class _Events:
    """One watch: changes in, events out."""

    def __init__(
        self, env: Environment, target: Target, selected: Predicate | None, changes: Watch, after: int
    ) -> None:
        self._env, self._kind, self._version = env, target.kind, target.version
        self._selected, self._changes, self._told = selected, changes, after

    async def run(self, first: list[JsonObject], marked: bool, bookmarks: bool) -> AsyncGenerator[Batch, None]:
        """Everything, in order."""
        try:
            for start in range(0, len(first), TOGETHER):
                yield [self._spoken("ADDED", obj) for obj in first[start : start + TOGETHER]]
            if marked:
                yield [bookmark(self._kind, self._version, self._told, {INITIAL_EVENTS_END: "true"})]
            async with aclosing(self._with_bookmarks() if bookmarks else self._plain()) as batches:
                async for batch in batches:
                    yield batch
        except Lagging as error:
            raise _fell_behind() from error
        finally:
            await self._changes.aclose()

    async def _plain(self) -> AsyncGenerator[Batch, None]:
        while changes := await self._changes.some():
            for batch in self._batches(changes):
                yield batch

    async def _with_bookmarks(self) -> AsyncGenerator[Batch, None]:
        store, noted = self._env.objects.store, 0
        while True:
            try:
                async with asyncio.timeout(TICK_S):
                    changes = await self._changes.some()
            except TimeoutError:
                if noted > self._told:
                    self._told = noted
                    yield [bookmark(self._kind, self._version, noted)]
                noted = store.revision
                continue
            if not changes:
                return
            for batch in self._batches(changes):
                yield batch

    def _batches(self, changes: Sequence[Change]) -> Iterator[Batch]:
        for start in range(0, len(changes), TOGETHER):
            batch = []
            for change in changes[start : start + TOGETHER]:
                event = self._event(change)
                if event is not None:
                    self._told = change.revision
                    batch.append(event)
            if batch:
                yield batch

    def _event(self, change: Change) -> WatchEvent | None:
        objects, selected = self._env.objects, self._selected
        now = objects.current(change)
        if selected is None:
            if now is not None:
                return self._spoken("ADDED" if change.previous is None else "MODIFIED", now)
            gone = objects.previous(change)
            return None if gone is None else self._spoken("DELETED", gone)
        is_in = now is not None and selected(now)
        before = objects.previous(change)
        was_in = before is not None and selected(before)
        if now is not None and is_in:
            return self._spoken("MODIFIED" if was_in else "ADDED", now)
        return self._spoken("DELETED", before) if before is not None and was_in else None

    def _spoken(self, type_: EventType, obj: JsonObject) -> WatchEvent:
        return WatchEvent(type_, versions.from_stored(self._kind, self._version, obj))


async def _singly(batches: AsyncGenerator[Batch, None]) -> AsyncGenerator[WatchEvent, None]:
    async with aclosing(batches):
        async for batch in batches:
            for event in batch:
                yield event


def bookmark(kind: Kind, version: str, revision: int, annotations: dict[str, str] | None = None) -> WatchEvent:
    """A BOOKMARK at that revision."""
    metadata: JsonObject = {"resourceVersion": str(revision)}
    if annotations:
        metadata["annotations"] = annotations
    obj = {"kind": kind.kind, "apiVersion": versions.api_version(kind, version), "metadata": metadata}
    return WatchEvent("BOOKMARK", obj)


def _fell_behind() -> ApiError:
    return Refusal(410, "Expired", "the watch fell too far behind and was ended: list again")
