"""Writes whose answer was lost: were they done or not?

A connection that breaks, a time-out, a 5xx from a proxy: the write may have been done all the same. Until that is known,
what a decider assumed must stay assumed, or the room that it counts on is given away twice. So the object is read back
(again and again while the server is out of reach), and the doubt is over when the view is as new as what was read: then
either the view shows the write, or it was not done.

A server that does a write after it answered the later read can't be told from one that never does it; the view will
show it then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from kumi.api.errors import ApiError
from kumi.api.meta import Object
from kumi.runtime.clock import Clock
from kumi.runtime.expectations import HOLD_MS, Expectations, Expected
from kumi.runtime.informer import Informers
from kumi.runtime.writes import FAULTS

log = logging.getLogger(__name__)

RETRY_FIRST_MS = 10
RETRY_LAST_MS = 30_000

T = TypeVar("T")


def in_doubt(error: Exception) -> bool:
    """Whether a write that ended with this error may have been done."""
    return not isinstance(error, ApiError) or error.code >= 500


@dataclass(eq=False)
class _Doubt(Generic[T]):
    about: T
    name: str
    until_ms: int | None = None
    """until when the view is waited for; None while the object is being read"""
    reading: asyncio.Task[None] | None = None


class Doubts(Generic[T]):
    """What is in doubt (any value of the caller's), in the order in which it came. `wake` is called when to look again."""

    def __init__(self, informers: Informers, clock: Clock, wake: Callable[[], None]) -> None:
        self._informers = informers
        self._clock = clock
        self._wake = wake
        self._expected = Expectations(informers)
        self._doubts: list[_Doubt[T]] = []
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._doubts)

    def add(self, about: T, written: Expected, after_ms: int) -> None:
        """The write about that object is in doubt; it is read back after that long."""
        doubt = _Doubt(about, f"doubt {next(self._numbers)}")
        doubt.reading = asyncio.create_task(self._read(doubt, written, after_ms), name=doubt.name)
        self._doubts.append(doubt)

    def changed(self, type_: type[Object], key: str) -> None:
        """The view has another state of that object."""
        self._expected.changed(type_, key)

    def progressed(self, type_: type[Object]) -> None:
        """The view has all of that type up to its informer's revision."""
        if self._expected.progressed(type_):
            self._wake()

    def cleared(self) -> list[T]:
        """Takes out what is no longer in doubt: the view, as it is now, is as new as what was read back."""
        now = self._clock.monotonic_ms()
        over = [d for d in self._doubts if d.until_ms is not None and self._is_over(d, d.until_ms <= now)]
        self._doubts = [d for d in self._doubts if d not in over]
        return [d.about for d in over]

    def _is_over(self, doubt: _Doubt[T], late: bool) -> bool:
        if late and self._expected.give_up(doubt.name):
            log.warning("%s: the view never showed what was read back", doubt.name)
        return not self._expected.is_waiting(doubt.name)

    @property
    def until_ms(self) -> int | None:
        """When (monotonic) to look again at the latest; None: `wake` will tell."""
        return min((d.until_ms for d in self._doubts if d.until_ms is not None), default=None)

    def close(self) -> None:
        """Forgets everything."""
        for doubt in self._doubts:
            if doubt.reading is not None:
                doubt.reading.cancel()
        self._doubts.clear()

    async def _read(self, doubt: _Doubt[T], written: Expected, delay: int) -> None:
        while True:
            await self._clock.sleep_ms(delay)
            try:
                self._expected.expect(doubt.name, await self._still_to_show(written))
            except FAULTS as error:
                log.debug("%s: %s %s: %s", doubt.name, written.type.__name__, written.key, error)
                delay = min(max(delay * 2, RETRY_FIRST_MS), RETRY_LAST_MS)
            else:
                break
        doubt.until_ms = self._clock.monotonic_ms() + HOLD_MS
        self._wake()

    async def _still_to_show(self, written: Expected) -> Expected | None:
        """What the view lacks of what the server has."""
        informer = self._informers.find(written.type)
        assert informer is not None
        namespace, _, name = written.key.rpartition("/")
        try:
            found = await self._informers.reader.get(informer.kind, namespace, name)
        except ApiError as error:
            if error.code >= 500 or error.code == 429:
                raise
            shown = self._informers.cache.find(written.type, written.key)
            gone = error.code == 404 and shown is not None
            return Expected(written.type, written.key, "", deleted_uid=shown.metadata.uid) if gone and shown else None
        return self._expected.completed(Expected(written.type, written.key, written.before), found)
