"""Answers without an end in sight: watches and followed logs.

A stream that is refused at once is an ordinary error; later it is too late for a status code. So `opened` waits for the
first item, but only for so long: a quiet stream gets its headers then.

`Streams` knows the open ones. Each has a deadline; `close` brings all deadlines forward to now, so that every stream ends
as if its time had come, and stopping a server with many of them is immediate.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from aiohttp import web

T = TypeVar("T")


class Streams:
    """The open streams of a server."""

    def __init__(self) -> None:
        self._deadlines: set[asyncio.Timeout] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._deadlines)

    @asynccontextmanager
    async def deadline(self, seconds: float | None) -> AsyncIterator[None]:
        """Ends what is within after that long, or at `close`, by cancelling what it waits for; no error comes out."""
        timeout = asyncio.timeout(0 if self._closed else seconds)
        self._deadlines.add(timeout)
        try:
            async with timeout:
                yield
        except TimeoutError:
            if not timeout.expired():
                raise
        finally:
            self._deadlines.discard(timeout)

    def close(self) -> None:
        """Ends every open stream now, and those to come."""
        self._closed = True
        now = asyncio.get_running_loop().time()
        for timeout in self._deadlines:
            timeout.reschedule(now)


@asynccontextmanager
async def opened(items: AsyncIterator[T], patience_s: float) -> AsyncIterator[AsyncIterator[T]]:
    """The same items, once the first is there or `patience_s` are over. An error instead of the first item is raised here.

    `items` is closed at the end, whatever happens."""
    first = asyncio.ensure_future(_next(items))
    try:
        await asyncio.wait({first}, timeout=patience_s)
        if first.done() and (error := first.exception()) is not None and not isinstance(error, StopAsyncIteration):
            raise error
        rest = _rest(first, items)
        try:
            yield rest
        finally:
            await rest.aclose()
    finally:
        if not first.done():
            first.cancel()
            await asyncio.wait({first})
        if isinstance(items, AsyncGenerator):
            await items.aclose()


async def _next(items: AsyncIterator[T]) -> T:
    return await anext(items)


async def _rest(first: asyncio.Future[T], items: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    try:
        yield await first
    except StopAsyncIteration:
        return
    async for item in items:
        yield item


async def end(response: web.StreamResponse) -> None:
    """Says goodbye, if the client is still there to hear it."""
    try:
        await response.write_eof()
    except ConnectionError:
        return
