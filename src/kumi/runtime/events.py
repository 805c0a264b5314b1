"""Events: what loops tell people (`kubectl get events`, `kubectl describe`).

A Note becomes a v1 Event. The same note again does not make another one: its count grows and its lastTimestamp moves; what is
similar is combined, and an object that is told of all the time is told of less (correlation.py). Telling is best effort: a
loop never waits for it, the rate is bounded, and what can't be told is dropped with a line in the log (a flood of them with one
line for all).

Rate       a bucket of BURST writes that fills with PER_SECOND; a queue of QUEUE notes behind it: a cluster that starts some
           thousand pods at once is told of within a minute, and its events leave nine tenths of the store to the pods.
Names      `<object's name>.<hex of time and counter>`, as kubectl's users know them.
Namespace  of the object; `default` for an object without one.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kumi.api.errors import ApiError
from kumi.api.measures import Family, one
from kumi.api.meta import format_time
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.runtime.client import Writer
from kumi.runtime.clock import Clock
from kumi.runtime.correlation import Correlated, Correlator, Told
from kumi.runtime.reconcile import Note
from kumi.runtime.writes import FAULTS

log = logging.getLogger(__name__)

QUEUE = 10_000
BURST = 500
PER_SECOND = 100
REMEMBERED = 4_096
"""Events whose count may still grow."""

NAME_AT_MOST = 253 - 17
MESSAGE_AT_MOST = 1_024


@dataclass
class _Known:
    name: str
    count: int


class EventSink:
    """See the module. `kind` is that of v1 Event. `run` must be running for anything to be told."""

    def __init__(self, writer: Writer, clock: Clock, kind: Kind) -> None:
        self._writer = writer
        self._clock = clock
        self._kind = kind
        self._queue: asyncio.Queue[tuple[Note, str, int, Correlated]] = asyncio.Queue(QUEUE)
        self._correlator = Correlator()
        self._known: OrderedDict[Told, _Known] = OrderedDict()
        self._counter = 0
        self._tokens = float(BURST)
        self._filled_ms = clock.monotonic_ms()
        self.told = self.spam = self.dropped = 0
        """events that were written, notes that were too many about one object, notes that were lost"""
        self._flooded_since: int | None = None
        """what `dropped` was when the queue ran full; None while it takes notes"""

    def tell(self, note: Note, teller: str) -> None:
        """Queues a note of the loop `teller`; never waits, never fails."""
        correlated = self._correlator.take(note, teller, self._clock.monotonic_ms())
        if correlated is None:
            self.spam += 1
            return
        if not self._queue.full():
            self._queue.put_nowait((note, teller, self._clock.now_ms(), correlated))
            return
        if self._flooded_since is None:
            log.warning("events are dropped: %s wait, and %s a second are told", QUEUE, PER_SECOND)
            self._flooded_since = self.dropped
        self.dropped += 1

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            note, teller, at_ms, correlated = await self._queue.get()
            try:
                await self._take_token()
                await self._write(note, teller, at_ms, correlated)
                self.told += 1
            except FAULTS as error:
                self._drop(note, str(error))
            except Exception:
                log.exception("event %s could not be told", note.reason)
            finally:
                self._queue.task_done()
                self._say_flood_over()

    async def flush(self) -> None:
        """Returns when everything that was told so far is written or dropped."""
        await self._queue.join()

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        yield one("kumi_events_told_total", "Events that were written.", "counter", self.told)
        yield one("kumi_events_spam_total", "Events that were too many about one object.", "counter", self.spam)
        yield one("kumi_events_dropped_total", "Events that could not be written.", "counter", self.dropped)

    def _say_flood_over(self) -> None:
        """One line for a flood, once half of the queue is told: a line a note would cost more than the events."""
        if self._flooded_since is not None and self._queue.qsize() <= QUEUE // 2:
            log.warning("%s events were dropped, none are any more", self.dropped - self._flooded_since)
            self._flooded_since = None

    def _drop(self, note: Note, why: str) -> None:
        self.dropped += 1
        about = note.about
        log.warning("event dropped (%s): %s %s %s", why, about.get("kind"), about.get("name"), note.reason)

    async def _take_token(self) -> None:
        now = self._clock.monotonic_ms()
        self._tokens = min(float(BURST), self._tokens + (now - self._filled_ms) * PER_SECOND / 1000)
        self._filled_ms = now
        if self._tokens < 1:
            await self._clock.sleep_ms(math.ceil((1 - self._tokens) * 1000 / PER_SECOND))
            self._tokens, self._filled_ms = 1.0, self._clock.monotonic_ms()
        self._tokens -= 1

    async def _write(self, note: Note, teller: str, at_ms: int, correlated: Correlated) -> None:
        told, message = correlated.told, _shortened(correlated.message)
        known = self._known.get(told)
        if known is not None:
            self._known.move_to_end(told)
            body = {"count": known.count + 1, "lastTimestamp": format_time(at_ms), "message": message}
            try:
                await self._writer.patch(self._kind, told.namespace, known.name, body)
            except ApiError as error:
                if error.code != 404:
                    raise
                del self._known[told]
            else:
                known.count += 1
                return
        name = self._name(str(note.about.get("name", "")), at_ms)
        await self._writer.create(event_of(replace(note, message=message), teller, told.namespace, name, at_ms))
        self._known[told] = _Known(name, 1)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _name(self, about: str, at_ms: int) -> str:
        """Unique: the counter tells apart what one process tells in a millisecond."""
        self._counter = (self._counter + 1) % 1_000_000
        return f"{about[:NAME_AT_MOST]}.{at_ms * 1_000_000 + self._counter:016x}"


def event_of(note: Note, teller: str, namespace: str, name: str, at_ms: int) -> JsonObject:
    """The v1 Event of a note that is told for the first time."""
    at = format_time(at_ms)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": namespace, "name": name},
        "involvedObject": note.about,
        "reason": note.reason,
        "message": note.message,
        "type": note.type,
        "source": {"component": teller},
        "reportingComponent": teller,
        "reportingInstance": "",
        "firstTimestamp": at,
        "lastTimestamp": at,
        "eventTime": None,
        "count": 1,
    }


def _shortened(message: str) -> str:
    return message if len(message) <= MESSAGE_AT_MOST else message[: MESSAGE_AT_MOST - 3] + "..."
