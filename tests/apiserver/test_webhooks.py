"""Webhooks over real HTTPS: who is trusted, and what is no answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from kumi.apiserver.identity import Identity
from kumi.apiserver.pki import authority_pem
from kumi.apiserver.server import Server
from kumi.apiserver.webhooks import HttpCaller
from kumi.registry.webhooks.calling import Address, CallFailed


async def echo(request: web.Request) -> web.Response:
    return web.json_response({"asked": await request.json(), "timeout": request.query["timeout"]})


async def silent(_: web.Request) -> web.Response:
    await asyncio.sleep(30)
    return web.Response()


async def broken(_: web.Request) -> web.Response:
    return web.Response(text="<html>")


async def away(_: web.Request) -> web.Response:
    raise web.HTTPFound("/echo")


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Address]:
    app = web.Application()
    app.add_routes([web.post(f"/{each.__name__}", each) for each in (echo, silent, broken, away)])
    identity = Identity(tmp_path, lambda: time.time_ns() // 1_000_000)
    async with Server(app, identity=identity) as server:
        parts = urlsplit(server.url)
        assert parts.hostname
        assert parts.port
        authority = authority_pem(identity.directory).decode()
        yield Address(parts.hostname, parts.port, "localhost", "/echo", authority)


@pytest.fixture
async def caller() -> AsyncIterator[HttpCaller]:
    made = HttpCaller()
    yield made
    await made.close()


async def test_it_is_asked_and_answers(place: Address, caller: HttpCaller) -> None:
    assert await caller.call(place, {"a": 1}, 5) == {"asked": {"a": 1}, "timeout": "5s"}


@pytest.mark.parametrize(
    ("changed", "seconds"),
    [
        ({"authority": ""}, 5),
        ({"server": "another.example.com"}, 5),
        ({"path": "/nothing"}, 5),
        ({"path": "/broken"}, 5),
        ({"path": "/away"}, 5),
        ({"path": "/silent"}, 0.2),
        ({"port": 1}, 5),
    ],
)
async def test_what_is_no_answer(
    place: Address, caller: HttpCaller, changed: dict[str, str | int], seconds: float
) -> None:
    with pytest.raises(CallFailed):
        await caller.call(Address(**{**vars(place), **changed}), {}, seconds)
