"""A guarded server: users by token, roles in its registry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.api.user import MASTERS
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.authentication import AUDIENCE, Bearer, Known, TokenSource, known
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from kumi.registry.requests import Target, WriteOptions
from tests.apiserver.conftest import NOW


class Tokens:
    """A TokenSource: `NAME` or `NAME:GROUP,GROUP` is the token of that user."""

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        name, _, groups = token.partition(":")
        return Known(known(name, groups.split(",") if groups else ()), (AUDIENCE,)) if AUDIENCE in audiences else None


ADMIN = f"admin:{MASTERS}"


class Guarded:
    """Asks a guarded server as somebody."""

    def __init__(self, client: ClientSession, registry: Registry) -> None:
        self.client, self.registry = client, registry

    async def ask(
        self, who: str, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, JsonObject]:
        """Status and body; `who` "" is anonymous. Headers with _ for -."""
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        if who:
            sent["Authorization"] = f"Bearer {who}"
        async with self.client.request(method, path, json=body, headers=sent) as response:
            text = await response.text()
            return response.status, await response.json(content_type=None) if text.startswith("{") else {"text": text}

    async def put(self, *objects: JsonObject) -> None:
        """Creates objects past all guards."""
        for obj in objects:
            kind = self.registry.scheme.of_object(obj)
            assert kind is not None
            target = Target(kind, obj["metadata"].get("namespace", ""))
            await self.registry.create(target, obj, WriteOptions())


@asynccontextmanager
async def serve(
    registry: Registry, scheme: Scheme, sources: Sequence[TokenSource] = (), **more: Any
) -> AsyncIterator[Guarded]:
    proofs = [Bearer([*sources, Tokens()])]
    app = make_app(registry, scheme, clock_ms=lambda: NOW, authenticators=proofs, **more)
    async with Server(app) as server, ClientSession(server.url) as client:
        yield Guarded(client, registry)


def namespace(name: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
