from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession

from kumi.api.scheme import Scheme
from kumi.apiserver.app import make_app
from kumi.apiserver.authentication import User
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry
from tests.apiserver.conftest import NOW, config_map
from tests.apiserver.test_metrics import value

MAPS = "/api/v1/namespaces/default/configmaps"
TOTAL, OPEN, SHORT = "apiserver_request_total", "apiserver_longrunning_requests", "apiserver_current_inflight_requests"


async def page_of(client: ClientSession) -> str:
    return await (await client.get("/metrics")).text()


async def test_each_verb_counts_under_the_name_that_dashboards_know(client: ClientSession) -> None:
    await client.post(MAPS, json=config_map("a"))
    await client.put(f"{MAPS}/a", json=config_map("a", k="1"))
    for kind, verb in (("merge-patch+json", "PATCH"), ("apply-patch+yaml", "APPLY")):
        headers = {"Content-Type": f"application/{kind}"}
        await client.patch(f"{MAPS}/a?fieldManager=me", json=config_map("a", k=verb), headers=headers)
    for path in (f"{MAPS}/a", MAPS, "/api/v1/configmaps", f"{MAPS}?watch=1&timeoutSeconds=1"):
        await (await client.get(path)).read()
    await client.delete(f"{MAPS}/a")
    await client.delete(MAPS)
    page = await page_of(client)
    verbs = ("POST", "PUT", "PATCH", "APPLY", "GET", "LIST", "WATCH", "DELETE", "DELETECOLLECTION")
    counts = {verb: value(page, TOTAL, verb=verb, resource="configmaps", version="v1", group="") for verb in verbs}
    assert counts == {**dict.fromkeys(verbs, 1), "LIST": 2}
    scopes = [value(page, TOTAL, verb="LIST", scope=scope) for scope in ("resource", "namespace", "cluster")]
    assert scopes == [0, 1, 1]
    assert value(page, TOTAL, verb="POST", scope="resource", code="201") == 1


async def test_refusals_count_by_their_code_and_dry_runs_apart(client: ClientSession) -> None:
    await client.get(f"{MAPS}/none")
    await client.post(f"{MAPS}?dryRun=All", json=config_map("a"))
    await client.get("/apis/nobody.example/v1/things")
    page = await page_of(client)
    assert value(page, TOTAL, verb="GET", resource="configmaps", code="404") == 1
    assert value(page, TOTAL, verb="POST", dry_run="All", code="201") == 1
    assert value(page, TOTAL, verb="GET", resource="", code="404") == 1


async def test_durations_and_sizes_are_observed(client: ClientSession) -> None:
    await client.post(MAPS, json=config_map("a", k="x" * 20_000))
    await client.get(f"{MAPS}/a")
    page = await page_of(client)
    assert value(page, "apiserver_request_duration_seconds_count", verb="POST", resource="configmaps") == 1
    for name, verb in (("apiserver_request_body_size_bytes", "POST"), ("apiserver_response_sizes", "GET")):
        told = [
            value(page, f"{name}_bucket", verb=verb, resource="configmaps", le=le) for le in ("10000.0", "100000.0")
        ]
        assert told == [0, 1]


async def test_what_is_under_way_is_told_streams_apart(client: ClientSession) -> None:
    watch = await client.get(f"{MAPS}?watch=1")
    page = await page_of(client)
    assert value(page, OPEN, verb="WATCH", resource="configmaps", scope="namespace") == 1
    assert value(page, SHORT, request_kind="readOnly") == 1
    assert value(page, SHORT, request_kind="mutating") == 0
    watch.close()
    pages: list[str] = []

    async def ended() -> None:
        while not pages or value(pages[-1], OPEN) > 0:
            pages.append(await page_of(client))

    await asyncio.wait_for(ended(), 20)
    assert value(pages[-1], TOTAL, verb="WATCH", resource="configmaps") == 1


class Tokens:
    """The authenticator of two tokens."""

    users = {"Bearer boss": User("boss", ("system:masters",)), "Bearer meter": User("meter", ("system:monitoring",))}

    def authenticate(self, request: object) -> User | None:
        return self.users.get(request.headers.get("Authorization", ""))  # type: ignore[attr-defined]


@pytest.fixture
async def guarded(registry: Registry, scheme: Scheme) -> AsyncIterator[ClientSession]:
    app = make_app(registry, scheme, clock_ms=lambda: NOW, authenticators=[Tokens()])
    async with Server(app) as server, ClientSession(server.url) as client:
        yield client


async def test_only_who_may_read_the_path_gets_metrics(guarded: ClientSession) -> None:
    codes = {}
    for who in ("", "Bearer boss", "Bearer meter", "Bearer nobody"):
        headers = {"Authorization": who} if who else {}
        codes[who] = (await guarded.get("/metrics", headers=headers)).status
    assert codes == {"": 403, "Bearer boss": 200, "Bearer meter": 200, "Bearer nobody": 401}


async def test_who_was_refused_counts_under_what_was_asked_for(guarded: ClientSession) -> None:
    await guarded.get(MAPS, headers={"Authorization": "Bearer meter"})
    await guarded.get("/api/v1/inventions", headers={"Authorization": "Bearer meter"})
    page = await (await guarded.get("/metrics", headers={"Authorization": "Bearer boss"})).text()
    assert value(page, TOTAL, verb="LIST", resource="configmaps", code="403") == 1
    assert value(page, TOTAL, verb="GET", resource="", code="403") == 1
