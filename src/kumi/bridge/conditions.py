"""Conditions as they are written: one of a type, the time of the last change of status, nothing written that is there.

    set_condition(conditions, Wanted(type, status, reason, message), now_ms) -> the list to write

The rule   A condition whose status, reason and message are already so stays as it is. lastTransitionTime moves only when
           the status does. The order of types is the order in which they first came.
Why        A merge patch replaces the whole list, so the list must hold everybody's conditions: the patch that carries it
           is made conditional on the resourceVersion that it was read at (`status_patch`).
Source     Kubernetes API conventions, typical status properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from kumi.api.meta import Condition, Object, find_condition, format_time
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.runtime.reconcile import Patch

MESSAGE_BYTES_AT_MOST = 32768
"""what the API accepts as a condition's message"""


@dataclass(frozen=True)
class Wanted:
    """What a condition should say. `generation` is the generation of the spec that it speaks of (0: not said)."""

    type: str
    status: str
    reason: str
    message: str = ""
    generation: int = 0


def says(conditions: Sequence[Condition], wanted: Wanted) -> bool:
    """Whether the condition is there and says just that."""
    found = find_condition(list(conditions), wanted.type)
    return (
        found is not None
        and (found.status, found.reason, found.message) == (wanted.status, wanted.reason, cut(wanted.message))
        and (not wanted.generation or found.observed_generation == wanted.generation)
    )


def set_condition(conditions: Sequence[Condition], wanted: Wanted, now_ms: int) -> list[Condition]:
    """The conditions with this one as wanted; the very same list of values where nothing changes."""
    found = find_condition(list(conditions), wanted.type)
    since = found.last_transition_time if found is not None and found.status == wanted.status else None
    made = Condition(
        type=wanted.type,
        status=wanted.status,
        reason=wanted.reason,
        message=cut(wanted.message),
        last_transition_time=since or format_time(now_ms),
        observed_generation=wanted.generation or None,
    )
    if found is None:
        return [*conditions, made]
    return [made if c is found else c for c in conditions]


def set_all(conditions: Sequence[Condition], wanted: Iterable[Wanted], now_ms: int) -> list[Condition]:
    """Each in turn; a condition that says so already is left as it is."""
    result = list(conditions)
    for one in wanted:
        if not says(result, one):
            result = set_condition(result, one, now_ms)
    return result


def to_json(conditions: Sequence[Condition]) -> list[JsonObject]:
    """As the API has them: absent fields are left out, `message` and `reason` are always there."""
    return [_condition_json(c) for c in conditions]


def _condition_json(condition: Condition) -> JsonObject:
    always = ("type", "status", "reason", "message")
    built: JsonObject = msgspec.to_builtins(condition)
    return {k: v for k, v in built.items() if v is not None or k in always}


def status_patch(kind: Kind, obj: Object, status: JsonObject) -> Patch:
    """The merge patch of the status, conditional on the version of `obj` that was read."""
    meta = obj.metadata
    body: JsonObject = {"metadata": {"resourceVersion": meta.resource_version}, "status": status}
    if not meta.resource_version:
        del body["metadata"]
    return Patch(kind, meta.namespace, meta.name, body, subresource="status")


def cut(message: str) -> str:
    """A message within the API's bound."""
    data = message.encode()
    if len(data) <= MESSAGE_BYTES_AT_MOST:
        return message
    return data[: MESSAGE_BYTES_AT_MOST - 3].decode(errors="ignore") + "..."
