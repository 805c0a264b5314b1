"""Leader election on a Lease (coordination.k8s.io/v1): of all that ask, at most one works.

The rule, for one look at the lease:
    no lease                                                    make it
    held by me                                                  renew
    held by nobody, or not renewed for its duration             take it
    held by another                                             wait
Every write is conditional on what was read, so of two that take it at once one is refused and waits.

Expiry     is judged by how long the lease has looked the same to *this* process, on its own monotonic clock, never by the
           times written in it: clocks of machines differ.
Safety     a holder that could not renew for `renew_deadline_ms` stops its work before others may take the lease
           (deadline < duration); work is cancelled and over before `hold` returns or the lease is released.
Source     client-go's leaderelection: the fields, and the default times.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kumi.api.errors import ApiError
from kumi.api.meta import format_micro_time
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.runtime.client import Client
from kumi.runtime.clock import Clock
from kumi.runtime.writes import FAULTS

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Election:
    """Who asks for which lease, and how patient everybody is."""

    namespace: str
    name: str
    identity: str
    duration_ms: int = 15_000
    renew_deadline_ms: int = 10_000
    retry_ms: int = 2_000


class Action(Enum):
    """What one look at the lease leads to; see the module."""

    MAKE = "make"
    RENEW = "renew"
    TAKE = "take"
    WAIT = "wait"


@dataclass(frozen=True)
class Seen:
    """A lease as this process has seen it: since when (monotonic) it has looked like that."""

    lease: JsonObject
    since_ms: int


def decide(seen: Seen | None, identity: str, monotonic_ms: int) -> Action:
    """See the module."""
    if seen is None:
        return Action.MAKE
    spec = seen.lease.get("spec") or {}
    holder = spec.get("holderIdentity") or ""
    if holder == identity:
        return Action.RENEW
    expires_ms = seen.since_ms + int(spec.get("leaseDurationSeconds") or 0) * 1000
    return Action.TAKE if not holder or monotonic_ms >= expires_ms else Action.WAIT


def body_of(action: Action, seen: Seen | None, election: Election, now_ms: int) -> JsonObject:
    """The lease to create (MAKE) or the merge patch to apply (RENEW, TAKE)."""
    now = format_micro_time(now_ms)
    spec: JsonObject = {"renewTime": now}
    if action is not Action.RENEW:
        before = {} if seen is None else seen.lease.get("spec") or {}
        spec |= {
            "holderIdentity": election.identity,
            "leaseDurationSeconds": max(1, election.duration_ms // 1000),
            "acquireTime": now,
            "leaseTransitions": 0 if seen is None else int(before.get("leaseTransitions") or 0) + 1,
        }
    if seen is None:
        return {"metadata": {"namespace": election.namespace, "name": election.name}, "spec": spec}
    return {"metadata": {"resourceVersion": seen.lease["metadata"]["resourceVersion"]}, "spec": spec}


class Leader:
    """One candidate. `kind` is that of Lease. `hold` may be called again after it returned."""

    def __init__(self, client: Client, kind: Kind, clock: Clock, election: Election) -> None:
        if not 0 < election.retry_ms < election.renew_deadline_ms < election.duration_ms:
            raise ValueError("retry < renew deadline < lease duration must hold")
        self._client = client
        self._kind = kind
        self._clock = clock
        self._election = election
        self._seen: Seen | None = None
        self._leads = False

    @property
    def leads(self) -> bool:
        """Whether this candidate holds the lease."""
        return self._leads

    async def hold(self, work: Callable[[], Awaitable[None]], lost: Callable[[], None] | None = None) -> None:
        """Waits for the lease, then runs `work` for as long as it is held. Returns when `work` is over, or when the
        lease was lost (`lost` is called first, and `work` is cancelled). The lease is given back where it is still ours."""
        await self._acquire()
        self._leads = True
        log.info("%s leads (%s/%s)", self._election.identity, self._election.namespace, self._election.name)
        working = asyncio.ensure_future(work())
        renewing = asyncio.ensure_future(self._renew())
        over = False
        try:
            await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
            over = working.done()
            if not over and lost is not None:
                lost()
        finally:
            self._leads = False
            working.cancel()
            renewing.cancel()
            await asyncio.gather(working, renewing, return_exceptions=True)
            await self._release()
        if over:
            await working

    async def _acquire(self) -> None:
        while not await self._try():
            await self._clock.sleep_ms(self._election.retry_ms)

    async def _renew(self) -> None:
        """Until the lease is lost."""
        renewed = self._clock.monotonic_ms()
        while True:
            await self._clock.sleep_ms(self._election.retry_ms)
            asked = self._clock.monotonic_ms()
            if await self._within(self._try(), renewed + self._election.renew_deadline_ms - asked):
                renewed = asked
            elif self._holder() != self._election.identity:
                log.warning("%s lost the lead to %s", self._election.identity, self._holder() or "nobody")
                return
            elif self._clock.monotonic_ms() - renewed >= self._election.renew_deadline_ms:
                log.warning("%s could not renew the lead in time", self._election.identity)
                return

    async def _try(self) -> bool:
        """One look and what it leads to; whether the lease is ours after it."""
        try:
            await self._look()
            action = decide(self._seen, self._election.identity, self._clock.monotonic_ms())
            if action is Action.WAIT:
                return False
            self._saw(await self._write(body_of(action, self._seen, self._election, self._clock.now_ms())))
        except FAULTS as error:
            log.debug("%s: %s", self._election.name, error)
            return False
        return True

    async def _look(self) -> None:
        try:
            self._saw(await self._client.get(self._kind, self._election.namespace, self._election.name))
        except ApiError as error:
            if error.code != 404:
                raise
            self._seen = None

    async def _write(self, body: JsonObject) -> JsonObject:
        if self._seen is None:
            return await self._client.create({"apiVersion": self._kind.api_version, "kind": self._kind.kind, **body})
        return await self._client.patch(self._kind, self._election.namespace, self._election.name, body)

    def _saw(self, lease: JsonObject) -> None:
        """Remembers the lease; its age counts from the first time that it looked like this."""
        same = self._seen is not None and self._seen.lease.get("spec") == lease.get("spec")
        since = self._seen.since_ms if same and self._seen is not None else self._clock.monotonic_ms()
        self._seen = Seen(lease, since)

    def _holder(self) -> str:
        return "" if self._seen is None else str((self._seen.lease.get("spec") or {}).get("holderIdentity") or "")

    async def _release(self) -> None:
        """Gives the lease back if it is still ours; others need not wait for it to expire. Best effort."""
        if self._seen is None or self._holder() != self._election.identity:
            return
        body = {
            "metadata": {"resourceVersion": self._seen.lease["metadata"]["resourceVersion"]},
            "spec": {"holderIdentity": "", "leaseDurationSeconds": 1},
        }
        with contextlib.suppress(*FAULTS):
            await self._within(self._give_back(body), self._election.retry_ms)

    async def _give_back(self, body: JsonObject) -> bool:
        self._saw(await self._write(body))
        return True

    async def _within(self, work: Coroutine[Any, Any, bool], limit_ms: int) -> bool:
        """The result of `work`, False if it is not there in time."""
        working = asyncio.ensure_future(work)
        timer = asyncio.ensure_future(self._clock.sleep_ms(limit_ms))
        try:
            await asyncio.wait((working, timer), return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else False
        finally:
            timer.cancel()
            working.cancel()
