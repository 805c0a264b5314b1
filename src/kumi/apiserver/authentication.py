"""Who asks: every request but the public ones carries a proof of identity, or is refused with 401.

The user found is left in `request[USER]` for what comes behind (authorization, audit).

Public      /healthz, /livez, /readyz and /version: a load balancer or a person may see whether the server is up.
Not here    what a user may do: there is one administrator so far, who may do everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kumi.api.errors import ApiError

PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version")


@dataclass(frozen=True)
class User:
    """Who asks, in Kubernetes' terms."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""


USER = web.RequestKey("user", User)
"""where a request keeps who asks"""


class Authenticator(Protocol):
    """One way of proving who one is."""

    def authenticate(self, request: web.BaseRequest) -> User | None:
        """The user that the request proves to be; None if it proves nothing in this way."""
        ...


def unauthorized() -> ApiError:
    """401, in the words that clients know."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def bearer_token(request: web.BaseRequest) -> str:
    """The token of the Authorization header, or "" if there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def is_public(path: str) -> bool:
    """Whether anybody may read this path: a public one or one of its single checks (`/readyz/ping`)."""
    return any(path == public or path.startswith(public + "/") for public in PUBLIC_PATHS)


def authentication(authenticators: Sequence[Authenticator]) -> Middleware:
    """Middleware that tries the authenticators in order and refuses what none of them knows."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not is_public(request.path):
            found = (a.authenticate(request) for a in authenticators)
            user = next((u for u in found if u is not None), None)
            if user is None:
                raise unauthorized()
            request[USER] = user
        return await handler(request)

    return middleware
