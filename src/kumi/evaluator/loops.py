"""Loops: the controllers and deciders of a control plane, one look at a time, in a time that stands still while they work.

The rule, `rest` until nobody has anything left to do at this moment:
    1  what was written is in the view; the keys that it concerns are queued
    2  the first controller that has a key looks at it, and its writes are done, in order, up to the first that fails
    3  no key is left: the first group of deciders that has anything new, or whose time has come, is given all of it and decides;
       the scheduler's group is the last, so it decides only when everything else has come to rest
Why        Decisions are compared with those of engine speed, which decides once everything of an instant was applied. The loops
           of a live cluster (kumi.runtime.manager, .pump) decide on what has come so far, and back off by the clock where they
           see less than what was written: nothing of the kind can happen here, for every look sees every write.
Order      of keys: as they came; of deltas: as kumi.runtime.decider says.
Errors     as kumi.runtime.writes sorts them; what failed is looked at again after a back-off of virtual time.
Time       `next_ms` is when somebody asked to be woken. Nothing here waits.
Not here   events: loops' notes are nobody's business in a run.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kumi.api.errors import InvariantError
from kumi.api.meta import Object
from kumi.controllers import MakeDeciders
from kumi.evaluator.feed import Feed, News
from kumi.registry.local import LocalClient
from kumi.registry.registry import Registry
from kumi.runtime.cache import Cache
from kumi.runtime.decider import Decider, Follower, Step
from kumi.runtime.reconcile import Controller, Watches
from kumi.runtime.reconcile import Write as LoopWrite
from kumi.runtime.writes import FAULTS, Verdict, perform, verdict

RETRY_FIRST_MS, RETRY_LAST_MS = 5, 30_000
REFUSED_FIRST_MS, REFUSED_LAST_MS = 1_000, 300_000
"""back-offs, as of kumi.runtime.manager"""

RESTLESS = 1_000
"""Decisions of one group in one moment, one after the other without any other change, after which they are taken for endless."""


class Restless(InvariantError):
    """The loops write against each other without end."""


class Watcher(Protocol):
    """Who follows what happens."""

    def seen(self, news: News) -> None:
        """That was written; no loop has seen it yet."""
        ...

    def decided(self, decider: Decider) -> None:
        """It has just decided; nothing of that is written yet."""
        ...

    def done(self, decider: Decider) -> None:
        """What it decided is written, and was seen."""
        ...


@dataclass
class _Desk:
    """A controller, the keys that it has to look at, and how often in a row it failed at them."""

    controller: Controller
    watches: Watches
    keys: dict[str, None] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)


@dataclass
class _Group:
    """Deciders that share a state, and what they were not told yet."""

    deciders: tuple[Decider, ...]
    dirty: dict[tuple[type[Object], str], None] = field(default_factory=dict)
    given: dict[tuple[type[Object], str], Object] = field(default_factory=dict)
    wake_ms: int | None = None
    again: bool = True
    failures: int = 0
    reached: int = 0
    in_a_row: int = 0

    @property
    def types(self) -> tuple[type[Object], ...]:
        """What they read."""
        return tuple(dict.fromkeys(type_ for decider in self.deciders for type_ in decider.watches))


class Loops:
    """See the module. `groups` as kumi.controllers.all_deciders gives them: the scheduler's first. `watcher` is told
    of all news, before any loop."""

    def __init__(
        self,
        registry: Registry,
        controllers: Sequence[Controller],
        groups: Sequence[MakeDeciders],
        watcher: Watcher,
    ) -> None:
        self._now_ms = 0
        self._registry, self._watcher = registry, watcher
        self._client = LocalClient(registry)
        self._desks = [_Desk(controller, controller.watches) for controller in controllers]
        self._groups = [_Group(tuple(make())) for make in reversed(groups)]
        self._readers: dict[type[Object], list[int]] = {}
        self.view = Cache()
        for number, desk in enumerate(self._desks):
            for type_ in desk.watches.keys:
                self.view.declare(type_, desk.watches.labels)
                self._readers.setdefault(type_, []).append(number)
        self._group_readers: dict[type[Object], list[_Group]] = {}
        for group in self._groups:
            for type_ in group.types:
                self.view.declare(type_)
                self._group_readers.setdefault(type_, []).append(group)
        self._feed = Feed(registry.store, registry.scheme, self.view, self.view.types)
        self._due: dict[tuple[int, str], int] = {}
        self._heap: list[tuple[int, int, str]] = []

    @property
    def deciders(self) -> tuple[Decider, ...]:
        """Those of the scheduler's group."""
        return self._groups[-1].deciders if self._groups else ()

    @property
    def next_ms(self) -> int | None:
        """When somebody has to be woken; None: nobody asked."""
        while self._heap and self._due.get(self._heap[0][1:]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        times = [self._heap[0][0]] if self._heap else []
        times += [group.wake_ms for group in self._groups if group.wake_ms is not None]
        return min(times, default=None)

    async def rest(self, now_ms: int) -> None:
        """Goes on until nobody has anything to do at that time, which never goes back."""
        await self._go_on(now_ms, self._groups)

    async def prepare(self, now_ms: int) -> None:
        """The same without the scheduler: more is to come before it decides."""
        await self._go_on(now_ms, self._groups[:-1])

    async def _go_on(self, now_ms: int, groups: Sequence[_Group]) -> None:
        self._now_ms = now_ms
        self._wake()
        while True:
            self.take()
            number = next((n for n, desk in enumerate(self._desks) if desk.keys), None)
            if number is not None:
                await self._look(number)
                continue
            group = next((g for g in groups if self._has_work(g)), None)
            if group is None:
                return
            await self._decide(group)

    def take(self) -> None:
        """Brings what was written into the view, and queues whom it concerns."""
        for news in self._feed.take():
            self._watcher.seen(news)
            for number in self._readers.get(news.type, ()):
                self._concern(self._desks[number], news)
            for group in self._group_readers.get(news.type, ()):
                group.dirty[news.type, news.key] = None

    def _concern(self, desk: _Desk, news: News) -> None:
        watches = desk.watches
        matters = watches.matters.get(news.type)
        if matters is not None and news.old is not None and news.new is not None and not matters(news.old, news.new):
            return
        keys, related = watches.keys[news.type], watches.related.get(news.type)
        for obj in (news.old, news.new):
            if obj is not None:
                for key in keys(obj):
                    desk.keys[key] = None
                for key in related(obj, self.view) if related is not None else ():
                    desk.keys[key] = None

    def _wake(self) -> None:
        while (at := self._first_due()) is not None and at <= self._now_ms:
            _, number, key = heapq.heappop(self._heap)
            del self._due[number, key]
            self._desks[number].keys[key] = None

    def _first_due(self) -> int | None:
        while self._heap and self._due.get(self._heap[0][1:]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def _schedule(self, number: int, key: str, at_ms: int | None) -> None:
        if at_ms is None:
            self._due.pop((number, key), None)
        elif self._due.get((number, key)) != at_ms:
            self._due[number, key] = at_ms
            heapq.heappush(self._heap, (at_ms, number, key))

    async def _look(self, number: int) -> None:
        """One look of one controller at one key, and its writes."""
        desk = self._desks[number]
        key = next(iter(desk.keys))
        del desk.keys[key]
        outcome = desk.controller.reconcile(self.view, key, self._now_ms)
        again = await self._write(outcome.writes)
        if again is None:
            desk.failures.pop(key, None)
            if outcome.wake_at_ms is not None and outcome.wake_at_ms <= self._now_ms:
                desk.keys[key] = None
            else:
                self._schedule(number, key, outcome.wake_at_ms)
            return
        failures = desk.failures[key] = desk.failures.get(key, 0) + 1
        first, last = again
        self._schedule(number, key, self._now_ms + min(first * 2 ** min(failures - 1, 20), last))

    async def _write(self, writes: Iterable[LoopWrite]) -> tuple[int, int] | None:
        """Does them in order; None: all were done, else between which bounds to back off."""
        again = None
        for write in writes:
            try:
                await perform(self._client, write)
            except FAULTS as error:
                match verdict(write, error):
                    case Verdict.LOOK_AGAIN:
                        again = (RETRY_FIRST_MS, RETRY_LAST_MS)
                    case Verdict.RETRY:
                        return RETRY_FIRST_MS, RETRY_LAST_MS
                    case Verdict.REFUSED:
                        return REFUSED_FIRST_MS, REFUSED_LAST_MS
        return again

    def _has_work(self, group: _Group) -> bool:
        return bool(group.dirty) or group.again or (group.wake_ms is not None and group.wake_ms <= self._now_ms)

    async def _decide(self, group: _Group) -> None:
        """One cycle of a group: apply, decide, write, settle."""
        changed = self._apply(group)
        group.in_a_row = 0 if changed else group.in_a_row + 1
        if group.in_a_row > RESTLESS:
            raise Restless(f"{group.deciders[0].name} decides again and again although nothing changes")
        self._tell_reached(group)
        batches = [(decider, decider.decide(self._now_ms)) for decider in group.deciders]
        failed = False
        for decider, batch in batches:
            self._watcher.decided(decider)
            for step in batch.steps:
                error = await self._do(step)
                decider.settle(step.token, not error, error)
                failed = failed or bool(error)
            self.take()
            self._watcher.done(decider)
        wakes = [batch.wake_at_ms for _, batch in batches if batch.wake_at_ms is not None]
        group.failures = group.failures + 1 if failed else 0
        if failed:
            wakes.append(self._now_ms + min(RETRY_FIRST_MS * 2 ** min(group.failures, 20), RETRY_LAST_MS))
        group.again = not failed and any(batch.steps for _, batch in batches)
        group.wake_ms = min((max(at, self._now_ms + 1) for at in wakes), default=None)

    async def _do(self, step: Step) -> str:
        """The step's writes in order, up to the first that fails; its text, or ""."""
        for write in step.writes:
            try:
                await perform(self._client, write)
            except FAULTS as error:
                if verdict(write, error) not in (Verdict.DONE, Verdict.LOOK_AGAIN):
                    return str(error) or type(error).__name__
        return ""

    def _apply(self, group: _Group) -> int:
        """Gives each decider what changed, in the order of what it watches, then by key."""
        news = []
        for type_, key in group.dirty:
            old, new = group.given.get((type_, key)), self.view.find(type_, key)
            if old is new:
                continue
            if new is None:
                del group.given[type_, key]
            else:
                group.given[type_, key] = new
            news.append((type_, key, old, new))
        group.dirty.clear()
        for decider in group.deciders:
            order = {type_: number for number, type_ in enumerate(decider.watches)}
            mine = (n for n in news if n[0] in order)
            for type_, key, old, new in sorted(mine, key=lambda n: (order[n[0]], n[1])):
                if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
                    decider.apply(type_, key, old, None)
                    decider.apply(type_, key, None, new)
                else:
                    decider.apply(type_, key, old, new)
        return len(news)

    def _tell_reached(self, group: _Group) -> None:
        revision = self._registry.store.revision
        if group.reached == revision:
            return
        group.reached = revision
        for decider in group.deciders:
            if isinstance(decider, Follower):
                for type_ in decider.watches:
                    decider.reached(type_, str(revision))
