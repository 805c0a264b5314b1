"""A small control plane for the loops' tests: a fake server, informers, events, a virtual clock, recorded replays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from kumi.api.wire import JsonObject
from kumi.runtime.events import EventSink
from kumi.runtime.informer import Informers
from kumi.runtime.manager import Surroundings
from kumi.runtime.replay import Replay
from kumi.testing.clock import VirtualClock
from kumi.testing.fake_client import FakeClient

from .kinds import EVENTS, KINDS, PODS, kind_of


class World:
    """Start it with the loops to run beside the informers and the event sink; stop it at the end."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.client = FakeClient(KINDS)
        self.informers = Informers(self.client, self.clock, kind_of)
        self.events = EventSink(self.client, self.clock, EVENTS)
        self.replays: list[Replay] = []
        self.around = Surroundings(self.client, self.informers, self.clock, self.events, self.replays.append)
        self._tasks: list[asyncio.Future[Any]] = []

    async def start(self, *loops: Callable[[], Awaitable[None]]) -> None:
        for run in (self.informers.run, self.events.run, *loops):
            self._tasks.append(asyncio.ensure_future(run()))
        await self.clock.advance()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        assert {type(e) for e in ended} <= {asyncio.CancelledError}, ended

    def pods(self) -> list[str]:
        return [o["metadata"]["name"] for o in self.client.objects(PODS)]

    def told(self) -> list[JsonObject]:
        return self.client.objects(EVENTS)

    def writes(self) -> list[str]:
        return [f"{c.verb} {c.kind} {c.name}" for c in self.client.calls if c.kind != "Event"]
