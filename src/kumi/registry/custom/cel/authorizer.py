"""`authorizer` in CEL: may the one who asks do that?

    authorizer.group('apps').resource('deployments').subresource('status').namespace('ns').name('web').check('update')
    authorizer.path('/metrics').check('get')        authorizer.serviceAccount('ns', 'name') ... the same for that account
    authorizer.requestResource.check('delete')      the resource that the request is about
    decision.allowed()  .reason()  .errored()  .error()
Each step is a map, as quantities are (quantities.py); the answer comes from who evaluates the expression, within `answered_by`.
Source     Kubernetes: CEL libraries, authorizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from kumi.registry.authorization.decisions import Decision
from kumi.registry.authorization.rules import Asked
from kumi.registry.custom.cel.functions import BOOL, STRING, member
from kumi.registry.custom.cel.quantities import OPAQUE, Opaque

Answer: TypeAlias = Callable[[Asked, tuple[str, str] | None], Decision]
"""The decision on a question, about the one who asks or about the service account (namespace, name)."""

_ANSWER: ContextVar[Answer] = ContextVar("authorizer")
_PARTS = ("group", "resource", "subresource", "namespace", "name")


@contextmanager
def answered_by(answer: Answer) -> Iterator[None]:
    """Checks within are answered by that."""
    token = _ANSWER.set(answer)
    try:
        yield
    finally:
        _ANSWER.reset(token)


def authorizer(request_resource: Asked) -> Opaque:
    """The variable."""
    resource, _, below = request_resource.resource.partition("/")
    parts = (request_resource.group, resource, below, request_resource.namespace, request_resource.name)
    return {"requestResource": dict(zip(_PARTS, parts, strict=True))}


def _with(part: str) -> Callable[[Opaque, str], Opaque]:
    def put(value: Opaque, text: str) -> Opaque:
        kept = {key: each for key, each in value.items() if key != "requestResource"}
        return {**kept, part: text}

    return put


def _as_account(_: Opaque, namespace: str, name: str) -> Opaque:
    return {"account": f"{namespace}/{name}"}


def _check(value: Opaque, verb: str) -> Opaque:
    namespace, slash, name = str(value.get("account", "")).partition("/")
    account = (namespace, name) if slash else None
    if "path" in value:
        asked = Asked(verb, path=value["path"])
    else:
        group, resource, below, place, of = (str(value.get(part, "")) for part in _PARTS)
        asked = Asked(verb, group, f"{resource}/{below}" if below else resource, place, of)
    try:
        decision = _ANSWER.get()(asked, account)
    except LookupError:
        return {"allowed": False, "reason": "", "error": "nobody answers here"}
    return {"allowed": decision.allowed, "reason": decision.reason, "error": ""}


FUNCTIONS = (
    *(member(part, ([OPAQUE, STRING], OPAQUE, _with(part))) for part in (*_PARTS, "path")),
    member("serviceAccount", ([OPAQUE, STRING, STRING], OPAQUE, _as_account)),
    member("check", ([OPAQUE, STRING], OPAQUE, _check)),
    member("allowed", ([OPAQUE], BOOL, lambda value: value["allowed"])),
    member("reason", ([OPAQUE], STRING, lambda value: value["reason"])),
    member("errored", ([OPAQUE], BOOL, lambda value: bool(value["error"]))),
    member("error", ([OPAQUE], STRING, lambda value: value["error"])),
)
