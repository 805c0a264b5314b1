"""The queue between changes and looks: each key at most once in it, and never in two hands.

    add(key)              waiting already: nothing; in somebody's hand: looked at again when that hand lets go
    get() ... done(key)   the key that waits longest, for as long as the caller works on it
    wake(key, at)         adds it at that time; takes the place of an earlier wish, None takes it back
    back_off(key)         adds it after 5 ms, 10 ms, 20 ms ... 30 s (of failures in a row); forget(key) ends the row
    hold(key, for)        keeps it out of all hands until release(key), or for that long; what is added meanwhile is kept

Fair       first in, first out: a key that is added again goes to the end.
Time       `wake` takes milliseconds since the epoch; waiting itself uses the monotonic clock, so that a clock that is set
           back does not stop a retry. No jitter: the same calls give the same order.
Cost       O(1), timers O(log n).
Measures   as client-go's work queues tell theirs: what was added, how long it waited and was worked on, what was tried again.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Iterator, Mapping

from kumi.api.measures import Family, FamilyKind, Histogram, Sample
from kumi.runtime.clock import Clock

BACK_OFF_FIRST_MS = 5
BACK_OFF_LAST_MS = 30_000

VOID_AT_MOST = 100
"""Timers that another wish has replaced, kept until so many have come together."""

WAKE, HOLD = "wake", "hold"

SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
"""bounds of waiting and of work"""


class WorkQueue:
    """See the module. Timers fire only while `run` runs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._order: deque[str] = deque()
        self._waiting = asyncio.Semaphore(0)
        self._queued: dict[str, int] = {}
        """since when, in monotonic time, a key waits for a hand"""
        self._in_hand: dict[str, int] = {}
        """since when a key is worked on"""
        self._wanted: set[str] = set()
        """keys in a hand or on hold that were added meanwhile"""
        self._failures: dict[str, int] = {}
        self._due: dict[tuple[str, str], int] = {}
        """(key, WAKE or HOLD) -> monotonic time"""
        self._heap: list[tuple[int, str, str]] = []
        self._sooner = asyncio.Event()
        self.adds, self.retries = 0, 0
        self.waited_s, self.worked_s = Histogram(SECONDS), Histogram(SECONDS)

    def __len__(self) -> int:
        """How many keys wait for a hand."""
        return len(self._order)

    @property
    def idle(self) -> bool:
        """Whether no key waits and none is in a hand."""
        return not self._order and not self._in_hand

    @property
    def in_work_s(self) -> list[float]:
        """For how long each key that is in a hand has been there."""
        now = self._clock.monotonic_ms()
        return [(now - since) / 1000 for since in self._in_hand.values()]

    def add(self, key: str) -> None:
        """The key wants a look."""
        if key not in self._wanted and key not in self._queued:
            self.adds += 1
            self._enter(key)

    async def get(self) -> str:
        """Waits for a key and hands it out; the caller must call `done`."""
        await self._waiting.acquire()
        key = self._order.popleft()
        now = self._clock.monotonic_ms()
        self.waited_s.observe((now - self._queued.pop(key)) / 1000)
        self._in_hand[key] = now
        return key

    def done(self, key: str) -> None:
        """The key is out of the caller's hand."""
        since = self._in_hand.pop(key, None)
        if since is not None:
            self.worked_s.observe((self._clock.monotonic_ms() - since) / 1000)
        self._add_if_wanted(key)

    def wake(self, key: str, at_ms: int | None) -> None:
        """The key wants a look at that time, and at no other; None: at no time."""
        if at_ms is None:
            self._due.pop((key, WAKE), None)
        else:
            self._schedule(key, WAKE, self._clock.monotonic_ms() + max(0, at_ms - self._clock.now_ms()))

    def back_off(self, key: str, at_least_ms: int = 0) -> None:
        """One more failure in a row: the key wants a look after a while, or at an earlier wish of `wake`."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        self.retries += 1
        delay = max(at_least_ms, min(BACK_OFF_FIRST_MS * 2 ** min(failures - 1, 20), BACK_OFF_LAST_MS))
        at = self._clock.monotonic_ms() + delay
        self._schedule(key, WAKE, min(at, self._due.get((key, WAKE), at)))

    def failures(self, key: str) -> int:
        """How many failures in a row there were."""
        return self._failures.get(key, 0)

    def forget(self, key: str) -> None:
        """The row of failures is over."""
        self._failures.pop(key, None)

    def hold(self, key: str, for_ms: int) -> None:
        """Nobody gets the key until `release`, or until that long has passed. Called with the key in hand."""
        self._schedule(key, HOLD, self._clock.monotonic_ms() + for_ms)

    def release(self, key: str) -> None:
        """The key may be handed out again."""
        if self._due.pop((key, HOLD), None) is not None:
            self._add_if_wanted(key)

    async def run(self) -> None:
        """Fires the timers, until cancelled."""
        while True:
            self._sooner.clear()
            self._fire()
            if not self._heap:
                await self._sooner.wait()
                continue
            sleep = asyncio.ensure_future(self._clock.sleep_ms(self._heap[0][0] - self._clock.monotonic_ms()))
            sooner = asyncio.ensure_future(self._sooner.wait())
            try:
                await asyncio.wait((sleep, sooner), return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleep.cancel()
                sooner.cancel()

    def _fire(self) -> None:
        now = self._clock.monotonic_ms()
        while self._heap and (self._heap[0][0] <= now or self._is_void(self._heap[0])):
            timer = heapq.heappop(self._heap)
            if self._is_void(timer):
                continue
            _, key, what = timer
            if what == HOLD:
                self.release(key)
            else:
                del self._due[key, what]
                self.add(key)

    def _is_void(self, timer: tuple[int, str, str]) -> bool:
        """Whether another wish has taken the timer's place."""
        at, key, what = timer
        return self._due.get((key, what)) != at

    def _schedule(self, key: str, what: str, at: int) -> None:
        if self._due.get((key, what)) == at:
            return
        self._due[key, what] = at
        if not self._heap or at < self._heap[0][0]:
            self._sooner.set()
        heapq.heappush(self._heap, (at, key, what))
        if len(self._heap) > 2 * len(self._due) + VOID_AT_MOST:
            self._heap = sorted((due, of, why) for (of, why), due in self._due.items())

    def _add_if_wanted(self, key: str) -> None:
        if key in self._wanted and (key, HOLD) not in self._due:
            self._wanted.discard(key)
            self._enter(key)

    def _enter(self, key: str) -> None:
        """The key waits for a hand, behind all others; as long as it may not have one, it is only wanted."""
        if key in self._in_hand or (key, HOLD) in self._due:
            self._wanted.add(key)
        elif key not in self._queued:
            self._queued[key] = self._clock.monotonic_ms()
            self._order.append(key)
            self._waiting.release()


