"""Tokens of service accounts: signed with a key of the server's own, checked against what is there now.

A token counts while all of this holds:
    its signature is ours, its issuer is us, its time has come and is not over
    it is for one of the audiences that are asked about
    its service account is there with the uid it had; so is the pod or secret that it is bound to, and is not being deleted
      for longer than its grace
So deleting an account, or the pod, ends its tokens at once, although none of them is kept anywhere.

    /openid/v1/jwks                        the public key         /.well-known/openid-configuration   where that is
Source     Kubernetes: managing service accounts (bound tokens, issuer discovery).
Not here   what a token claims: kumi.registry.subresources.token. Its bytes: jwt.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kumi.api.errors import KumiError
from kumi.api.meta import parse_time
from kumi.api.user import AUTHENTICATED, Extra, User, service_account_groups, service_account_name
from kumi.api.wire import JsonObject
from kumi.apiserver import jwt, pki
from kumi.apiserver.authentication import AUDIENCE, Known
from kumi.apiserver.responses import answer
from kumi.registry.registry import Registry
from kumi.registry.requests import Target

KEY = "sa.key"
_EXTRA = "authentication.kubernetes.io/"
_BOUND = {"pod": "Pod", "secret": "Secret", "node": "Node"}
"""claim -> kind of what a token is bound to"""
GRACE_AFTER_MS = 60_000
"""how long the token of a pod that is past its grace still counts: its last words"""


class SigningKey:
    """The key of one data directory, made when missing. See kumi.registry.subresources.token.TokenSigner."""

    issuer = AUDIENCE

    def __init__(self, directory: Path) -> None:
        self._key = _read_or_make(directory / KEY)
        public = self._key.public_key()
        self.keys = {jwt.key_id(public): public}

    def sign(self, claims: JsonObject) -> str:
        """See TokenSigner."""
        return jwt.sign(self._key, claims)

    def public(self) -> JsonObject:
        """The JSON Web Key Set."""
        return {"keys": [jwt.public(key) for key in self.keys.values()]}


class ServiceAccountTokens:
    """See the module; a TokenSource."""

    def __init__(self, key: SigningKey, registry: Registry, clock_ms: Callable[[], int]) -> None:
        self._key, self._registry, self._clock_ms = key, registry, clock_ms

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        """See TokenSource."""
        claims = jwt.verified(self._key.keys, token)
        if claims is None or claims.get("iss") != self._key.issuer or not self._is_its_time(claims):
            return None
        matching = tuple(audience for audience in audiences if audience in (claims.get("aud") or ()))
        user = self._user(claims) if matching else None
        return None if user is None else Known(user, matching)

    def _is_its_time(self, claims: JsonObject) -> bool:
        now_s = self._clock_ms() / 1000
        return bool(claims.get("nbf", 0) <= now_s < claims.get("exp", 0))

    def _user(self, claims: JsonObject) -> User | None:
        said = claims.get("kubernetes.io") or {}
        namespace, account = said.get("namespace", ""), said.get("serviceaccount") or {}
        name, uid = account.get("name", ""), account.get("uid", "")
        if claims.get("sub") != service_account_name(namespace, name):
            return None
        if not self._is_there("ServiceAccount", namespace, account):
            return None
        extra: list[tuple[str, tuple[str, ...]]] = [(f"{_EXTRA}credential-id", (f"JTI={claims.get('jti', '')}",))]
        for claim, kind in _BOUND.items():
            about = said.get(claim)
            if not about:
                continue
            if about.get("uid") and not self._is_there(kind, "" if kind == "Node" else namespace, about):
                return None
            found = ((f"{_EXTRA}{claim}-{key}", (about[key],)) for key in ("name", "uid") if about.get(key))
            extra += [] if claim == "secret" else found
        groups = (*service_account_groups(namespace), AUTHENTICATED)
        return User(service_account_name(namespace, name), groups, uid, _sorted(extra))

    def _is_there(self, kind_name: str, namespace: str, about: JsonObject) -> bool:
        kind = self._registry.scheme.find("", kind_name)
        found = None if kind is None else self._registry.find(Target(kind, namespace, about.get("name", "")))
        if found is None or found["metadata"]["uid"] != about.get("uid"):
            return False
        gone_ms = parse_time(found["metadata"].get("deletionTimestamp"))
        return gone_ms is None or self._clock_ms() <= gone_ms + GRACE_AFTER_MS


def add_routes(app: web.Application, key: SigningKey) -> None:
    """What others need to check our tokens themselves."""

    async def keys(request: web.Request) -> web.Response:
        return await answer(request, key.public(), media_type="application/jwk-set+json")

    async def configuration(request: web.Request) -> web.Response:
        found = {
            "issuer": key.issuer,
            "jwks_uri": f"{request.scheme}://{request.host}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [jwt.ALGORITHM],
        }
        return await answer(request, found)

    app.router.add_get("/openid/v1/jwks", keys)
    app.router.add_get("/.well-known/openid-configuration", configuration)


def _sorted(extra: list[tuple[str, tuple[str, ...]]]) -> Extra:
    return tuple(sorted(extra))


def _read_or_make(path: Path) -> ec.EllipticCurvePrivateKey:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        made = ec.generate_private_key(ec.SECP256R1())
        form, none = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        pki.write_private(path, made.private_bytes(serialization.Encoding.PEM, form, none))
        return made
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except ValueError as error:
        raise KumiError(f"{path} can't be read ({error}); remove it, and the tokens of service accounts end") from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise KumiError(f"{path} is no key for {jwt.ALGORITHM}; remove it, and the tokens of service accounts end")
    path.chmod(0o600)
    return key
