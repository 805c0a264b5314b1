"""The pump: keeps deciders going. See kumi.runtime.decider for what a decider is.

One cycle, for all deciders of the pump together, so that they may share one state:

    1  apply   every change that the informers have delivered, to each decider that watches the type; per decider in
               the order of its `watches`, then by key, whatever the order of arrival was
    2  decide  each decider, in the order given; the later one sees what the earlier one has assumed
    3  write   all steps of all batches side by side (at most CONCURRENT), the writes of one step in order
    4  settle  each step, in order; then its notes. A step whose answer was lost is settled only when the view shows
               whether it was done (kumi.runtime.doubts)
    5  again   at once if there were steps or new changes; else at a change or at wake_at_ms; if a step failed, after a
               back-off, unless something changes before

Held back  a change of an object whose last acknowledged write the view does not show yet (kumi.runtime.expectations):
           it is from before the write. What comes with the write is applied as one change.
Replaced   an object that was deleted and made again is applied as two changes.
Bugs       any exception of a decider ends the cycle. A replay file is written, new deciders are made after a back-off, and
           everything is applied to them. The log says whose error it is, a plug-in's or Kumi's own; so do warnings about those
           who wait (FailedToDecide, TOLD_AT_MOST of them).
Livelock   a decider that decides the very same steps again although all were acknowledged and nothing changed is
           slowed down like a failing one, and the log says so.
Unsound    a pump with so many bugs, or so many of these repetitions, in a row that nobody should count on its deciders; and one
           that has waited too long for its view to begin at all.
Measures   what its deciders decided, how that ended, their bugs; and what a decider itself has (kumi.api.measures.Measured).
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from kumi.api.measures import Family, Measured, Sample
from kumi.api.meta import Object
from kumi.runtime.at_fault import at_fault
from kumi.runtime.decider import FAILED_TO_DECIDE, Awaited, Batch, Decider, Follower, Step
from kumi.runtime.doubts import Doubts, in_doubt
from kumi.runtime.expectations import HOLD_MS, Expectations, Expected
from kumi.runtime.manager import Surroundings
from kumi.runtime.reconcile import Note, Write
from kumi.runtime.replay import Replay, objects_of
from kumi.runtime.writes import FAULTS, Verdict, describe, perform, verdict

log = logging.getLogger(__name__)

CONCURRENT = 64
"""Steps whose writes are on their way at a time."""

RETRY_FIRST_MS = 10
RETRY_LAST_MS = 30_000
RENEW_FIRST_MS = 1_000
RENEW_LAST_MS = 300_000
UNSOUND = 3
"""Bugs in a row after which a pump counts as broken."""
LIVELOCKED = 8
"""Repetitions in a row after which it does."""
BEGIN_MS = 60_000
"""How long it may wait for the first lists of what its deciders watch."""

TOLD_AT_MOST = 100
"""Of those who wait for a decider that fails, how many are told so."""

RECENT = 500
"""Calls of the deciders that a replay file tells."""


@dataclass(frozen=True)
class _Ended:
    """How a step ended; `error` "" is well. `doubt`: the object of a write that may have been done all the same."""

    decider: Decider
    step: Step
    error: str = ""
    doubt: Expected | None = None


class Pump:
    """See the module. `make` returns new deciders with an empty state, in the order in which they decide."""

    def __init__(self, make: Callable[[], Sequence[Decider]], surroundings: Surroundings) -> None:
        self._make = make
        self._around = surroundings
        self._informers = surroundings.informers
        self._expected = Expectations(surroundings.informers)
        self._changes = asyncio.Event()
        self._deciders = tuple(make())
        self._types = tuple(dict.fromkeys(type_ for d in self._deciders for type_ in d.watches))
        self._dirty: dict[tuple[type[Object], str], None] = {}
        self._held: dict[tuple[type[Object], str], int] = {}
        """an object whose write does not show yet -> monotonic time until which its changes are held back"""
        self._given: dict[tuple[type[Object], str], Object] = {}
        self._doubts: Doubts[_Ended] = Doubts(surroundings.informers, surroundings.clock, self._changes.set)
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._reached: dict[tuple[str, type[Object]], str] = {}
        self._failures = 0
        self._renewals = self._repetitions = 0
        self._cycles = self._done = self._undone = self._bugs = 0
        self._last: tuple[Step, ...] = ()
        self._busy = True
        self._waits_since: int | None = None
        """monotonic time, while it waits for its view to begin"""
        self._informers.subscribe(self._types, self._changed, self._progressed)

    @property
    def idle(self) -> bool:
        """Whether the deciders are at a fixed point: nothing to do before the next timer or change."""
        return not self._busy and not self._changes.is_set() and not self._doubts

    @property
    def name(self) -> str:
        """Of the first of its deciders: whom people wait for."""
        return self._deciders[0].name

    @property
    def deciders(self) -> tuple[Decider, ...]:
        """Those of now: they are made anew when one of them fails."""
        return self._deciders

    @property
    def sound(self) -> bool:
        """Whether its deciders decide: False while they fail again and again, however often they are made anew, or decide
        the same again and again."""
        since = self._waits_since
        begins = since is None or self._around.clock.monotonic_ms() - since < BEGIN_MS
        return begins and self._renewals < UNSOUND and self._repetitions < LIVELOCKED

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        ended = (Sample((self.name, "done"), self._done), Sample((self.name, "undone"), self._undone))
        told = "Decisions by how their writes ended."
        yield Family("kumi_decider_steps_total", told, "counter", ("name", "result"), ended)
        for name, help, value in (
            ("cycles", "Looks at everything that changed.", self._cycles),
            ("bugs", "Errors of its own after which a decider was made anew.", self._bugs),
        ):
            yield Family(f"kumi_decider_{name}_total", help, "counter", ("name",), (Sample((self.name,), value),))
        sound = (Sample((self.name,), float(self.sound)),)
        yield Family("kumi_decider_sound", "1 while its decisions can be counted on.", "gauge", ("name",), sound)
        for decider in self._deciders:
            if isinstance(decider, Measured):
                yield from decider.measures()

    async def run(self) -> None:
        """Until cancelled."""
        self._waits_since = self._around.clock.monotonic_ms()
        await self._informers.synced(self._types)
        self._waits_since = None
        self._mark_everything()
        try:
            while True:
                self._busy = True
                self._changes.clear()
                try:
                    wait_ms = await self._cycle()
                except Exception as error:
                    wait_ms = await self._renew(error)
                if wait_ms != 0:
                    self._busy = False
                    await self._wait(wait_ms)
                await asyncio.sleep(0)
        finally:
            self._doubts.close()

    async def _cycle(self) -> int | None:
        """One cycle; how long to wait for a change before the next (None: for ever)."""
        cleared = self._doubts.cleared()
        applied = self._apply()
        for ended in cleared:
            self._settle(ended)
        self._tell_reached()
        self._cycles += 1
        now_ms = self._around.clock.now_ms()
        batches = [(decider, self._decide(decider, now_ms)) for decider in self._deciders]
        steps = [(decider, step) for decider, batch in batches for step in batch.steps]
        all_ended = await self._write(steps)
        failed = any(ended.error for ended in all_ended)
        self._failures += failed
        retry_ms = min(RETRY_FIRST_MS * 2 ** min(max(self._failures - 1, 0), 20), RETRY_LAST_MS)
        for ended in all_ended:
            if ended.doubt is None:
                self._settle(ended)
            else:
                self._doubts.add(ended, ended.doubt, retry_ms)
        self._renewals = 0
        decided = tuple(step for _, step in steps)
        stuck = bool(decided) and decided == self._last and not applied and not cleared
        self._last = () if failed else decided
        self._repetitions = self._repetitions + 1 if stuck else 0
        if stuck:
            self._failures += not failed
            log.error("%s steps decided again although nothing changed: %s", len(decided), decided[0].token)
        if stuck or failed:
            return self._sooner(batches, retry_ms)
        if steps:
            return 0
        if not cleared and not self._doubts:
            self._failures = 0
        return self._sooner(batches, None)

    def _tell_reached(self) -> None:
        """Tells those who follow how far their view is."""
        for decider in self._deciders:
            if not isinstance(decider, Follower):
                continue
            for type_ in decider.watches:
                informer = self._informers.find(type_)
                if informer is not None and self._reached.get((decider.name, type_)) != informer.revision:
                    self._reached[decider.name, type_] = informer.revision
                    decider.reached(type_, informer.revision)

    def _settle(self, ended: _Ended) -> None:
        self._recent.append(f"{ended.decider.name}.settle {ended.step.token} {ended.error or 'ok'}")
        self._undone += bool(ended.error)
        self._done += not ended.error
        ended.decider.settle(ended.step.token, not ended.error, ended.error)
        for note in () if ended.error else ended.step.notes:
            self._around.events.tell(note, ended.decider.name)

    def _apply(self) -> int:
        """Gives each decider what changed; how many changes there were."""
        ready = [change for change in self._dirty if not self._is_held(change)]
        news = []
        for type_, key in ready:
            del self._dirty[type_, key]
            old, new = self._given.get((type_, key)), self._informers.cache.find(type_, key)
            if new is old:
                continue
            if new is None:
                del self._given[type_, key]
            else:
                self._given[type_, key] = new
            news.append((type_, key, old, new))
        for decider in self._deciders:
            order = {type_: i for i, type_ in enumerate(decider.watches)}
            for type_, key, old, new in sorted((n for n in news if n[0] in order), key=lambda n: (order[n[0]], n[1])):
                if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
                    self._apply_one(decider, type_, key, old, None)
                    self._apply_one(decider, type_, key, None, new)
                else:
                    self._apply_one(decider, type_, key, old, new)
        return len(news)

    def _apply_one(
        self, decider: Decider, type_: type[Object], key: str, old: Object | None, new: Object | None
    ) -> None:
        at = "gone" if new is None else new.metadata.resource_version
        self._recent.append(f"{decider.name}.apply {type_.__name__} {key} {at}")
        decider.apply(type_, key, old, new)

    def _decide(self, decider: Decider, now_ms: int) -> Batch:
        batch = decider.decide(now_ms)
        tokens = " ".join(step.token for step in batch.steps)
        self._recent.append(f"{decider.name}.decide {now_ms} -> {tokens or 'nothing'}")
        return batch

    async def _write(self, steps: Sequence[tuple[Decider, Step]]) -> list[_Ended]:
        """Does the writes of all steps; how each ended."""
        gate = asyncio.Semaphore(CONCURRENT)

        async def one(decider: Decider, step: Step) -> _Ended:
            async with gate:
                return await self._write_step(decider, step)

        return list(await asyncio.gather(*(one(decider, step) for decider, step in steps)))

    async def _write_step(self, decider: Decider, step: Step) -> _Ended:
        for write in step.writes:
            about = self._expected.about(write)
            returned = None
            try:
                returned = await perform(self._around.writer, write)
            except Exception as error:
                found = verdict(write, error)
                if found is Verdict.LOOK_AGAIN:
                    continue
                if found is not Verdict.DONE:
                    self._log_failure(step, write, error)
                    doubt = about if in_doubt(error) and about is not None and about.type in self._types else None
                    return _Ended(decider, step, str(error) or type(error).__name__, doubt)
            expected = self._expected.completed(about, returned)
            if expected is not None and expected.type in self._types:
                self._expected.expect(_name(expected.type, expected.key), expected)
                self._held[expected.type, expected.key] = self._around.clock.monotonic_ms() + HOLD_MS
        return _Ended(decider, step)

    def _log_failure(self, step: Step, write: Write, error: Exception) -> None:
        refused = verdict(write, error) is Verdict.REFUSED
        bug = None if isinstance(error, FAULTS) else error
        level = logging.ERROR if bug else logging.WARNING if refused else logging.DEBUG
        log.log(level, "step %s: %s: %s", step.token, describe(write), error, exc_info=bug)

    def _is_held(self, change: tuple[type[Object], str]) -> bool:
        until = self._held.get(change)
        if until is None:
            return False
        name = _name(*change)
        if self._expected.is_waiting(name) and self._around.clock.monotonic_ms() < until:
            return True
        del self._held[change]
        if self._expected.give_up(name):
            log.warning("the view never showed what was written to %s", name)
        return False

    def _changed(self, type_: type[Object], old: Object | None, new: Object | None) -> None:
        changed = new or old
        assert changed is not None
        self._expected.changed(type_, changed.key)
        self._doubts.changed(type_, changed.key)
        self._dirty[type_, changed.key] = None
        if not self._is_held((type_, changed.key)):
            self._changes.set()

    def _progressed(self, type_: type[Object]) -> None:
        self._doubts.progressed(type_)
        if self._expected.progressed(type_):
            self._changes.set()

    def _sooner(self, batches: Sequence[tuple[Decider, Batch]], wait_ms: int | None) -> int | None:
        """The wait until the first of: that long, a decider's wake, the end of a hold or of a doubt; at least 1 ms."""
        now, monotonic = self._around.clock.now_ms(), self._around.clock.monotonic_ms()
        waits = [] if wait_ms is None else [wait_ms]
        waits += [batch.wake_at_ms - now for _, batch in batches if batch.wake_at_ms is not None]
        waits += [until - monotonic for until in self._held.values()]
        waits += [] if self._doubts.until_ms is None else [self._doubts.until_ms - monotonic]
        return max(1, min(waits)) if waits else None

    async def _wait(self, wait_ms: int | None) -> None:
        """Until something changes, or for that long."""
        changed = asyncio.ensure_future(self._changes.wait())
        waiting: set[asyncio.Future[Any]] = {changed}
        if wait_ms is not None:
            waiting.add(asyncio.ensure_future(self._around.clock.sleep_ms(wait_ms)))
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    async def _renew(self, error: Exception) -> int:
        """Tells what happened, waits, and starts over with new deciders."""
        self._bugs += 1
        whose = at_fault(error)
        log.error("%s stopped: %s", self.name, f"an error of {whose}" if whose else "a bug", exc_info=error)
        self._warn_who_waits(f"{whose or 'the scheduler'} fails with {type(error).__name__}: {error}")
        text = "".join(traceback.format_exception(error))
        now_ms = self._around.clock.now_ms()
        objects = objects_of(self._informers.cache, self._types)
        self._around.record(Replay(self.name, "", now_ms, text, objects, list(self._recent)))
        await self._around.clock.sleep_ms(min(RENEW_FIRST_MS * 2 ** min(self._renewals, 20), RENEW_LAST_MS))
        self._renewals += 1
        self._doubts.close()
        self._deciders = tuple(self._make())
        self._given.clear()
        self._reached.clear()
        self._recent.clear()
        self._last = ()
        self._mark_everything()
        return 0

    def _warn_who_waits(self, why: str) -> None:
        """Tells those who wait for a decider that nothing is decided."""
        for decider in self._deciders:
            if not isinstance(decider, Awaited):
                continue
            for about in islice(decider.awaited_by(), TOLD_AT_MOST):
                note = Note(about, FAILED_TO_DECIDE, f"Nothing is decided: {why}", "Warning")
                self._around.events.tell(note, decider.name)

    def _mark_everything(self) -> None:
        """Everything that is there counts as a change."""
        for type_ in self._types:
            for obj in self._informers.cache.list(type_):
                self._dirty[type_, obj.key] = None


def _name(type_: type[Object], key: str) -> str:
    return f"{type_.__name__} {key}"
