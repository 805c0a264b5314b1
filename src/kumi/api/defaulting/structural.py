"""Defaults of Kumi's own kinds: what their schema says (`say(default=...)`), as a server fills in a custom resource.

The rule   a member that is absent gets its default, and then the defaults below it; absent objects without a default of
           their own stay absent.
Source     Kubernetes: defaulting of structural schemas.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from kumi.api.scheme import Default, ViewType
from kumi.api.shapes import Shape, shape_of_type
from kumi.api.wire import JsonObject


def by_schema(type_: ViewType, group: str, version: str) -> Default:
    """The defaulting function of a kind; its schema is made at the first call."""

    def default(obj: JsonObject) -> None:
        _fill(shape_of_type(type_, group, version), obj)

    return default


def _fill(shape: Shape, value: Any) -> None:
    if not shape.has_defaults:
        return
    if isinstance(value, list) and shape.items is not None:
        for item in value:
            _fill(shape.items, item)
    elif isinstance(value, dict):
        for name, given in shape.defaults:
            if value.get(name) is None:
                value[name] = deepcopy(given)
        for name, below in value.items():
            inner = shape.members.get(name) or shape.any_member
            if inner is not None:
                _fill(inner, below)
