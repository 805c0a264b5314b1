from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from aiohttp import ClientSession, web
from yarl import URL

from kumi.api.scheme import Scheme
from kumi.api.user import MASTERS
from kumi.apiserver.app import make_app
from kumi.apiserver.authentication import AUDIENCE, USER, Bearer, Known, User, authentication, known
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from tests.apiserver.conftest import NOW


class Tokens:
    """Knows tokens: each is its user's name."""

    def __init__(self, *users: str, groups: Sequence[str] = ()) -> None:
        self.users, self.groups = users, groups

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        return Known(known(token, self.groups), (AUDIENCE,)) if token in self.users else None


@pytest.fixture
async def guarded(registry: Registry, scheme: Scheme) -> AsyncIterator[ClientSession]:
    proofs = [Bearer([Tokens("ann", groups=[MASTERS])]), Bearer([Tokens("bob")])]
    app = make_app(registry, scheme, clock_ms=lambda: NOW, authenticators=proofs)
    async with Server(app) as server, ClientSession(server.url) as client:
        yield client


@pytest.mark.parametrize("path", ["/api", "/api/v1/pods", "/openapi/v3", "/nonsense", "/healthz", "/version"])
@pytest.mark.parametrize("authorization", ["Bearer carl", "bearer carl", "Basic ann", "ann", "Bearer"])
async def test_a_proof_that_proves_nothing_is_a_401_everywhere(
    guarded: ClientSession, path: str, authorization: str
) -> None:
    response = await guarded.get(path, headers={"Authorization": authorization})
    status = await response.json()
    assert (response.status, status["kind"], status["reason"]) == (401, "Status", "Unauthorized")


@pytest.mark.parametrize("path", ["/api", "/api/v1/pods", "/openapi/v3", "/nonsense", "/healthzz", "/livez/ping"])
async def test_without_a_proof_most_is_forbidden_to_the_unknown(guarded: ClientSession, path: str) -> None:
    response = await guarded.get(path)
    status = await response.json()
    assert (response.status, status["reason"]) == (403, "Forbidden")
    assert 'User "system:anonymous"' in status["message"]


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
async def test_anybody_may_see_whether_the_server_is_up(guarded: ClientSession, path: str) -> None:
    assert (await guarded.get(path)).status == 200


@pytest.mark.parametrize(
    "path", ["/healthz/../api/v1/secrets", "/healthz/%2e%2e/api", "/version/../api", "/livez/..%2fapi", "/version/%2e/"]
)
async def test_a_public_path_is_no_way_around(guarded: ClientSession, path: str) -> None:
    response = await guarded._request("GET", URL(str(guarded._base_url).rstrip("/") + path, encoded=True))
    assert response.status == 403


@pytest.mark.parametrize(("token", "status"), [("ann", 200), ("bob", 403)])
async def test_any_of_the_authenticators_may_know_the_user(guarded: ClientSession, token: str, status: int) -> None:
    assert (await guarded.get("/api/v1/pods", headers={"Authorization": f"Bearer {token}"})).status == status


async def who(headers: dict[str, str]) -> User:
    """Whom a handler behind the middleware sees."""
    seen: list[User] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request[USER])
        return web.Response()

    app = web.Application(middlewares=[authentication([Bearer([Tokens("ann", groups=["staff"])])])])
    app.router.add_get("/x", handler)
    async with Server(app) as server, ClientSession(server.url) as client:
        await client.get("/x", headers=headers)
    return seen[0]


async def test_what_comes_behind_knows_who_asks() -> None:
    assert await who({"Authorization": "Bearer ann"}) == User("ann", ("staff", "system:authenticated"))


async def test_who_proves_nothing_is_anonymous() -> None:
    assert await who({}) == User("system:anonymous", ("system:unauthenticated",))


def test_a_user_is_told_once_of_each_group() -> None:
    assert known("a", ["x", "x", "system:authenticated"]).groups == ("x", "system:authenticated")
