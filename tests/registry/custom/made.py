"""Definitions to test with: a widget with most of what a definition can say, and short words for others."""

from __future__ import annotations

from typing import Any

from kumi.api.wire import JsonObject
from kumi.registry.custom.schema import Schema, compile_schema

GROUP = "shop.example.com"
TEXT: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": "integer"}


def of(**properties: JsonObject) -> JsonObject:
    """An object with these members."""
    return {"type": "object", "properties": properties}


def many(items: JsonObject, **more: Any) -> JsonObject:
    """A list."""
    return {"type": "array", "items": items, **more}


def keyed(items: JsonObject, key: str = "k", **more: Any) -> JsonObject:
    """A list that is a map."""
    named = {**items, "required": [key]}
    return many(named, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}, **more)


def ruled(schema: JsonObject, *rules: str | JsonObject) -> JsonObject:
    """A schema with rules."""
    said = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**schema, "x-kubernetes-validations": said}


def compiled(**properties: JsonObject) -> Schema:
    """The schema of whole objects with these members."""
    return compile_schema(of(**properties))


def version(name: str = "v1", schema: JsonObject | None = None, **more: Any) -> JsonObject:
    """One version, the stored one unless it says otherwise."""
    said = {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema or of(spec=WIDGET)}}
    return {**said, **more}


def definition(
    *versions: JsonObject, plural: str = "widgets", kind: str = "Widget", group: str = GROUP, **names: Any
) -> JsonObject:
    """A definition of a namespaced kind."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, **names},
            "versions": list(versions) or [version()],
        },
    }


WIDGET = of(size={**NUMBER, "minimum": 1}, color={**TEXT, "default": "red"}, note=TEXT)


def widget(name: str = "w", **spec: Any) -> JsonObject:
    """A widget."""
    return {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}
