"""Who asks: each way of proving it is tried in turn; the user that is found is left in `request[USER]`.

    a client certificate    certificates.py     CN is the user, each O a group
    a bearer token          identity.py         the administrator's
                            token_file.py       those of a file that the operator keeps
                            tokens.py           those of service accounts
    none                    the user system:anonymous: what the rules give to everybody
Who gives an Authorization header that proves nothing is told so (401), never taken for somebody unknown.
Not here   acting as somebody else: impersonation.py. What a user may do: authorization.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kumi.api.errors import ApiError
from kumi.api.user import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User

__all__ = [
    "USER",
    "Authenticator",
    "Known",
    "TokenSource",
    "User",
    "authentication",
    "bearer_token",
    "known",
    "unauthorized",
]

USER = web.RequestKey("user", User)
"""where a request keeps who asks"""
NOBODY = User(ANONYMOUS, (UNAUTHENTICATED,))
AUDIENCE = "https://kubernetes.default.svc.cluster.local"
"""what a token for this API is for; also who issues those of service accounts"""


class Authenticator(Protocol):
    """One way of proving who one is."""

    def authenticate(self, request: web.BaseRequest) -> User | None:
        """The user that the request proves to be; None if it proves nothing in this way."""
        ...


class Known(NamedTuple):
    """Whom a token is of, and which of the audiences asked for it is for."""

    user: User
    audiences: tuple[str, ...]


@runtime_checkable
class TokenSource(Protocol):
    """Knows tokens."""

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        """Whom a token for one of these audiences is of; None if it isn't known here."""
        ...


def unauthorized() -> ApiError:
    """401, in the words that clients know."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def bearer_token(request: web.BaseRequest) -> str:
    """The token of the Authorization header, or "" if there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def known(name: str, groups: Sequence[str] = (), uid: str = "") -> User:
    """A user who proved to be one: they are in the group of all of those."""
    return User(name, tuple(dict.fromkeys((*groups, AUTHENTICATED))), uid)


class Bearer:
    """The Authenticator of sources of tokens."""

    def __init__(self, sources: Sequence[TokenSource]) -> None:
        self.sources = tuple(sources)

    def authenticate(self, request: web.BaseRequest) -> User | None:
        """See Authenticator."""
        token = bearer_token(request)
        found = self.knows(token, (AUDIENCE,)) if token else None
        return None if found is None else found.user

    def knows(self, token: str, audiences: Sequence[str]) -> Known | None:
        """See TokenSource."""
        answers = (source.knows(token, audiences) for source in self.sources)
        return next((answer for answer in answers if answer is not None), None)


def authentication(authenticators: Sequence[Authenticator]) -> Middleware:
    """Middleware that tries the authenticators in order."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        found = (a.authenticate(request) for a in authenticators)
        user = next((u for u in found if u is not None), None)
        if user is None and request.headers.get("Authorization"):
            raise unauthorized()
        request[USER] = user or NOBODY
        return await handler(request)

    return middleware
