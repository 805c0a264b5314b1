"""What a strategic merge patch needs of a schema: a field's patch strategies, its merge key, its members and items.

It reads Kubernetes' own OpenAPI definitions (`x-kubernetes-patch-strategy`, `x-kubernetes-patch-merge-key`). A field that
the schema does not know has no strategy: objects merge, lists are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from kumi.api.openapi.definitions import PREFIX, definitions
from kumi.api.wire import JsonObject


class Shape:
    """One place in a schema."""

    __slots__ = ("_definitions", "_members", "_schema", "merge_key", "strategies")

    def __init__(self, schema: JsonObject, known: Mapping[str, JsonObject]) -> None:
        self.strategies: tuple[str, ...] = tuple(schema.get("x-kubernetes-patch-strategy", "").split(","))
        self.merge_key: str = schema.get("x-kubernetes-patch-merge-key", "")
        self._schema = _resolved(schema, known)
        self._definitions = known
        self._members: dict[str, Shape] = {}

    def member(self, name: str) -> Shape:
        """A member of an object (of any name, where the schema says additionalProperties)."""
        found = self._members.get(name)
        if found is None:
            below = (self._schema.get("properties") or {}).get(name) or self._schema.get("additionalProperties")
            found = Shape(below if isinstance(below, dict) else {}, self._definitions)
            self._members[name] = found
        return found

    def item(self) -> Shape:
        """An item of a list."""
        return Shape(self._schema.get("items") or {}, self._definitions)


@lru_cache(maxsize=256)
def shape_of(name: str) -> Shape:
    """The shape of a definition (`io.k8s.api.core.v1.Pod`); of what is not defined: no strategies anywhere."""
    known = definitions()
    return Shape(known.get(name, {}), known)


def _resolved(schema: Mapping[str, Any], known: Mapping[str, JsonObject]) -> JsonObject:
    while True:
        refs = [schema, *schema.get("allOf", ())]
        name = next((part["$ref"].removeprefix(PREFIX) for part in refs if "$ref" in part), None)
        if name is None:
            return dict(schema)
        schema = known.get(name, {})
