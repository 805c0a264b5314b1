"""A configuration laid over an object: what it says counts, what it leaves out stays.

The rule, by the shape of a place:
    one field (plain, atomic)    the configuration's value takes the place of the object's
    object                       member by member
    set, list by elements        items of both sides merge by their element; items of the configuration keep its order, items that
                                 only the object has stay behind those that they stood behind
Source     Kubernetes: server-side apply (merge strategies).
"""

from __future__ import annotations

from typing import Any

from kumi.api.shapes import Shape
from kumi.api.wire import JsonObject
from kumi.registry.apply.compare import ANY
from kumi.registry.apply.elements import item_element


def merge(shape: Shape, obj: JsonObject, config: JsonObject) -> JsonObject:
    """A new object; it shares what neither side changes. Unnameable."""
    members, other = shape.members, shape.any_member or ANY
    out = dict(obj)
    for key, value in config.items():
        out[key] = _merged(members.get(key) or other, obj[key], value) if key in obj else value
    return out


def _merged(shape: Shape, there: Any, config: Any) -> Any:
    if type(there) is dict and type(config) is dict and not shape.atomic:
        return merge(shape, there, config)
    if type(there) is list and type(config) is list and shape.list_type in ("map", "set"):
        return _list(shape, there, config)
    return config


def _list(shape: Shape, there: list[Any], config: list[Any]) -> list[Any]:
    inner = shape.items or ANY
    wanted = {item_element(shape, item): item for item in config}
    old = [(item_element(shape, item), item) for item in there]
    before = {element: item for element, item in reversed(old) if element in wanted}
    order = list(wanted)
    shared = [element for element in order if element in before]
    out: list[Any] = []
    placed = 0

    def place_through(element: str) -> None:
        nonlocal placed
        while placed < len(order):
            name = order[placed]
            placed += 1
            out.append(_merged(inner, before[name], wanted[name]) if name in before else wanted[name])
            if name == element:
                return

    turn = 0
    for element, item in old:
        if element not in wanted:
            out.append(item)
        elif turn < len(shared) and element == shared[turn]:
            place_through(element)
            turn += 1
    place_through("")
    return out
