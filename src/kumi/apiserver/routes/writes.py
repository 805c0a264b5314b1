"""Writes that were begun are finished, whether or not the client waits for the answer.

A request is cancelled as soon as its client is gone. For a read or a stream that is right; a write may stand between two
steps (an object marked as deleted, not yet removed), and half a write would be left for good.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

LOG = logging.getLogger("kumi.apiserver")


class Writes:
    """The writes that are under way."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    async def finish(self, write: Coroutine[Any, Any, T]) -> T:
        """The result of `write`, which goes on to its end even if whoever waits here is cancelled."""
        task = asyncio.create_task(write)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def drain(self) -> None:
        """Returns when no write is under way."""
        while self._running:
            await asyncio.wait(self._running)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Whoever still waits has the error too; here it is taken note of, so that it never counts as unseen.
            LOG.debug("a write ended with %r", error)
