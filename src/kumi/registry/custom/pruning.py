"""Pruning: what a schema doesn't know is taken out of an object, in place; it is never stored.

    prune(schema, obj) -> the paths of what was taken out (`spec.items[0].odd`), in order of the text

The rule, at an object:
    a member with a schema             stays, and is pruned itself
    one without, where unknown fields are preserved (x-kubernetes-preserve-unknown-fields)      stays as it is
    one without, elsewhere             goes
    apiVersion, kind, metadata of the object itself and of embedded resources                   stay
What has no type here (a branch that is preserved, an object where text is expected) is left for validation.
Law        prune(schema, x) after prune(schema, x) finds nothing.
Source     Kubernetes: field pruning, embedded resources.
"""

from __future__ import annotations

from typing import Any

from kumi.api.wire import JsonObject
from kumi.registry.custom.places import Path, dotted
from kumi.registry.custom.schema import Schema

OF_EVERY_OBJECT = ("apiVersion", "kind", "metadata")


def prune(schema: Schema, obj: JsonObject, *, whole: bool = True) -> list[str]:
    """See the module; `whole` unless `obj` is a part of an object."""
    unknown: list[Path] = []
    _object(schema, obj, (), unknown, whole=whole or schema.embedded)
    return [dotted(path) for path in unknown]


def _value(schema: Schema, value: Any, path: Path, unknown: list[Path]) -> None:
    if isinstance(value, dict):
        _object(schema, value, path, unknown, whole=schema.embedded)
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            _value(schema.items, item, (*path, index), unknown)


def _object(schema: Schema, obj: JsonObject, path: Path, unknown: list[Path], *, whole: bool) -> None:
    kept = schema.preserve or schema.open_additional
    gone = []
    for name, value in obj.items():
        if whole and name in OF_EVERY_OBJECT:
            continue
        below = schema.below(name)
        if below is not None:
            _value(below, value, (*path, name), unknown)
        elif not kept:
            gone.append(name)
            unknown.append((*path, name))
    for name in gone:
        del obj[name]
