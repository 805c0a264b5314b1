"""A status as a value: written out as JSON, and as the merge patch from what it was to what it is now.

A job's status belongs to its controller alone, so the typed view is the whole of it and may be written back (the one
exception to the rule that views are never encoded). Fields at their default are left out, as Kubernetes' own clients do:
a counter that falls to zero vanishes.
"""

from __future__ import annotations

from functools import cache

import msgspec

from kumi.api.meta import Condition, View
from kumi.api.wire import JsonObject


@cache
def _fields(type_: type[View]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """A view's fields: asking for them reads its annotations anew, 100 times the cost of writing the view out."""
    return msgspec.structs.fields(type_)


def to_json(value: object) -> object:
    """JSON of a view, without fields that are at their default; a condition always keeps its type and status."""
    if isinstance(value, View):
        out: JsonObject = {}
        for field in _fields(type(value)):
            here = getattr(value, field.name)
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
            if here != default or (isinstance(value, Condition) and field.name in ("type", "status")):
                out[field.encode_name] = to_json(here)
        return out
    if isinstance(value, dict):
        return {k: to_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(v) for v in value]
    return value


def status_patch(old: View, new: View) -> JsonObject | None:
    """The JSON merge patch (RFC 7396) from `old` to `new`; None when they are the same."""
    if old == new:
        return None
    before, after = to_json(old), to_json(new)
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    return _difference(before, after) or None


def _difference(old: JsonObject, new: JsonObject) -> JsonObject:
    patch: JsonObject = {key: None for key in old if key not in new}
    for key, value in new.items():
        if key not in old:
            patch[key] = value
        elif isinstance(value, dict) and isinstance(old[key], dict):
            inner = _difference(old[key], value)
            if inner:
                patch[key] = inner
        elif value != old[key]:
            patch[key] = value
    return patch
