"""The loops of a control plane, run on a client: in the process of the API server, or over HTTP beside it.

    ALL      Kumi's own and Kubernetes': `kumi up`, `kumi controllers`
    OWN      Kumi's own, on a cluster of another maker: `kumi controllers --own`; only pods that name Kumi are placed
    BARE     those that an API server without nodes needs to keep its word: `kumi up --bare`
    NONE     nothing: `kumi up --no-controllers`

Both transports run the same code; what differs is the client. When the policy that they go by changes, all of them are made anew,
as after a restart: nothing that matters lives in a loop alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from kumi.api.core import Event
from kumi.api.measures import Family, Measured
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.bridge.into import POLLED
from kumi.controllers import (
    MakeDeciders,
    all_controllers,
    all_deciders,
    bare_controllers,
    bare_deciders,
    own_controllers,
    own_deciders,
)
from kumi.controllers.root_authority import NAME as AUTHORITY
from kumi.engine.model import Profile
from kumi.jobs.base import Settings
from kumi.kubelet.wait import INIT_COMMAND
from kumi.runtime.client import Client
from kumi.runtime.clock import RealClock
from kumi.runtime.events import EventSink
from kumi.runtime.informer import Informers
from kumi.runtime.manager import Manager, Surroundings
from kumi.runtime.polling import Polling, Source
from kumi.runtime.pump import Pump
from kumi.runtime.reconcile import Controller
from kumi.runtime.replay import ReplayFiles
from kumi.runtime.visibility import Pending, PendingSource, nobody_decides

Choice: TypeAlias = Callable[[], tuple[Sequence[Controller], Sequence[MakeDeciders]]]
"""New controllers and deciders, for one run"""


def ALL(profile: Profile | None = None) -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:  # noqa: N802  one of four choices
    """See the module. `profile`: what decides, and how (kumi.engine.policy)."""
    return all_controllers(Settings(init_command=INIT_COMMAND), profile), all_deciders(profile, polled(profile))


def OWN(profile: Profile | None = None) -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:  # noqa: N802
    """See the module."""
    return own_controllers(Settings(), profile), own_deciders(profile, polled=polled(profile))


def BARE() -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:  # noqa: N802
    """See the module."""
    return bare_controllers(), bare_deciders()


def NONE() -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:  # noqa: N802
    """See the module."""
    return (), ()


def polled(profile: Profile | None) -> tuple[type[Object], ...]:
    """What the scheduler is told of besides what is watched."""
    return POLLED if profile is not None and profile.measuring is not None else ()


class Loops:
    """Informers, controllers, deciders and events of one process. `replays`: where replay files go. `changed`: ends when the
    choice is another one than before. `sources`: new ones for one run, of what can't be watched."""

    def __init__(
        self,
        client: Client,
        choice: Choice,
        replays: Path,
        changed: Callable[[], Awaitable[None]] | None = None,
        sources: Callable[[], Sequence[Source]] = tuple,
    ) -> None:
        self._client, self._choice, self._replays, self._changed = client, choice, replays, changed
        self._sources = sources
        self._make()

    def _make(self) -> None:
        clock, client = RealClock(), self._client
        self._informers = Informers(client, clock, payloads=frozenset((AUTHORITY,)))
        self._events = EventSink(client, clock, SCHEME.of(Event))
        self._pollings = [self._polling(source) for source in self._sources()]
        around = Surroundings(client, self._informers, clock, self._events, ReplayFiles(self._replays))
        controllers, deciders = self._choice()
        self._manager = Manager(around)
        for controller in controllers:
            self._manager.add(controller)
        self._pumps = [Pump(make, around) for make in deciders]

    def _polling(self, source: Source) -> Polling:
        informers = self._informers
        seen = [informers.declare(type_) for type_ in source.looks_at]
        made = Polling(self._client, source, informers.cache, RealClock(), seen)
        informers.bring(source.objects, lambda: made)
        return made

    def checks(self) -> dict[str, Callable[[], bool]]:
        """For /readyz: whether each group of deciders can be counted on, by the first one's name (`scheduler`)."""
        return {name: partial(self._is_sound, name) for name in map(_name_of, self._pumps)}

    def _is_sound(self, name: str) -> bool:
        return all(pump.sound for pump in self._pumps if _name_of(pump) == name)

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        parts: list[Measured] = [self._manager, self._events, *self._pumps, *self._pollings]
        for part in parts:
            yield from part.measures()

    def pending(self, cluster_queue: str) -> Iterator[Pending] | None:
        """See kumi.runtime.visibility.PendingSource. ApiError: nobody_decides."""
        return self._lines().pending(cluster_queue)

    def cluster_queue_of(self, local_queue: str) -> str | None:
        """See kumi.runtime.visibility.PendingSource. ApiError: nobody_decides."""
        return self._lines().cluster_queue_of(local_queue)

    def _lines(self) -> PendingSource:
        for pump in self._pumps:
            for decider in pump.deciders:
                if isinstance(decider, PendingSource):
                    return decider
        raise nobody_decides()

    async def run(self) -> None:
        """Ends only by an error."""
        if self._changed is None:
            return await self._run()
        while True:
            work, change = asyncio.create_task(self._run()), asyncio.ensure_future(self._changed())
            try:
                await asyncio.wait([work, change], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (change, work):
                    task.cancel()
                await asyncio.gather(change, work, return_exceptions=True)
            if not work.cancelled():
                return work.result()
            change.result()
            self._make()

    async def _run(self) -> None:
        work = (self._informers.run(), self._events.run(), self._manager.run(), *(pump.run() for pump in self._pumps))
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)


def _name_of(pump: Pump) -> str:
    return pump.deciders[0].name.removeprefix("kumi-")
