"""The administrator of an embedded server, and what it signs with: kept with the server's TLS files under `<data>/pki`.

    token        256 random bits, 0600, made once; checked in constant time
    sa.key       signs the tokens of service accounts (tokens.py)
    kubeconfig   0600: the server's address, its authority and the token; context `kumi`
The administrator is user `admin` of group `system:masters`.
"""

from __future__ import annotations

import hmac
import secrets
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from aiohttp import web

from kumi.api.errors import KumiError
from kumi.api.user import MASTERS
from kumi.apiserver import kubeconfigs, pki
from kumi.apiserver.authentication import AUDIENCE, Known, User, bearer_token, known
from kumi.apiserver.tokens import SigningKey

ADMINISTRATOR = known("admin", [MASTERS])


class Identity:
    """Credentials under one data directory, made when missing. `names`: host names and addresses that clients use
    besides this machine's own; `clock_ms` dates the certificates."""

    def __init__(self, data_dir: Path, clock_ms: Callable[[], int], names: tuple[str, ...] = ()) -> None:
        self.directory = data_dir / "pki"
        self._clock_ms, self._names = clock_ms, names
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        pki.ensure(self.directory, names, clock_ms())
        self.token = self._read_or_make_token()
        self.signer = SigningKey(self.directory)
        self._context: ssl.SSLContext | None = None

    def authenticate(self, request: web.BaseRequest) -> User | None:
        """See Authenticator."""
        found = self.knows(bearer_token(request), (AUDIENCE,))
        return None if found is None else found.user

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        """See TokenSource."""
        given = token.encode("utf-8", "surrogateescape")
        if AUDIENCE not in audiences or not hmac.compare_digest(given, self.token.encode()):
            return None
        return Known(ADMINISTRATOR, (AUDIENCE,))

    def server_context(self) -> ssl.SSLContext:
        """TLS of the server; always the same object, so that `renew` reaches it."""
        if self._context is None:
            self._context = pki.server_context(self.directory)
        return self._context

    def renew(self) -> bool:
        """Renews the certificate if it is due, for the connections to come; whether it was."""
        renewed = pki.ensure(self.directory, self._names, self._clock_ms())
        if renewed and self._context is not None:
            pki.reload(self._context, self.directory)
        return renewed

    def kubeconfig(self, url: str) -> str:
        """The administrator's kubeconfig for the server at `url` (`https://127.0.0.1:6443`), as YAML."""
        return kubeconfigs.text(url, pki.authority_pem(self.directory), kubeconfigs.by_token(self.token))

    def write_kubeconfig(self, path: Path, url: str) -> None:
        """Writes the kubeconfig, 0600, whole or not at all."""
        pki.write_private(path, self.kubeconfig(url).encode())

    def _read_or_make_token(self) -> str:
        path = self.directory / "token"
        try:
            token = path.read_text("ascii").strip()
        except FileNotFoundError:
            token = secrets.token_urlsafe(32)
            pki.write_private(path, token.encode() + b"\n")
            return token
        except UnicodeDecodeError:
            token = ""
        if len(token) < 32:
            raise KumiError(f"{path} does not hold a token; remove it and a new one is made")
        path.chmod(0o600)
        return token
