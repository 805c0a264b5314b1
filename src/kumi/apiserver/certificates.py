"""Client certificates: the common name is the user, each organization a group.

TLS has checked before anybody gets here that our own authority signed the certificate for use by a client; one that does not
pass ends the handshake. Its time is looked at here, for every request, since a connection may outlive it: a 401, which says
more to its holder than a connection that ends.
Source     Kubernetes: authenticating, X.509 client certificates.
Not here   how they are made: pki.py.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from kumi.apiserver.authentication import User, known, unauthorized


class ClientCertificates:
    """See the module; an Authenticator."""

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        self._clock_ms = clock_ms

    def authenticate(self, request: web.BaseRequest) -> User | None:
        """See Authenticator. ApiError 401 for a certificate whose time has not come or is over."""
        found = request.get_extra_info("peercert")
        if not found:
            return None
        first, last = (ssl.cert_time_to_seconds(found[end]) * 1000 for end in ("notBefore", "notAfter"))
        if not first <= self._clock_ms() <= last:
            raise unauthorized()
        return user_of(found)


def user_of(certificate: Mapping[str, Any]) -> User | None:
    """The user of a certificate as the ssl module describes it; None if it names none."""
    subject = [pair for part in certificate.get("subject", ()) for pair in part]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = [value for key, value in subject if key == "organizationName"]
    return known(name, groups) if name else None
