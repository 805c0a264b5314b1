"""The stream of a watch: JSON lines in chunks of any size, as events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import orjson

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject, WatchEvent


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream, without their ends; a last one without an end was cut off and is left out."""
    parts: list[bytes] = []
    async for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        if whole:
            yield b"".join((*parts, whole[0]))
            for line in whole[1:]:
                yield line
            parts = []
        if rest:
            parts.append(rest)


async def events(
    chunks: AsyncIterator[bytes], error_from_status: Callable[[JsonObject], ApiError]
) -> AsyncIterator[WatchEvent]:
    """The events of a watch. ApiError for an event of type ERROR (410: list again); ConnectionError for nonsense."""
    async for line in lines(chunks):
        if not line.strip():
            continue
        try:
            event = orjson.loads(line)
            type_, obj = event["type"], event["object"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise ConnectionError(f"the watch sent what is no event: {error}") from error
        if type_ == "ERROR":
            raise error_from_status(obj)
        yield WatchEvent(type_, obj)
