"""A server in process: a registry on a memory store, its application, a client for it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

import pytest
from aiohttp import ClientSession

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme, load
from kumi.api.wire import JsonObject, WatchEvent
from kumi.apiserver.app import make_app
from kumi.apiserver.server import Server
from kumi.registry.bootstrap import bootstrap
from kumi.registry.registry import Registry
from kumi.registry.requests import ListOptions, Target
from kumi.runtime.streams import LogOptions
from kumi.store.memory import MemoryStore

NOW = 1_800_000_000_000
DEADLINE_S = 20


class FakeLogs:
    """Logs by pod name: a list of chunks, or an error; `held` keeps a followed log open until it is set."""

    def __init__(self) -> None:
        self.chunks: dict[str, list[bytes] | ApiError] = {}
        self.asked: list[LogOptions] = []
        self.held = asyncio.Event()
        self.open = 0

    async def logs(self, pod: JsonObject, options: LogOptions) -> AsyncIterator[bytes]:
        self.asked.append(options)
        self.open += 1
        try:
            found = self.chunks[pod["metadata"]["name"]]
            if isinstance(found, ApiError):
                raise found
            for chunk in found:
                yield chunk
            if options.follow:
                await self.held.wait()
                yield b"the end\n"
        finally:
            self.open -= 1


class WatchedRegistry(Registry):
    """A registry that counts its open watches."""

    open_watches = 0

    def batches(self, target: Target, options: ListOptions) -> AsyncGenerator[list[WatchEvent], None]:
        return self._counted(super().batches(target, options))

    async def _counted(self, batches: AsyncGenerator[list[WatchEvent], None]) -> AsyncGenerator[list[WatchEvent], None]:
        self.open_watches += 1
        try:
            async with aclosing(batches):
                async for batch in batches:
                    yield batch
        finally:
            self.open_watches -= 1


@pytest.fixture(scope="session")
def scheme() -> Scheme:
    return load()


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    yield store
    await store.close()


@pytest.fixture
async def registry(store: MemoryStore, scheme: Scheme) -> WatchedRegistry:
    numbers = itertools.count()
    registry = WatchedRegistry(store, scheme, lambda: NOW, lambda: f"00000000-0000-4000-8000-{next(numbers):012}")
    await bootstrap(registry)
    return registry


@pytest.fixture
async def logs() -> FakeLogs:
    return FakeLogs()


@pytest.fixture
async def client(registry: Registry, scheme: Scheme, logs: FakeLogs) -> AsyncIterator[ClientSession]:
    app = make_app(registry, scheme, clock_ms=lambda: NOW, logs=logs)
    async with Server(app) as server, ClientSession(server.url) as client:
        yield client


async def until(holds: Callable[[], bool]) -> None:
    """Waits until it holds, for so long and no longer."""
    async with asyncio.timeout(DEADLINE_S):
        while not holds():
            await asyncio.sleep(0.005)


async def within(awaitable: Awaitable[object]) -> object:
    """The result, for as long as a test may wait."""
    return await asyncio.wait_for(awaitable, DEADLINE_S)


def config_map(name: str = "a", **data: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod(name: str = "p", **spec: object) -> JsonObject:
    container = {"name": "c", "image": "i"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}
