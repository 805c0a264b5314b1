"""The loops of a control plane, run on a client: in the process of the API server, or over HTTP beside it.

    ALL      Kumi's own and Kubernetes': `kumi up`, `kumi controllers`
    BARE     those that an API server without nodes needs to keep its word: `kumi up --bare`
    NONE     nothing: `kumi up --no-controllers`

Both transports run the same code; what differs is the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TypeAlias

from kumi.api.core import Event
from kumi.api.scheme import SCHEME
from kumi.controllers import MakeDeciders, all_controllers, all_deciders, bare_controllers, bare_deciders
from kumi.jobs.base import Settings
from kumi.kubelet.wait import INIT_COMMAND
from kumi.runtime.client import Client
from kumi.runtime.clock import RealClock
from kumi.runtime.events import EventSink
from kumi.runtime.informer import Informers
from kumi.runtime.manager import Manager, Surroundings
from kumi.runtime.pump import Pump
from kumi.runtime.reconcile import Controller
from kumi.runtime.replay import ReplayFiles

Loops: TypeAlias = Callable[[], tuple[Sequence[Controller], Sequence[MakeDeciders]]]
"""New controllers and deciders, for one run"""


def ALL() -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:  # noqa: N802  one of three choices
    """See the module."""
    return all_controllers(Settings(init_command=INIT_COMMAND)), all_deciders()


def BARE() -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:  # noqa: N802
    """See the module."""
    return bare_controllers(), bare_deciders()


def NONE() -> tuple[Sequence[Controller], Sequence[MakeDeciders]]:  # noqa: N802
    """See the module."""
    return (), ()


async def run_loops(client: Client, loops: Loops, replays: Path, pumps: list[Pump] | None = None) -> None:
    """Informers, controllers, deciders, events; ends only by an error. `replays`: where replay files go; `pumps`: where
    the pumps are put, for who wants to know whether they are sound."""
    clock = RealClock()
    informers = Informers(client, clock)
    events = EventSink(client, clock, SCHEME.of(Event))
    around = Surroundings(client, informers, clock, events, ReplayFiles(replays))
    controllers, deciders = loops()
    manager = Manager(around)
    for controller in controllers:
        manager.add(controller)
    pumps = [] if pumps is None else pumps
    pumps += [Pump(make, around) for make in deciders]
    work: list[Coroutine[object, object, None]] = [informers.run(), events.run(), manager.run()]
    async with asyncio.TaskGroup() as group:
        for one in [*work, *(pump.run() for pump in pumps)]:
            group.create_task(one)
