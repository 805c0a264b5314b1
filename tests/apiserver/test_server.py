from __future__ import annotations

import asyncio
import ssl
import time
from contextlib import suppress
from pathlib import Path

import pytest
from aiohttp import ClientConnectorCertificateError, ClientConnectorError, ClientSession

from kumi.api.errors import KumiError
from kumi.api.scheme import Scheme
from kumi.apiserver import server as server_module
from kumi.apiserver.app import make_app
from kumi.apiserver.identity import Identity
from kumi.apiserver.server import Server, is_loopback
from kumi.registry.registry import Registry
from tests.apiserver.conftest import WatchedRegistry, until, within

DAY = 24 * 3600 * 1000


class Clock:
    """Certificates are checked by real clients against real time."""

    def __init__(self) -> None:
        self.now = time.time_ns() // 1_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def identity(tmp_path: Path) -> Identity:
    return Identity(tmp_path, Clock())


def secure(registry: Registry, scheme: Scheme, identity: Identity) -> Server:
    app = make_app(registry, scheme, clock_ms=Clock(), authenticators=[identity])
    return Server(app, identity=identity)


def trusting(identity: Identity) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(identity.directory / "ca.crt"))


async def test_it_is_reached_over_tls_with_its_own_authority(
    registry: Registry, scheme: Scheme, identity: Identity
) -> None:
    async with secure(registry, scheme, identity) as server, ClientSession() as client:
        headers = {"Authorization": f"Bearer {identity.token}"}
        for host in ("127.0.0.1", "localhost"):
            url = f"https://{host}:{server.port}/api/v1/pods"
            async with client.get(url, ssl=trusting(identity), headers=headers) as response:
                assert response.status == 200
        with pytest.raises(ClientConnectorCertificateError):
            await client.get(server.url)


async def test_what_is_no_tls_does_no_harm(registry: Registry, scheme: Scheme, identity: Identity) -> None:
    async with secure(registry, scheme, identity) as server, ClientSession() as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        with suppress(ConnectionError):
            await within(reader.read())  # the server hangs up
        writer.close()
        async with client.get(f"{server.url}/healthz", ssl=trusting(identity)) as response:
            assert response.status == 200


async def test_a_free_port_is_taken_and_told(registry: Registry, scheme: Scheme) -> None:
    app = make_app(registry, scheme, clock_ms=Clock())
    async with Server(app) as server:
        assert server.port > 0
        assert server.url == f"http://127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("host", "url"), [("0.0.0.0", "http://127.0.0.1:1"), ("::", "http://[::1]:1"), ("::1", "http://[::1]:1")]
)
def test_the_address_told_is_one_that_can_be_reached(registry: Registry, scheme: Scheme, host: str, url: str) -> None:
    assert Server(make_app(registry, scheme, clock_ms=Clock()), host=host, port=1).url == url


async def test_a_port_that_is_taken_is_an_error(registry: Registry, scheme: Scheme) -> None:
    async with Server(make_app(registry, scheme, clock_ms=Clock())) as first:
        second = Server(make_app(registry, scheme, clock_ms=Clock()), port=first.port)
        with pytest.raises(OSError, match="address already in use"):
            await second.start()
        await second.stop()


async def test_stopping_ends_many_watches_as_if_their_time_had_come(registry: WatchedRegistry, scheme: Scheme) -> None:
    server = Server(make_app(registry, scheme, clock_ms=Clock()))
    await server.start()
    async with ClientSession(server.url) as client:
        responses = [await client.get("/api/v1/configmaps?watch=1") for _ in range(50)]
        await until(lambda: registry.open_watches == 50)
        stopping = asyncio.create_task(server.stop())
        # A clean end, not a cut connection: reading on raises otherwise.
        assert await within(asyncio.gather(*(r.read() for r in responses))) == [b""] * 50
        await within(stopping)
    assert registry.open_watches == 0


async def test_a_stopped_server_is_gone(registry: Registry, scheme: Scheme) -> None:
    server = Server(make_app(registry, scheme, clock_ms=Clock()))
    await server.start()
    await server.stop()
    await server.stop()
    async with ClientSession(server.url) as client:
        with pytest.raises(ClientConnectorError):
            await client.get("/healthz")


async def test_the_certificate_is_renewed_while_it_runs(
    registry: Registry, scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    clock.now -= 300 * DAY
    identity = Identity(tmp_path, clock)
    monkeypatch.setattr(server_module, "RENEWAL_S", 0.01)
    async with secure(registry, scheme, identity) as server:
        old = await shown_by(server)
        clock.now += 300 * DAY
        async with asyncio.timeout(20):
            while await shown_by(server) == old:
                await asyncio.sleep(0.01)
        async with ClientSession() as client, client.get(f"{server.url}/healthz", ssl=trusting(identity)) as response:
            assert response.status == 200


async def shown_by(server: Server) -> str:
    """The certificate that a new connection is shown."""
    return await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", server.port))


async def test_long_selectors_fit_into_a_request(registry: Registry, scheme: Scheme) -> None:
    names = ",".join(f"name-{n}" for n in range(3000))
    async with Server(make_app(registry, scheme, clock_ms=Clock())) as server, ClientSession(server.url) as client:
        response = await client.get("/api/v1/pods", params={"labelSelector": f"x in ({names})"})
        assert response.status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "example.com"])
async def test_without_an_identity_nothing_that_others_reach_is_served(
    registry: Registry, scheme: Scheme, host: str
) -> None:
    with pytest.raises(KumiError, match="without TLS and identity"):
        await Server(make_app(registry, scheme, clock_ms=Clock()), host=host).start()


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.0.1", True), ("::1", True), ("localhost", True), ("10.0.0.1", False)],
)
def test_which_addresses_are_this_machines_alone(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


async def test_with_an_identity_it_listens_where_it_is_told_to(
    registry: Registry, scheme: Scheme, tmp_path: Path
) -> None:
    identity = Identity(tmp_path / "wide", Clock(), ("192.0.2.7",))
    app = make_app(registry, scheme, clock_ms=Clock(), authenticators=[identity])
    async with Server(app, host="0.0.0.0", identity=identity) as server, ClientSession() as client:
        response = await client.get(f"{server.url}/healthz", ssl=trusting(identity))
        assert response.status == 200
