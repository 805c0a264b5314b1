"""Whom we trust, and how we show a certificate: TLS contexts of a connection."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from kumi.api.errors import KumiError


def context(authority: bytes, *, insecure: bool = False, certificate: bytes = b"", key: bytes = b"") -> ssl.SSLContext:
    """A client's context: trusts `authority` (PEM; empty: the system's), or anybody if `insecure`; shows `certificate`."""
    try:
        made = ssl.create_default_context(cadata=authority.decode("ascii") if authority else None)
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise KumiError(f"certificate-authority holds no certificate: {error}") from error
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if certificate:
        # The ssl module reads certificates from files only: these are the owner's alone, and gone at once.
        with tempfile.TemporaryDirectory(prefix="kumi-") as directory:
            path = Path(directory) / "client.pem"
            path.touch(mode=0o600)
            path.write_bytes(certificate.rstrip() + b"\n" + key)
            try:
                made.load_cert_chain(path)
            except ssl.SSLError as error:
                raise KumiError(f"client-certificate and client-key don't go together: {error}") from error
    return made
