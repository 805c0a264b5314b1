from __future__ import annotations

import asyncio

import pytest

from kumi.apiserver.routes.writes import Writes
from tests.apiserver.conftest import within


class Store:
    """A write of two steps, with a gate between them."""

    def __init__(self) -> None:
        self.steps, self.gate = 0, asyncio.Event()

    async def write(self) -> str:
        self.steps = 1
        await self.gate.wait()
        self.steps = 2
        return "written"


async def test_a_write_gives_its_result() -> None:
    store, writes = Store(), Writes()
    store.gate.set()
    assert await within(writes.finish(store.write())) == "written"
    await asyncio.sleep(0)
    assert len(writes) == 0


async def test_a_write_is_finished_though_nobody_waits_any_more() -> None:
    store, writes = Store(), Writes()
    waiting = asyncio.create_task(writes.finish(store.write()))
    while store.steps == 0:
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    store.gate.set()
    await within(writes.drain())
    assert (store.steps, len(writes)) == (2, 0)


async def test_an_error_reaches_who_waits() -> None:
    async def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Writes().finish(broken())


async def test_an_error_that_nobody_waits_for_is_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    writes, gate = Writes(), asyncio.Event()

    async def broken() -> None:
        await gate.wait()
        raise ValueError("no")

    waiting = asyncio.create_task(writes.finish(broken()))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    gate.set()
    await within(writes.drain())
    assert "never retrieved" not in caplog.text
