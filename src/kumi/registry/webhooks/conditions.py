"""matchConditions: expressions in CEL that must all hold for a webhook to be asked.

They see `object`, `oldObject` (null where there is none), `request` (as in the review, without the two) and `authorizer`, which
answers what the one who asks may do. One that is false decides, whatever else fails; else one that fails counts as failurePolicy
says.
"""

from __future__ import annotations

from functools import lru_cache

from cel_expr_python import cel

from kumi.api.wire import JsonObject
from kumi.registry.authorization.rules import Asked
from kumi.registry.custom.cel.authorizer import FUNCTIONS, Answer, answered_by, authorizer
from kumi.registry.custom.cel.environment import environment

VARIABLES = ("object", "oldObject", "request", "authorizer")


class ConditionFailed(Exception):
    """An expression that can't be read, or whose evaluation failed."""


def hold(conditions: list[JsonObject], request: JsonObject, answer: Answer) -> bool:
    """Whether all do; `answer` is the authorizer's. ConditionFailed: none is false, and one failed."""
    failed = ""
    data = {
        "object": request["object"],
        "oldObject": request["oldObject"],
        "request": {key: value for key, value in request.items() if key not in ("object", "oldObject")},
        "authorizer": authorizer(_asked(request)),
    }
    for condition in conditions:
        try:
            with answered_by(answer):
                found = _compiled(condition["expression"]).eval(data=data)
        except (RuntimeError, ValueError, TypeError) as error:
            failed = failed or f"match condition {condition.get('name')!r}: {error}"
            continue
        result = found.value()
        if result is False:
            return False
        if found.type() == cel.Type.ERROR:
            failed = failed or f"match condition {condition.get('name')!r}: {result}"
        elif result is not True:
            failed = failed or f"match condition {condition.get('name')!r} is neither true nor false"
    if failed:
        raise ConditionFailed(failed)
    return True


def _asked(request: JsonObject) -> Asked:
    """The resource that the request is about; the verb is the check's."""
    resource = request.get("resource") or {}
    named = "/".join(filter(None, (resource.get("resource", ""), request.get("subResource", ""))))
    return Asked("", resource.get("group", ""), named, request.get("namespace", ""), request.get("name", ""))


@lru_cache(maxsize=1024)
def _compiled(text: str) -> cel.Expression:
    return environment(VARIABLES, FUNCTIONS).compile(text)
