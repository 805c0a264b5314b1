from __future__ import annotations

from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.apiserver.app import make_app
from kumi.apiserver.errors import BODY_LIMIT
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from tests.apiserver.conftest import NOW


async def test_an_application_serves_objects_discovery_health_and_openapi(client: ClientSession) -> None:
    paths = ("/api", "/apis", "/api/v1", "/version", "/healthz", "/openapi/v3", "/api/v1/namespaces/default")
    assert {path: (await client.get(path)).status for path in paths} == dict.fromkeys(paths, 200)


async def test_a_slash_at_the_end_changes_nothing(client: ClientSession) -> None:
    for path in ("/api/", "/apis/", "/api/v1/", "/apis/batch/", "/apis/batch/v1/", "/api/v1/namespaces/"):
        assert (await client.get(path)).status == 200


async def test_two_applications_share_nothing_but_their_registry(registry: Registry, scheme: Scheme) -> None:
    apps = [make_app(registry, scheme, clock_ms=lambda: NOW) for _ in range(2)]
    async with Server(apps[0]) as first:
        async with Server(apps[1]):
            pass
        async with ClientSession(first.url) as client, client.get("/api/v1/pods?watch=1&timeoutSeconds=1") as response:
            assert response.status == 200


def test_bodies_are_limited(registry: Registry, scheme: Scheme) -> None:
    app = make_app(registry, scheme, clock_ms=lambda: NOW)
    assert app._client_max_size == BODY_LIMIT
