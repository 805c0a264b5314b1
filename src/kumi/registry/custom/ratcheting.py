"""Ratcheting: what was wrong before and is left alone doesn't stop an update.

The rule   a fault counts unless the value that decides about it (Wrong.at) is the same in the old object, at the same place.
           Places in lists are the same by their keys in lists that are maps, by nothing in other lists.
Why        a definition may become stricter; objects that were right before must still take updates of other parts.
Source     Kubernetes: validation ratcheting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kumi.registry.custom.places import MISSING, Path, at
from kumi.registry.custom.schema import Schema
from kumi.registry.custom.values import Wrong, canonical


def still_wrong(schema: Schema, faults: Iterable[Wrong], new: Any, old: Any) -> list[Wrong]:
    """The faults that count; `old` None is a creation: all of them."""
    if old is None:
        return list(faults)
    return [fault for fault in faults if not _unchanged(schema, fault.at, new, old)]


def _unchanged(schema: Schema, path: Path, new: Any, old: Any) -> bool:
    before, here, now = old, schema, new
    for index, step in enumerate(path):
        if isinstance(step, int):
            before = _partner(here, at(new, path[: index + 1]), before)
            below = here.items
        else:
            before = before.get(step, MISSING) if isinstance(before, dict) else MISSING
            below = here.below(step)
        if before is MISSING:
            return False
        here = below or Schema()
    now = at(new, path)
    return now is not MISSING and canonical(now) == canonical(before)


def _partner(schema: Schema, item: Any, items: Any) -> Any:
    """The item of the old list with the same keys."""
    if schema.list_type != "map" or not isinstance(items, list) or not isinstance(item, dict):
        return MISSING
    wanted = [item.get(key) for key in schema.list_keys]
    found = (
        other for other in items if isinstance(other, dict) and [other.get(key) for key in schema.list_keys] == wanted
    )
    return next(found, MISSING)
