"""Which fields differ between two objects of a kind, as sets of fields.

    changed   what the new object has and the old one has not, or has otherwise
    removed   what only the old one has

The rule, by the shape of a place:
    atomic       (a plain value, a list or an object that says so, a list without a word) is one field
    object       goes on member by member; a member that one side lacks counts with all that is below it
    set, list    by elements (kumi.registry.apply.elements), so that order does not count; an element that is there more than once
                 is one field
    no schema    objects go on member by member, all else is one field
    empty        an object or list that is empty, or was nothing, is one field
Cost       O(what differs): two equal branches are told by one comparison. O(the object) where there was nothing.
Source     Kubernetes: server-side apply (merge strategies).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kumi.api.shapes import Shape
from kumi.api.wire import JsonObject
from kumi.registry.apply.elements import indexed, item_element
from kumi.registry.apply.fieldset import LEAF, SELF, FieldSet

ANY = Shape()
_GRANULAR = ("map", "set")


class Comparison(NamedTuple):
    """See the module."""

    changed: FieldSet
    removed: FieldSet

    @property
    def touched(self) -> FieldSet:
        """Both."""
        return self.changed | self.removed if self.removed else self.changed

    def __bool__(self) -> bool:
        return bool(self.changed) or bool(self.removed)


def compare(shape: Shape, old: JsonObject, new: JsonObject) -> Comparison:
    """See the module. Unnameable: an item of a list has no keys."""
    changed: JsonObject = {}
    removed: JsonObject = {}
    _objects(shape, old, new, changed, removed)
    return Comparison(FieldSet(changed), FieldSet(removed))


def everything(shape: Shape, obj: JsonObject) -> FieldSet:
    """Every field of an object, those that have fields below them too."""
    return FieldSet({key: below for key, below in _field(shape, obj).items() if key != SELF})


def children(shape: Shape, value: Any) -> Iterator[tuple[str, Shape, Any]]:
    """What is below a place that is not one field: (element, shape, value); nothing for one that is. Unnameable."""
    if type(value) is dict:
        if not shape.atomic:
            members, other = shape.members, shape.any_member or ANY
            for key, below in value.items():
                yield f"f:{key}", members.get(key) or other, below
    elif type(value) is list and shape.list_type in _GRANULAR:
        inner = shape.items or ANY
        for element, items in indexed(shape, value).items():
            yield element, inner if len(items) == 1 else ANY, items[0] if len(items) == 1 else items


def _field(shape: Shape, value: Any) -> JsonObject:
    """A field with all that is below it. As `children` has it, written out: what is created is walked here from top to bottom."""
    kind = type(value)
    if kind is dict:
        if shape.atomic or not value:
            return LEAF
        members, other = shape.members, shape.any_member or ANY
        out: JsonObject = {SELF: LEAF}
        for key, below in value.items():
            nested = type(below) is dict or type(below) is list
            out["f:" + key] = _field(members.get(key) or other, below) if nested and below else LEAF
        return out
    if kind is not list or not value or shape.list_type not in _GRANULAR:
        return LEAF
    inner = shape.items or ANY
    out = {SELF: LEAF}
    for item in value:
        element = item_element(shape, item)
        out[element] = LEAF if element in out else _field(inner, item)
    return out


def _objects(shape: Shape, old: JsonObject, new: JsonObject, changed: JsonObject, removed: JsonObject) -> None:
    members, other = shape.members, shape.any_member or ANY
    for key, value in new.items():
        if key not in old:
            changed["f:" + key] = _field(members.get(key) or other, value)
        elif (before := old[key]) is not value and before != value:
            _differing("f:" + key, members.get(key) or other, before, value, changed, removed)
    for key, value in old.items():
        if key not in new:
            removed["f:" + key] = _field(members.get(key) or other, value)


def _differing(element: str, shape: Shape, old: Any, new: Any, changed: JsonObject, removed: JsonObject) -> None:
    """Two values that are not equal, at one place."""
    below_changed: JsonObject = {}
    below_removed: JsonObject = {}
    if _is_granular(shape, old, new, dict):
        _objects(shape, old or {}, new or {}, below_changed, below_removed)
    elif shape.list_type in _GRANULAR and _is_granular(shape, old, new, list):
        _lists(shape, old or [], new or [], below_changed, below_removed)
    else:
        changed[element] = LEAF
        return
    if below_changed:
        changed[element] = below_changed
    if below_removed:
        removed[element] = below_removed


def _is_granular(shape: Shape, old: Any, new: Any, type_: type) -> bool:
    """Whether both are of that type, or nothing, and there is something to go into."""
    right = (type_, type(None))
    return not shape.atomic and type(old) in right and type(new) in right and bool(old or new)


def _lists(shape: Shape, old: list[Any], new: list[Any], changed: JsonObject, removed: JsonObject) -> None:
    inner = shape.items or ANY
    in_place = _in_place(shape, old, new)
    if in_place is not None:
        for element, one, other in in_place:
            _differing(element, inner, one, other, changed, removed)
        return
    before, after = indexed(shape, old), indexed(shape, new)
    for element, items in after.items():
        there = before.get(element)
        if there is None:
            changed[element] = _field(inner, items[0]) if len(items) == 1 else LEAF
        elif there != items:
            if len(there) == len(items) == 1:
                _differing(element, inner, there[0], items[0], changed, removed)
            else:
                changed[element] = LEAF
    for element, items in before.items():
        if element not in after:
            removed[element] = _field(inner, items[0]) if len(items) == 1 else LEAF


def _in_place(shape: Shape, old: list[Any], new: list[Any]) -> list[tuple[str, Any, Any]] | None:
    """(element, old, new) of the items that differ, where every item stands at its place; else None. Most lists change so."""
    if len(old) != len(new):
        return None
    found: dict[str, tuple[str, Any, Any]] = {}
    for one, other in zip(old, new, strict=True):
        if one is other or one == other:
            continue
        element = item_element(shape, one)
        if element in found or element != item_element(shape, other):
            return None
        found[element] = (element, one, other)
    return list(found.values())
