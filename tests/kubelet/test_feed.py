from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kumi.api import scheme
from kumi.api.core import Pod
from kumi.kubelet.feed import follow
from kumi.testing.clock import VirtualClock
from kumi.testing.fake_client import FakeClient
from tests.kubelet.stage import pod

KIND = scheme.load().of(Pod)


class Told:
    """What a feed told: `+name`, `-name`, `.` for a complete list."""

    def __init__(self, client: FakeClient, clock: VirtualClock) -> None:
        self.words: list[str] = []
        self.task = asyncio.create_task(self._listen(client, clock))

    async def _listen(self, client: FakeClient, clock: VirtualClock) -> None:
        async for change in follow(client, KIND, clock):
            self.words.append(
                "." if change is None else ("-" if change.gone else "+") + change.object["metadata"]["name"]
            )


@pytest.fixture
async def told() -> AsyncIterator[tuple[FakeClient, VirtualClock, Told]]:
    client, clock = FakeClient([KIND]), VirtualClock()
    await client.create(pod("a", "x"))
    found = Told(client, clock)
    await clock.advance()
    yield client, clock, found
    found.task.cancel()


async def test_first_the_list_then_every_change(told: Any) -> None:
    client, clock, found = told
    await client.create(pod("b", "x"))
    await client.delete(KIND, "default", "a")
    await clock.advance()
    assert found.words == ["+a", ".", "+b", "-a"]


async def test_a_deletion_that_was_missed_is_told_with_the_next_list(told: Any) -> None:
    client, clock, found = told
    client.hold()
    await client.delete(KIND, "default", "a")
    await client.create(pod("b", "x"))
    client.cut(ConnectionError("lost"))
    client.compact()
    await clock.advance(100)
    assert found.words == ["+a", ".", "-a", "+b", "."]


async def test_another_pod_of_the_same_name_is_another_pod(told: Any) -> None:
    client, clock, found = told
    client.hold()
    await client.delete(KIND, "default", "a")
    await client.create(pod("a", "x"))
    client.cut()
    await clock.advance(100)
    assert found.words == ["+a", ".", "-a", "+a", "."]