def measures(queues: Mapping[str, WorkQueue]) -> Iterator[Family]:
    """What the queues of these names have to tell."""

    def family(name: str, help: str, kind: FamilyKind, values: Iterator[float | Histogram]) -> Family:
        samples = tuple(Sample((queue,), value) for queue, value in zip(queues, values, strict=True))
        return Family(f"workqueue_{name}", help, kind, ("name",), samples)

    every = tuple(queues.values())
    yield family("depth", "Keys that wait for a hand.", "gauge", (len(q) for q in every))
    yield family("adds_total", "Keys that were added.", "counter", (q.adds for q in every))
    yield family(
        "retries_total", "Keys that are looked at again after a failure.", "counter", (q.retries for q in every)
    )
    yield family(
        "queue_duration_seconds", "How long a key waited for a hand.", "histogram", (q.waited_s for q in every)
    )
    yield family("work_duration_seconds", "How long a key was worked on.", "histogram", (q.worked_s for q in every))
    yield family(
        "unfinished_work_seconds",
        "For how long the keys that are in hands now have been there, together.",
        "gauge",
        (sum(q.in_work_s) for q in every),
    )
    yield family(
        "longest_running_processor_seconds",
        "For how long the key that is longest in a hand has been there.",
        "gauge",
        (max(q.in_work_s, default=0.0) for q in every),
    )
