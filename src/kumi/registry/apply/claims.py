"""Which fields a configuration speaks for: what its manager owns once it is applied.

The rule   plain values and what is owned as a whole; every item of a list by its element; members of a map (names that no schema
           gives); what is empty. An object or list with fields below it is not itself claimed: others may have fields in it too.
Struct     a member that its schema names. `with_structs` adds those on the way to a field: who claims `spec.replicas` has a
           stake in `spec`.
Source     Kubernetes: server-side apply.
"""

from __future__ import annotations

from typing import Any

from kumi.api.shapes import Shape
from kumi.api.wire import JsonObject
from kumi.registry.apply.compare import ANY, children
from kumi.registry.apply.elements import Unnameable, member
from kumi.registry.apply.fieldset import LEAF, SELF, FieldSet


def claims(shape: Shape, config: JsonObject) -> FieldSet:
    """The fields of a configuration. Unnameable: an item without keys, or one that stands twice."""
    return FieldSet(_claims(shape, config))


def with_structs(shape: Shape, fields: FieldSet) -> FieldSet:
    """`fields`, and every member named by its schema that one of them is below."""
    return FieldSet(_with_structs(shape, fields.tree))


def _claims(shape: Shape, value: Any) -> JsonObject:
    """What is below a place; nothing where it is one field."""
    out: JsonObject = {}
    if type(value) is list:
        _check_repeats(shape, value)
    for element, inner, below in children(shape, value):
        tree = _claims(inner, below)
        if not tree:
            if not _is_empty_list(inner, below):
                out[element] = LEAF
        elif element[:2] == "f:" and element[2:] in shape.members:
            out[element] = tree
        else:
            out[element] = {SELF: LEAF, **tree}
    return out


def _is_empty_list(shape: Shape, value: Any) -> bool:
    return type(value) is list and not value and shape.list_type != "atomic"


def _check_repeats(shape: Shape, items: list[Any]) -> None:
    if shape.list_type == "atomic":
        return
    elements = [element for element, _, _ in children(shape, items)]
    if len(elements) != len(items):
        raise Unnameable("an item of a list stands in it twice")


def _with_structs(shape: Shape, tree: JsonObject) -> JsonObject:
    out: JsonObject = {}
    for element, below in tree.items():
        if element == SELF or not below:
            out[element] = below
            continue
        inner, named = _below(shape, element)
        full = _with_structs(inner, below)
        out[element] = {SELF: LEAF, **full} if named else full
    return out


def _below(shape: Shape, element: str) -> tuple[Shape, bool]:
    """The shape below an element, and whether the schema names it."""
    if element[:2] != "f:":
        return shape.items or ANY, False
    inner = shape.members.get(element[2:])
    return (inner, True) if inner is not None else (shape.any_member or ANY, False)


IDENTITY = FieldSet({member("apiVersion"): LEAF, member("kind"): LEAF})
"""What every object has, and nobody owns."""
SYSTEM = FieldSet(
    {
        **IDENTITY.tree,
        member("metadata"): {
            SELF: LEAF,
            **{
                member(name): LEAF
                for name in (
                    "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
                    "managedFields", "resourceVersion",
                )
            },
        },
    }
)  # fmt: skip
"""Fields that the server keeps: nobody owns them."""
