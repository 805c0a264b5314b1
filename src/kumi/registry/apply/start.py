"""What an object of a kind has before anybody wrote a field: a creator owns only what it adds to that.

Kubernetes' own types hold some members by value (a Deployment has a strategy and a template even when nobody says so) and some
must always be there (the containers of a pod, null for none); the objects of custom kinds start from nothing.
Source     Kubernetes: the API types (kumi.api.openapi.messages) and their definitions (`required`).
"""

from __future__ import annotations

from functools import lru_cache

from kumi.api.shapes import Shape
from kumi.api.wire import JsonObject

_ZERO: dict[str, object] = {"string": "", "integer": 0, "boolean": False, "number": 0}


@lru_cache(maxsize=512)
def start(shape: Shape) -> JsonObject:
    """The object that nobody wrote; shared and read-only."""
    return {} if shape.strict else _start(shape)


def _start(shape: Shape) -> JsonObject:
    out: JsonObject = {}
    for name, inner in shape.members.items():
        if name in shape.by_value:
            out[name] = _start(inner) if inner.type == "object" else _ZERO.get(inner.type)
        elif name in shape.needed and inner.type == "array":
            out[name] = None
    return out
