"""Defaulting: what is absent gets what its schema says, in place.

The rule, at an object, for each member that has a default:
    absent                                      it gets the default
    null where null is not allowed              it gets the default
    null where null is not allowed, no default  it goes (`drop_nulls`)
    then the same below, in what was there and in what was filled in. Absent objects without a default stay absent.
When       on every write, by the schema of the version that the writer speaks; on every read, by that of the stored version.
Law        filling twice is filling once.
Source     Kubernetes: defaulting, defaulting and nullable.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kumi.registry.custom.schema import Schema


def fill(schema: Schema, value: Any) -> None:
    """See the module."""
    if not schema.has_defaults:
        return
    if isinstance(value, dict):
        for name, below in schema.properties.items():
            if below.has_default and _lacks(value, name, below):
                value[name] = deepcopy(below.default)
            if name in value:
                fill(below, value[name])
        if schema.additional is not None:
            _fill_map(schema.additional, schema.properties, value)
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            if item is None and not schema.items.nullable and schema.items.has_default:
                value[index] = deepcopy(schema.items.default)
            fill(schema.items, value[index])


def drop_nulls(schema: Schema, value: Any) -> None:
    """Takes out members that are null where null is not allowed."""
    if isinstance(value, dict):
        for name in [name for name, below in value.items() if below is None]:
            below = schema.below(name)
            if below is not None and not below.nullable:
                del value[name]
        for name, member in value.items():
            inner = schema.below(name)
            if inner is not None and isinstance(member, dict | list):
                drop_nulls(inner, member)
    elif isinstance(value, list) and schema.items is not None:
        for item in value:
            if isinstance(item, dict | list):
                drop_nulls(schema.items, item)


def _lacks(value: dict[str, Any], name: str, below: Schema) -> bool:
    return name not in value or (value[name] is None and not below.nullable)


def _fill_map(schema: Schema, named: dict[str, Schema], value: dict[str, Any]) -> None:
    for name in [name for name in value if name not in named]:
        if value[name] is None and not schema.nullable and schema.has_default:
            value[name] = deepcopy(schema.default)
        fill(schema, value[name])
