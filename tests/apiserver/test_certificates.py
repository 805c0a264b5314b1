"""Client certificates over real TLS: whom they prove, and what TLS does not let through."""

from __future__ import annotations

import datetime as dt
import ssl
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import make_mocked_request

from kumi.api.errors import ApiError
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject
from kumi.apiserver import pki
from kumi.apiserver.app import make_app
from kumi.apiserver.certificates import ClientCertificates, user_of
from kumi.apiserver.identity import Identity
from kumi.apiserver.server import Server
from kumi.registry.registry import Registry

WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
YEAR = dt.timedelta(days=365)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
async def server(tmp_path: Path, registry: Registry, scheme: Scheme) -> AsyncIterator[Server]:
    identity = Identity(tmp_path, now_ms)
    proofs = [ClientCertificates(now_ms), identity]
    async with Server(make_app(registry, scheme, clock_ms=now_ms, authenticators=proofs), identity=identity) as server:
        yield server


def context(tmp_path: Path, pair: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    """A client's side of TLS that trusts the server, with a certificate and key if there are any."""
    made = ssl.create_default_context(cafile=str(tmp_path / "pki" / "ca.crt"))
    if pair is not None:
        path = tmp_path / "client.pem"
        path.write_bytes(pair[0] + pair[1])
        made.load_cert_chain(path)
    return made


async def who(server: Server, tmp_path: Path, pair: tuple[bytes, bytes] | None) -> JsonObject:
    async with aiohttp.ClientSession() as client:
        answer = await client.post(server.url + WHOAMI, json={}, ssl=context(tmp_path, pair))
        body: JsonObject = await answer.json()
    return body


async def test_the_common_name_is_the_user_and_organizations_are_groups(server: Server, tmp_path: Path) -> None:
    pair = pki.make_client(tmp_path / "pki", "jane", ["devs", "ops"], YEAR, now_ms())
    found = (await who(server, tmp_path, pair))["status"]["userInfo"]
    assert found == {"username": "jane", "groups": ["devs", "ops", "system:authenticated"]}


async def test_without_a_certificate_nobody_is_known(server: Server, tmp_path: Path) -> None:
    body = await who(server, tmp_path, None)
    assert (body["code"], "system:anonymous" in body["message"]) == (403, True)


async def refuses(server: Server, tmp_path: Path, pair: tuple[bytes, bytes]) -> bool:
    try:
        await who(server, tmp_path, pair)
    except (aiohttp.ClientError, ConnectionError):
        return True
    return False


async def test_a_certificate_of_another_authority_ends_the_connection(server: Server, tmp_path: Path) -> None:
    other = tmp_path / "other"
    pki.ensure(other, (), now_ms())
    assert await refuses(server, tmp_path, pki.make_client(other, "admin", ["system:masters"], YEAR, now_ms()))


@pytest.mark.parametrize("days", [-10, 10])
async def test_a_certificate_whose_time_is_over_or_to_come_is_unauthorized(
    server: Server, tmp_path: Path, days: int
) -> None:
    then = now_ms() + days * 24 * 3600 * 1000
    pair = pki.make_client(tmp_path / "pki", "jane", [], dt.timedelta(days=1), then)
    assert (await who(server, tmp_path, pair))["code"] == 401


async def test_the_certificate_of_the_server_is_no_clients(server: Server, tmp_path: Path) -> None:
    directory = tmp_path / "pki"
    pair = (directory / "server.crt").read_bytes(), (directory / "server.key").read_bytes()
    assert await refuses(server, tmp_path, pair)


class Transport:
    """A connection whose peer showed a certificate, as the ssl module describes it."""

    def __init__(self, subject: tuple[object, ...], not_after: str = "Jan  1 00:00:00 2100 GMT") -> None:
        self.certificate = {"subject": subject, "notBefore": "Jan  1 00:00:00 2010 GMT", "notAfter": not_after}

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self.certificate if name == "peercert" else default

    def is_closing(self) -> bool:
        return False


def test_a_connection_that_outlives_its_certificate_is_refused() -> None:
    transport = Transport(((("commonName", "jane"),),), "Jan  1 00:00:00 2020 GMT")
    request = make_mocked_request("GET", "/", transport=transport)
    with pytest.raises(ApiError) as refused:
        ClientCertificates(now_ms).authenticate(request)
    assert refused.value.code == 401


def test_a_certificate_without_a_common_name_proves_nobody() -> None:
    assert user_of({"subject": ((("organizationName", "devs"),),)}) is None
    assert user_of({}) is None
