from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from kumi.apiserver.routes.streams import Streams, opened
from tests.apiserver.conftest import within


class Numbers:
    """An endless source that remembers whether it was closed."""

    def __init__(self, wait: bool = False, error: Exception | None = None) -> None:
        self.closed, self._wait, self._error = False, wait, error

    async def run(self) -> AsyncIterator[int]:
        try:
            if self._error:
                raise self._error
            if self._wait:
                await asyncio.Event().wait()
            for number in range(3):
                yield number
        finally:
            self.closed = True


async def test_an_opened_stream_gives_every_item() -> None:
    async with opened(Numbers().run(), 1) as items:
        assert [item async for item in items] == [0, 1, 2]


async def test_an_error_before_the_first_item_is_raised_on_opening() -> None:
    source = Numbers(error=ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        async with opened(source.run(), 1):
            pytest.fail("it was opened")
    assert source.closed


async def test_a_quiet_stream_is_opened_all_the_same() -> None:
    source = Numbers(wait=True)
    async with opened(source.run(), 0):
        assert not source.closed
    assert source.closed


async def test_leaving_early_closes_the_source() -> None:
    source = Numbers()
    async with opened(source.run(), 1) as items:
        await anext(items)
    assert source.closed


async def test_a_deadline_ends_a_stream_without_an_error() -> None:
    streams = Streams()

    async def quiet() -> str:
        async with streams.deadline(0.01):
            await asyncio.Event().wait()
        return "over"

    assert await within(quiet()) == "over"
    assert len(streams) == 0


async def test_closing_ends_all_streams_and_those_to_come() -> None:
    streams = Streams()

    async def quiet() -> None:
        async with streams.deadline(None):
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(quiet()) for _ in range(50)]
    await asyncio.sleep(0)
    assert len(streams) == 50
    streams.close()
    await within(asyncio.gather(*tasks))
    await within(quiet())
    assert len(streams) == 0


async def test_another_timeout_within_a_stream_is_not_its_end() -> None:
    with pytest.raises(TimeoutError, match="mine"):
        async with Streams().deadline(10):
            raise TimeoutError("mine")
