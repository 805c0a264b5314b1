"""How much at once, and how long one client may keep the server waiting: limits that no well-behaved client meets.

    requests under way     IN_FLIGHT; the next one is told 429 with `Retry-After: 1`, which Kubernetes' clients obey. Streams
                           (watches, logs, commands) don't count: they wait most of the time, and each has a bound of its own
    a body                 has BODY_S to arrive, else 504
    a watch                whose client takes nothing for STALLED_S is cut off; meanwhile no more changes wait for it than the
                           store's bound (kumi.store.watch)
Why        an idle connection costs little and is left alone (keep-alive ends it); what costs is work that is begun.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiohttp import web

from kumi.api.errors import ApiError
from kumi.apiserver.routes.attributes import STREAMS
from kumi.apiserver.routes.paths import Call

IN_FLIGHT = 2000
BODY_S = 60.0
STALLED_S = 60.0

T = TypeVar("T")


def is_stream(call: Call) -> bool:
    """Whether a call's answer has no end in sight."""
    return call.verb == "watch" or call.target.subresource in ("log", *STREAMS)


class InFlight:
    """The requests that are under way."""

    def __init__(self) -> None:
        self._count = 0

    def __len__(self) -> int:
        return self._count

    async def counted(self, answer: Callable[[], Awaitable[T]]) -> T:
        """What `answer` gives, unless there are too many already. ApiError 429."""
        if self._count >= IN_FLIGHT:
            raise too_many()
        self._count += 1
        try:
            return await answer()
        finally:
            self._count -= 1


def too_many() -> ApiError:
    """429, in the words that clients know."""
    return ApiError(429, "TooManyRequests", "too many requests, please try again later", retry_after_seconds=1)


async def read_body(request: web.Request) -> bytes:
    """The body, once it is here. TimeoutError: it took too long."""
    if request.content.is_eof():
        return await request.read()
    async with asyncio.timeout(BODY_S):
        return await request.read()


async def write_within(request: web.Request, response: web.StreamResponse, data: bytes) -> None:
    """Sends a piece of a stream. ConnectionError: its client took nothing for too long, and is cut off."""
    try:
        async with asyncio.timeout(STALLED_S):
            await response.write(data)
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionAbortedError("the client of a stream takes nothing") from None
