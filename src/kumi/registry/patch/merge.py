"""JSON merge patch: what is null goes, objects merge member by member, everything else is replaced.

Source     RFC 7386.
"""

from __future__ import annotations

from typing import Any

from kumi.api.wire import JsonObject
from kumi.registry.patch import BadPatch


def apply(target: JsonObject, patch: object) -> JsonObject:
    """Lays `patch` over `target`."""
    if not isinstance(patch, dict):
        raise BadPatch("a merge patch must be an object")
    merge(target, patch)
    return target


def merge(target: dict[str, Any], patch: dict[str, Any]) -> None:
    """The rule itself, on two objects."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            there = target.get(key)
            if not isinstance(there, dict):
                there = target[key] = {}
            merge(there, value)
        else:
            target[key] = value
