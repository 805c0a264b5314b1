"""Acting as somebody else: who may `impersonate` a user, group, uid or extra becomes them, for one request.

    Impersonate-User: jane                 `impersonate` users jane; a service account's name needs serviceaccounts in its
                                           namespace
    Impersonate-Group: devs                groups devs, each; may be repeated
    Impersonate-Uid: 06f6                  uids.authentication.k8s.io 06f6
    Impersonate-Extra-scopes: view         userextras/scopes.authentication.k8s.io view, each value
Groups     those asked for; of a service account that asks for none its own; and that of all who are known (or, for
           system:anonymous, unknown). What the one who asks is themselves counts no more from here on.
Order      the rules are asked for the user first, then for groups, extras and the uid.
Source     Kubernetes: user impersonation.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from multidict import CIMultiDictProxy

from kumi.api.errors import bad_request
from kumi.api.user import (
    ANONYMOUS,
    AUTHENTICATED,
    UNAUTHENTICATED,
    User,
    service_account_groups,
    service_account_of,
)
from kumi.apiserver.authentication import USER
from kumi.apiserver.authorization import require
from kumi.registry.authorization.rules import Asked
from kumi.registry.registry import Registry

NAME, GROUP, UID, EXTRA = "Impersonate-User", "Impersonate-Group", "Impersonate-Uid", "Impersonate-Extra-"
_GROUP = "authentication.k8s.io"


def wanted(headers: CIMultiDictProxy[str]) -> User | None:
    """Whom a request wants to act as; None for nobody else. ApiError 400."""
    name = headers.get(NAME, "")
    groups, uid, extra = tuple(headers.getall(GROUP, ())), headers.get(UID, ""), _extra(headers)
    if not name:
        if groups or uid or extra:
            raise bad_request("impersonation of groups, a uid or extras needs a user to impersonate")
        return None
    return User(name, groups, uid, tuple((key, tuple(values)) for key, values in sorted(extra.items())))


def needed(user: User) -> list[Asked]:
    """What one has to be allowed in order to act as that user."""
    account = service_account_of(user.name)
    if account is None:
        found = [Asked("impersonate", "", "users", name=user.name)]
    else:
        found = [Asked("impersonate", "", "serviceaccounts", *account)]
    found += [Asked("impersonate", "", "groups", name=group) for group in user.groups]
    for key, values in user.extra:
        found += [Asked("impersonate", _GROUP, f"userextras/{key}", name=value) for value in values]
    if user.uid:
        found.append(Asked("impersonate", _GROUP, "uids", name=user.uid))
    return found


def become(user: User) -> User:
    """The user with the groups that come with being one."""
    account, groups = service_account_of(user.name), user.groups
    if account is not None and not groups:
        groups = service_account_groups(account[0])
    everybody = UNAUTHENTICATED if user.name == ANONYMOUS else AUTHENTICATED
    if AUTHENTICATED not in groups and UNAUTHENTICATED not in groups:
        groups = (*groups, everybody)
    return User(user.name, groups, user.uid, user.extra)


def impersonation(registry: Registry) -> Middleware:
    """Middleware, between authentication and authorization."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        user = wanted(request.headers)
        if user is not None:
            for asked in needed(user):
                require(registry, request[USER], asked)
            request[USER] = become(user)
        return await handler(request)

    return middleware


def _extra(headers: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for header, value in headers.items():
        if header.lower().startswith(EXTRA.lower()):
            key = unquote(header[len(EXTRA) :].lower())
            found.setdefault(key, []).append(value)
    return found
