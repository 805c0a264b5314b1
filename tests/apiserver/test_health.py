from __future__ import annotations

import pytest
from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.apiserver.app import make_app
from kumi.apiserver.health import report, version_document
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from tests.apiserver.conftest import NOW

OK, NOT = (lambda: True), (lambda: False)


def broken() -> bool:
    raise RuntimeError("no")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_a_healthy_server_says_ok(client: ClientSession, path: str) -> None:
    response = await client.get(path)
    assert (response.status, response.content_type, await response.text()) == (200, "text/plain", "ok")


async def test_verbose_says_what_was_checked(client: ClientSession) -> None:
    assert await (await client.get("/readyz?verbose")).text() == "[+]ping ok\nreadyz check passed\n"


async def test_only_readiness_asks_for_more_than_an_answer(registry: Registry, scheme: Scheme) -> None:
    app = make_app(registry, scheme, clock_ms=lambda: NOW, checks={"store": NOT})
    async with Server(app) as server, ClientSession(server.url) as client:
        codes = {
            path: (await client.get(path)).status for path in ("/livez", "/readyz", "/readyz/store", "/readyz/ping")
        }
        assert codes == {"/livez": 200, "/readyz": 500, "/readyz/store": 500, "/readyz/ping": 200}
        assert (await client.get("/readyz?exclude=store")).status == 200
        assert (await client.get("/readyz/nothing")).status == 404


@pytest.mark.parametrize("check", [NOT, broken])
def test_a_failed_check_is_named(check: object) -> None:
    code, text = report("readyz", {"ping": OK, "store": check}, frozenset(), verbose=False)  # type: ignore[dict-item]
    assert code == 500
    assert text == "[+]ping ok\n[-]store failed\nreadyz check failed\n"


async def test_the_version_is_one_that_clients_can_compare(client: ClientSession) -> None:
    document = await (await client.get("/version")).json()
    assert document == version_document()
    assert document["gitVersion"].startswith(f"v{document['major']}.{document['minor']}.")
