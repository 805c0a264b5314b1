"""Which object and which verb a request means.

    /api/v1/...  /apis/GROUP/VERSION/...      then one of
    PLURAL                                    all objects: list, watch, create (cluster-scoped), deletecollection (the same)
    PLURAL/NAME                               one object: get, update, patch, delete; PLURAL/NAME/SUBRESOURCE
    namespaces/NAMESPACE/PLURAL[/NAME[/SUBRESOURCE]]      the same within a namespace
    watch/...                                 the old form of a watch, on all of these

The verb is Kubernetes' own word: get, list, watch, create, update, patch, delete, deletecollection. A path that nothing
serves is a 404, a verb that its resource doesn't have a 405.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from kumi.api.metrics import METRICS
from kumi.api.reviews import REVIEWS
from kumi.api.scheme import Kind, Scheme
from kumi.api.visibility import PENDING, QUEUES
from kumi.apiserver.errors import method_not_allowed, no_such_resource
from kumi.registry.requests import Target

Verb = Literal["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]

NAMESPACE_SUBRESOURCES = ("status", "finalize")
SUBRESOURCE_VERBS: dict[str, tuple[Verb, ...]] = {
    "status": ("get", "patch", "update"),
    "scale": ("get", "patch", "update"),
    "finalize": ("update",),
    "log": ("get",),
    "exec": ("create", "get"),
    "binding": ("create",),
    "eviction": ("create",),
    "token": ("create",),
    "attach": ("create", "get"),
    "portforward": ("create", "get"),
    "proxy": ("create", "delete", "get", "patch", "update"),
    "resize": ("get", "patch", "update"),
    "ephemeralcontainers": ("get", "patch", "update"),
    PENDING: ("get",),
}
UNTOLD: dict[str, tuple[Verb, ...]] = {"finalize": ("patch",)}
"""verbs that work too, but that Kubernetes doesn't have: discovery is silent about them"""
OBJECT_VERBS: tuple[Verb, ...] = ("get", "update", "patch", "delete")
CUSTOM_VERBS: tuple[Verb, ...] = (
    "delete", "deletecollection", "get", "list", "patch", "create", "update", "watch",
)  # fmt: skip
"""the verbs of custom kinds, in the order in which Kubernetes lists them"""
ANSWERED = {(kind.group, kind.plural): kind for kind in (*REVIEWS, *METRICS)}
"""kinds that are answered and never stored"""
METHODS: dict[str, Verb] = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "POST": "create"}


@dataclass(frozen=True)
class Call:
    """A verb on a target; `one` narrows a watch to the object of that name."""

    verb: Verb
    target: Target
    one: str = ""


def resolve(scheme: Scheme, method: str, raw_path: str, *, watch: bool) -> Call:
    """The call of a request. `raw_path` is still percent-encoded; `watch` is the query's. ApiError 404, 405."""
    group, version, rest = split(raw_path)
    old_watch = rest[:1] == ["watch"]
    if old_watch:
        rest = rest[1:]
    namespace, plural, name, subresource = parts(rest)
    kind = scheme.find_plural(group, plural) or ANSWERED.get((group, plural))
    if kind is None or version not in kind.versions:
        raise no_such_resource()
    _check_scope(kind, namespace, name, method)
    target = Target(kind, namespace, name, version, subresource)
    if subresource:
        if old_watch:
            raise no_such_resource()
        return Call(_subresource_verb(kind, version, subresource, method), target)
    if old_watch:
        if method != "GET":
            raise method_not_allowed()
        return Call(_allowed("watch", collection_verbs(kind)), Target(kind, namespace, "", version), one=name)
    if name:
        return Call(_object_verb(kind, method), target)
    return Call(_collection_verb(kind, namespace, method, watch=watch), target)


def collection_verbs(kind: Kind) -> tuple[Verb, ...]:
    """The verbs on all objects of a kind."""
    if kind in REVIEWS:
        return ("create",)
    if kind in QUEUES:
        return ()
    if kind in METRICS:
        return ("list",)
    if not kind.group and kind.plural == "namespaces":
        return ("create", "list", "watch")  # a namespace goes one at a time: its contents go with it
    return ("create", "deletecollection", "list", "watch")


def object_verbs(kind: Kind) -> tuple[Verb, ...]:
    """The verbs on one object of a kind."""
    if kind in METRICS:
        return ("get",)
    return () if kind in (*REVIEWS, *QUEUES) else OBJECT_VERBS


def verbs_of(kind: Kind) -> list[str]:
    """All verbs of a kind, as discovery shows them."""
    if kind.custom:
        return list(CUSTOM_VERBS)
    return sorted((*object_verbs(kind), *collection_verbs(kind)))


def subresources_of(kind: Kind, version: str = "") -> tuple[str, ...]:
    """The subresources of a kind in a served version that are known here."""
    return tuple(s for s in kind.subresources_in(version) if s in SUBRESOURCE_VERBS)


def split(raw_path: str) -> tuple[str, str, list[str]]:
    """Group, version and the rest of the path of a resource. ApiError 404 for any other path."""
    segments = raw_path.strip("/").split("/")
    if "%" in raw_path:
        try:
            segments = [unquote(part, errors="strict") for part in segments]
        except UnicodeDecodeError:
            raise no_such_resource() from None
    if segments[0] == "api" and len(segments) > 2:
        return "", segments[1], segments[2:]
    if segments[0] == "apis" and len(segments) > 3 and segments[1]:
        return segments[1], segments[2], segments[3:]
    raise no_such_resource()


def parts(rest: list[str]) -> tuple[str, str, str, str]:
    """namespace, plural, name, subresource. ApiError 404."""
    if any(not part for part in rest):
        raise no_such_resource()
    if rest[:1] == ["namespaces"] and (len(rest) > 3 or (len(rest) == 3 and rest[2] not in NAMESPACE_SUBRESOURCES)):
        namespace, rest = rest[1], rest[2:]
    else:
        namespace = ""
    if not 1 <= len(rest) <= 3:
        raise no_such_resource()
    plural, name, subresource = (*rest, "", "")[:3]
    return namespace, plural, name, subresource


def _check_scope(kind: Kind, namespace: str, name: str, method: str) -> None:
    if namespace and not kind.namespaced:
        raise no_such_resource()
    if kind.namespaced and not namespace:
        if name:
            raise no_such_resource()
        if method not in ("GET", "HEAD"):
            raise method_not_allowed()


def _subresource_verb(kind: Kind, version: str, subresource: str, method: str) -> Verb:
    if subresource not in subresources_of(kind, version):
        raise no_such_resource()
    return _allowed(METHODS.get(method), (*SUBRESOURCE_VERBS[subresource], *UNTOLD.get(subresource, ())))


def _object_verb(kind: Kind, method: str) -> Verb:
    return _allowed(METHODS.get(method), object_verbs(kind))


def _collection_verb(kind: Kind, namespace: str, method: str, *, watch: bool) -> Verb:
    verb: Verb | None = METHODS.get(method)
    if verb == "get":
        verb = "watch" if watch else "list"
    elif verb == "delete":
        verb = "deletecollection"
    return _allowed(verb, collection_verbs(kind))


def _allowed(verb: Verb | None, verbs: tuple[Verb, ...]) -> Verb:
    if verb is None or verb not in verbs:
        raise method_not_allowed()
    return verb
