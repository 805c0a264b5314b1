"""Watches: one JSON line an event, `{"type": ..., "object": ...}`, until the client goes, the time is over, or an error.

    what is refused at once (a bad selector)   an ordinary Status with its code
    410 Expired, and any later error           an event of type ERROR whose object is the Status; the stream ends
    as=Table                                   each object is a Table of one row; only the first has column definitions
    timeoutSeconds                             when the stream ends by itself; without it between 30 and 60 minutes, spread
                                               so that the clients of a restarted server don't all come back at once
Together   what happened meanwhile is sent in one piece, and the more streams are open, the longer a watch lets events gather
           after it has sent some: GATHER_S for each, GATHER_AT_MOST_S at most. The first event after a pause goes at once.
Why        a piece costs some 40 us whatever is in it: 200 watches of 500 writes a second, each told by itself, take two cores.
Slow       A client that doesn't read is held by its socket; one that reads too slowly is cut off by the store (a bounded queue),
           one that takes nothing at all after a while (limits.py). Either lists and watches again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import orjson
from aiohttp import web

from kumi.api.errors import ApiError
from kumi.api.wire import WatchEvent
from kumi.apiserver.errors import report
from kumi.apiserver.responses import JSON, NO_CACHE
from kumi.apiserver.routes.limits import write_within
from kumi.apiserver.routes.streams import Streams, end

LONGEST_S = 3600
GATHER_S, GATHER_LEAST_S, GATHER_AT_MOST_S = 0.0005, 0.002, 0.05
Encode = Callable[[WatchEvent], bytes]


def timeout_seconds(asked: int | None) -> float:
    """How long a watch lasts."""
    return float(asked) if asked and asked > 0 else random.uniform(LONGEST_S / 2, LONGEST_S)


def pause_s(streams: int) -> float:
    """How long a watch lets events gather while that many streams are open."""
    pause = min(GATHER_S * streams, GATHER_AT_MOST_S)
    return pause if pause >= GATHER_LEAST_S else 0.0


def error_line(error: ApiError) -> bytes:
    """The last event of a watch that fails."""
    return orjson.dumps({"type": "ERROR", "object": error.status()}) + b"\n"


async def stream(
    request: web.Request,
    start: Callable[[], AsyncGenerator[list[WatchEvent], None]],
    encode: Encode,
    streams: Streams,
    seconds: float,
) -> web.StreamResponse:
    """Answers a watch; `start` begins it. ApiError for what is refused at once."""
    response = web.StreamResponse(headers={"Content-Type": JSON, "Cache-Control": NO_CACHE})
    response.enable_chunked_encoding()
    async with streams.deadline(seconds):
        try:
            async with aclosing(start()) as batches:
                await response.prepare(request)
                async for batch in batches:
                    await write_within(request, response, b"".join(map(encode, batch)))
                    if pause := pause_s(len(streams)):
                        await asyncio.sleep(pause)
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
