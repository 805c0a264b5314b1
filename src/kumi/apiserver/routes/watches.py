"""Watches: one JSON line an event, `{"type": ..., "object": ...}`, until the client goes, the time is over, or an error.

    what is refused at once (a bad selector)   an ordinary Status with its code
    410 Expired, and any later error           an event of type ERROR whose object is the Status; the stream ends
    as=Table                                   each object is a Table of one row; only the first has column definitions
    timeoutSeconds                             when the stream ends by itself; without it between 30 and 60 minutes, spread
                                               so that the clients of a restarted server don't all come back at once
A client that doesn't read is held by its socket, then cut off by the store (a bounded queue): it lists and watches again.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable

import orjson
from aiohttp import web

from kumi.api.errors import ApiError
from kumi.api.wire import WatchEvent
from kumi.apiserver.errors import report
from kumi.apiserver.responses import JSON, NO_CACHE
from kumi.apiserver.routes.streams import Streams, end, opened

LONGEST_S = 3600
Encode = Callable[[WatchEvent], bytes]


def timeout_seconds(asked: int | None) -> float:
    """How long a watch lasts."""
    return float(asked) if asked and asked > 0 else random.uniform(LONGEST_S / 2, LONGEST_S)


def error_line(error: ApiError) -> bytes:
    """The last event of a watch that fails."""
    return orjson.dumps({"type": "ERROR", "object": error.status()}) + b"\n"


async def stream(
    request: web.Request,
    start: Callable[[], AsyncIterator[WatchEvent]],
    encode: Encode,
    streams: Streams,
    seconds: float,
) -> web.StreamResponse:
    """Answers a watch; `start` begins it. ApiError for what is refused at once."""
    response = web.StreamResponse(headers={"Content-Type": JSON, "Cache-Control": NO_CACHE})
    response.enable_chunked_encoding()
    async with streams.deadline(seconds):
        try:
            async with opened(start(), 0) as events:
                await response.prepare(request)
                async for event in events:
                    await response.write(encode(event))
        except ConnectionError:
            return response
        except Exception as error:
            told = report(error, request)
            if not response.prepared:
                if told.code != 410:
                    raise told from error
                await response.prepare(request)
            await response.write(error_line(told))
    if not response.prepared:
        await response.prepare(request)
    await end(response)
    return response
