"""Who may reach a cluster's API and how they prove who they are, as `kumi up` was asked for it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from kumi.api.core import ConfigMap
from kumi.api.errors import ApiError
from kumi.api.scheme import SCHEME
from kumi.apiserver.authentication import Authenticator, Bearer, TokenSource
from kumi.apiserver.certificates import ClientCertificates
from kumi.apiserver.identity import Identity
from kumi.apiserver.token_file import TokenFile
from kumi.apiserver.tokens import ServiceAccountTokens
from kumi.controllers.root_authority import NAME, SOURCE
from kumi.registry.registry import Registry
from kumi.runtime.client import Client

ANY = ("0.0.0.0", "::", "")
"""addresses that stand for all of this machine's"""


def authenticators(
    identity: Identity, registry: Registry, clock_ms: Callable[[], int], token_file: Path | None
) -> list[Authenticator]:
    """Every way of proving who one is. KumiError: the token file can't be read."""
    sources: list[TokenSource] = [identity]
    if token_file is not None:
        sources.append(TokenFile(token_file))
    sources.append(ServiceAccountTokens(identity.signer, registry, clock_ms))
    return [ClientCertificates(clock_ms), Bearer(sources)]


def names_of(listen: str) -> tuple[str, ...]:
    """What clients may call a server that listens there: for all addresses, this machine's names and each of them."""
    if listen not in ANY:
        return (listen,)
    found = [
        address.address.partition("%")[0]
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if address.family in (socket.AF_INET, socket.AF_INET6)
    ]
    return tuple(dict.fromkeys((socket.gethostname(), socket.getfqdn(), *sorted(found))))


def in_cluster(url: str) -> dict[str, str]:
    """The variables by which clients in pods find the API."""
    place = urlsplit(url)
    port = str(place.port or 443)
    return {
        "KUBERNETES_SERVICE_HOST": place.hostname or "",
        "KUBERNETES_SERVICE_PORT": port,
        "KUBERNETES_SERVICE_PORT_HTTPS": port,
    }


async def publish_authority(client: Client, pem: bytes) -> None:
    """Writes whom pods are to trust where its controller finds it."""
    data = {"ca.crt": pem.decode()}
    metadata = {"name": NAME, "namespace": SOURCE}
    try:
        await client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise
        await client.patch(SCHEME.of(ConfigMap), SOURCE, NAME, {"data": data})
