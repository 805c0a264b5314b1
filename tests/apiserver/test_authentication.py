from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, web
from yarl import URL

from kumi.api.scheme import Scheme
from kumi.apiserver.app import make_app
from kumi.apiserver.authentication import USER, User, authentication, bearer_token, is_public
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from tests.apiserver.conftest import NOW


class ByToken:
    """Knows tokens."""

    def __init__(self, **users: str) -> None:
        self.users = users

    def authenticate(self, request: web.BaseRequest) -> User | None:
        name = self.users.get(bearer_token(request))
        return User(name) if name else None


@pytest.fixture
async def guarded(registry: Registry, scheme: Scheme) -> AsyncIterator[ClientSession]:
    app = make_app(registry, scheme, clock_ms=lambda: NOW, authenticators=[ByToken(a="ann"), ByToken(b="bob")])
    async with Server(app) as server, ClientSession(server.url) as client:
        yield client


@pytest.mark.parametrize(
    "path", ["/api", "/api/v1/pods", "/openapi/v3", "/nonsense", "/healthzz", "/version/x/../../api"]
)
@pytest.mark.parametrize("authorization", ["", "Bearer c", "Basic a"])
async def test_without_a_proof_every_path_is_a_401(guarded: ClientSession, path: str, authorization: str) -> None:
    response = await guarded.get(path, headers={"Authorization": authorization} if authorization else {})
    status = await response.json()
    assert (response.status, status["kind"], status["reason"]) == (401, "Status", "Unauthorized")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping", "/version"])
async def test_public_paths_need_no_proof(guarded: ClientSession, path: str) -> None:
    assert (await guarded.get(path)).status == 200


@pytest.mark.parametrize("token", ["a", "b"])
async def test_any_of_the_authenticators_may_know_the_user(guarded: ClientSession, token: str) -> None:
    assert (await guarded.get("/api/v1/pods", headers={"Authorization": f"Bearer {token}"})).status == 200


async def test_what_comes_behind_knows_who_asks() -> None:
    seen: list[User] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request[USER])
        return web.Response()

    app = web.Application(middlewares=[authentication([ByToken(a="ann")])])
    app.router.add_get("/x", handler)
    async with Server(app) as server, ClientSession(server.url) as client:
        await client.get("/x", headers={"Authorization": "Bearer a"})
    assert seen == [User("ann")]


@pytest.mark.parametrize(
    ("path", "public"), [("/healthz", True), ("/healthz/etcd", True), ("/healthzx", False), ("/", False)]
)
def test_only_the_paths_named_are_public(path: str, public: bool) -> None:
    assert is_public(path) is public


@pytest.mark.parametrize(
    "path", ["/healthz/../api/v1/secrets", "/healthz/%2e%2e/api", "/version/../api", "/livez/..%2fapi"]
)
async def test_a_public_path_is_no_way_around(guarded: ClientSession, path: str) -> None:
    response = await guarded._request("GET", URL(str(guarded._base_url).rstrip("/") + path, encoded=True))
    assert response.status in (401, 404)
