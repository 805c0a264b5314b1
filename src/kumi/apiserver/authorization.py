"""May they: every request that was authenticated is held against the rules before anything else looks at it.

Refused with 403, in the words that Kubernetes' clients know; details name the object, or the kind where there is no name.
Not here   the rules: kumi.registry.authorization.
"""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kumi.api.errors import ApiError
from kumi.api.user import User
from kumi.apiserver.authentication import USER
from kumi.apiserver.routes.attributes import attributes
from kumi.apiserver.routes.options import wants_watch
from kumi.registry.authorization.decisions import Decision, decide, refusal
from kumi.registry.authorization.rules import Asked
from kumi.registry.registry import Registry


def forbidden(user: User, asked: Asked, decision: Decision) -> ApiError:
    """The refusal."""
    why = refusal(user, asked)
    if decision.reason:
        why = f"{why}: {decision.reason}"
    if asked.path:
        return ApiError(403, "Forbidden", f"forbidden: {why}")
    plural = asked.resource.partition("/")[0]
    where = f"{plural}.{asked.group}" if asked.group else plural
    what = f'{where} "{asked.name}"' if asked.name else where
    return ApiError(403, "Forbidden", f"{what} is forbidden: {why}", kind=plural, group=asked.group, name=asked.name)


def require(registry: Registry, user: User, asked: Asked) -> None:
    """ApiError 403 unless the user may."""
    decision = decide(registry.policies, user, asked)
    if not decision.allowed:
        raise forbidden(user, asked, decision)


def authorization(registry: Registry) -> Middleware:
    """Middleware, behind authentication."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        fields = request.query.get("fieldSelector", "")
        path = request.rel_url.raw_path
        asked = attributes(request.method, path, watch=wants_watch(request.query), fields=fields)
        require(registry, request[USER], asked)
        return await handler(request)

    return middleware
