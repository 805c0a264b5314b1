"""Heap: what happens next, in the order of (time, priority, sequence).

The rule   at one instant what runs out ends first, then changes, cancels, arrivals; of one kind in the order in which they were
           put, which for events of the load is the load's own
Streams    the load's events are read one ahead: a million of them are never in memory together.
Units      int milliseconds.
Errors     KumiError for an event that is earlier than the one before it.
Cost       O(log n) each, n what waits to end.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush
from typing import Generic, TypeVar

from kumi.api.errors import KumiError
from kumi.evaluator.model import Arrive, Cancel, Change, Event

T = TypeVar("T")


class Turn(IntEnum):
    """What comes first at one instant."""

    END = 0
    CHANGE = 1
    CANCEL = 2
    ARRIVE = 3


TURNS: dict[type, Turn] = {Change: Turn.CHANGE, Cancel: Turn.CANCEL, Arrive: Turn.ARRIVE}


@dataclass(frozen=True, slots=True)
class Place:
    """How far a stream of events was read. `checksum`: streams that begin alike have the same there. `over`: to its end."""

    read: int
    checksum: int
    over: bool


class Heap(Generic[T]):
    """See the module. T: what ends."""

    def __init__(self, events: Iterator[Event]) -> None:
        self._events = events
        self._coming: Event | None = None
        self._coming_ms = 0
        self._heap: list[tuple[int, int, int, T | Event]] = []
        self._called_off: set[int] = set()
        self._sequence = 0
        self._read = 0
        self._checksum = 0
        self._read_one()

    @property
    def place(self) -> Place:
        """How far the load's events are read, the one that comes next included."""
        return Place(self._read, self._checksum, self._coming is None)

    def end(self, at_ms: int, what: T) -> int:
        """That ends then. Returns the number by which it can be called off."""
        self._sequence += 1
        heappush(self._heap, (at_ms, Turn.END, self._sequence, what))
        return self._sequence

    def call_off(self, number: int) -> None:
        """It doesn't end then."""
        self._called_off.add(number)

    def next_ms(self) -> int | None:
        """When something happens next; None: never."""
        while self._heap and self._heap[0][2] in self._called_off:
            self._called_off.remove(heappop(self._heap)[2])
        first = self._heap[0][0] if self._heap else None
        if self._coming is None or (first is not None and first <= self._coming_ms):
            return first
        return self._coming_ms

    def take(self, now_ms: int) -> list[T | Event]:
        """What happens at this instant, the next one, in order."""
        while self._coming is not None and self._coming_ms <= now_ms:
            self._sequence += 1
            heappush(self._heap, (now_ms, TURNS[type(self._coming)], self._sequence, self._coming))
            self._read_one()
        taken = []
        while self._heap and self._heap[0][0] <= now_ms:
            _, _, number, what = heappop(self._heap)
            if number in self._called_off:
                self._called_off.remove(number)
            else:
                taken.append(what)
        return taken

    def go_on(self, events: Iterator[Event]) -> bool:
        """Goes on with another stream of the same events, from where this one was. False: they are others."""
        place = self.place
        self._events, self._coming, self._read, self._checksum = events, None, 0, 0
        self._read_one()
        while self._read < place.read and self._coming is not None:
            self._read_one()
        if place.over:
            self._read_one()
        return self.place == place

    def __getstate__(self) -> dict[str, object]:
        """All but the stream, which `go_on` gives back."""
        return {**self.__dict__, "_events": iter(())}

    def _read_one(self) -> None:
        before, event = self._coming, next(self._events, None)
        self._coming = event
        if event is None:
            return
        before_ms, self._coming_ms = self._coming_ms, event.at_ms
        if before is not None and self._coming_ms < before_ms:
            raise KumiError(
                f"event {self._read + 1} of the load comes at {event.at_ms} ms, before the one ahead of it ({before_ms} ms)"
            )
        self._read += 1
        self._checksum = zlib.crc32(_said(event), self._checksum)


def _said(event: Event) -> bytes:
    if isinstance(event, Arrive):
        return f"{event.job.arrives_ms} {event.job.key}".encode()
    return f"{event.at_ms} {event.key if isinstance(event, Cancel) else ''}".encode()
