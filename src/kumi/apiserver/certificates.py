"""Client certificates: the common name is the user, each organization a group.

TLS has checked before anybody gets here that our own authority signed the certificate for use by a client and that its time
has come; one that does not pass ends the handshake. A connection may outlive its certificate, so the end is looked at again.
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
        """See Authenticator. ApiError 401 for a certificate whose time is over."""
        found = request.get_extra_info("peercert")
        if not found:
            return None
        if ssl.cert_time_to_seconds(found["notAfter"]) * 1000 < self._clock_ms():
            raise unauthorized()
        return user_of(found)


def user_of(certificate: Mapping[str, Any]) -> User | None:
    """The user of a certificate as the ssl module describes it; None if it names none."""
    subject = [pair for part in certificate.get("subject", ()) for pair in part]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = [value for key, value in subject if key == "organizationName"]
    return known(name, groups) if name else None
