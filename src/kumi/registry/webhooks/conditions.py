"""matchConditions: expressions in CEL that must all hold for a webhook to be asked.

They see `object`, `oldObject` (null where there is none) and `request` (as in the review, without the two). One that is false
decides, whatever else fails; else one that fails counts as failurePolicy says.
Not here   `authorizer`.
"""

from __future__ import annotations

from functools import lru_cache

from cel_expr_python import cel

from kumi.api.wire import JsonObject
from kumi.registry.custom.cel.environment import environment

VARIABLES = ("object", "oldObject", "request")


class ConditionFailed(Exception):
    """An expression that can't be read, or whose evaluation failed."""


def hold(conditions: list[JsonObject], request: JsonObject) -> bool:
    """Whether all do. ConditionFailed: none is false, and one failed."""
    failed = ""
    data = {
        "object": request["object"],
        "oldObject": request["oldObject"],
        "request": {key: value for key, value in request.items() if key not in ("object", "oldObject")},
    }
    for condition in conditions:
        try:
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


@lru_cache(maxsize=1024)
def _compiled(text: str) -> cel.Expression:
    return environment(VARIABLES).compile(text)
