"""Fields taken out of an object.

The rule   a field goes with all that is below it, an item of a list as a whole; what is one field goes whole or not at all.
           An object or list that this leaves empty goes too, unless it is itself to be kept.
Law        removing what is not there changes nothing; removing a field leaves no field at or below it.
Source     Kubernetes: server-side apply (what happens to fields that are no longer applied).
"""

from __future__ import annotations

from typing import Any

from kumi.api.shapes import Shape
from kumi.api.wire import JsonObject
from kumi.registry.apply.compare import ANY
from kumi.registry.apply.elements import item_element
from kumi.registry.apply.fieldset import FieldSet, is_field


def prune(shape: Shape, obj: JsonObject, gone: FieldSet, kept: FieldSet | None = None) -> JsonObject:
    """A new object without the fields `gone`; it shares what stays. `kept`: fields that may be left empty. Unnameable."""
    return _object(shape, obj, gone.tree, (kept or FieldSet()).tree)


def _object(shape: Shape, obj: JsonObject, gone: JsonObject, kept: JsonObject) -> JsonObject:
    out: JsonObject = {}
    for key, value in obj.items():
        element = "f:" + key
        node = gone.get(element)
        if node is None:
            out[key] = value
        elif not is_field(node):
            keep = kept.get(element)
            left = _below(shape.members.get(key) or shape.any_member or ANY, value, node, keep or {})
            if left or not value or (keep is not None and is_field(keep)):
                out[key] = left
    return out


def _below(shape: Shape, value: Any, gone: JsonObject, kept: JsonObject) -> Any:
    if type(value) is dict and not shape.atomic:
        return _object(shape, value, gone, kept)
    if type(value) is not list or shape.list_type not in ("map", "set"):
        return value
    inner = shape.items or ANY
    out = []
    for item in value:
        element = item_element(shape, item)
        node = gone.get(element)
        if node is None:
            out.append(item)
        elif not is_field(node):
            out.append(_below(inner, item, node, kept.get(element) or {}))
    return out
