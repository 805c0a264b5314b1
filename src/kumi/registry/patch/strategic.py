"""Strategic merge patch: a merge patch that knows which lists are maps in disguise.

The rule, for a field that both sides have:
    objects              merge member by member; null deletes
    lists of objects     with patch strategy `merge`: items merge by the merge key that the schema names, the rest is added
    lists of scalars     with patch strategy `merge`: a union
    everything else      is replaced
Directives
    $patch: replace | delete | merge       in an object: this object; in an item of a merged list: the list, the item
    $retainKeys: [a, b]                    other members of the object go first
    $deleteFromPrimitiveList/f: [x]        takes scalars out of list f
    $setElementOrder/f: [...]              the order of list f: items named here in this order; items that only the
                                           target has stay where they stood relative to those
Order      of a merged list: as under $setElementOrder, with the patch's own order.
Ties       an item of the patch goes before one of the target where their old places don't decide.
Source     Kubernetes: strategic merge patch, preserving order in strategic merge patch.
Not here   which types allow it: Kind.strategic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import orjson

from kumi.api.wire import JsonObject
from kumi.registry.patch import BadPatch
from kumi.registry.patch.shape import Shape

PATCH, RETAIN = "$patch", "$retainKeys"
ORDER, TAKE_OUT = "$setElementOrder/", "$deleteFromPrimitiveList/"

Identity = Callable[[Any], Hashable]
"""What makes two items of a list the same item."""


def apply(target: JsonObject, patch: object, shape: Shape) -> JsonObject:
    """Lays `patch` over `target`, whose schema is `shape`."""
    if not isinstance(patch, dict):
        raise BadPatch("a strategic merge patch must be an object")
    return _merged(target, patch, shape)


def _merged(target: JsonObject, patch: JsonObject, shape: Shape) -> JsonObject:
    directive = patch.get(PATCH)
    if directive == "replace":
        return {key: _plain(value) for key, value in patch.items() if value is not None and not key.startswith("$")}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise BadPatch(f"unknown {PATCH} directive {directive!r}")
    _retain(target, patch)
    for key, value in patch.items():
        if key.startswith(ORDER):
            field = key.removeprefix(ORDER)
            _ordered(target, field, patch.get(field), value, shape.member(field))
    for key, value in patch.items():
        if key.startswith(TAKE_OUT):
            _take_out(target, key.removeprefix(TAKE_OUT), value)
        elif key not in (PATCH, RETAIN) and not key.startswith(ORDER) and f"{ORDER}{key}" not in patch:
            _lay(target, key, value, shape.member(key))
    return target


def _lay(target: JsonObject, key: str, value: Any, shape: Shape) -> None:
    there = target.get(key)
    if value is None:
        target.pop(key, None)
    elif isinstance(value, dict) and isinstance(there, dict) and "replace" not in shape.strategies:
        target[key] = _merged(there, value, shape)
    elif isinstance(value, list) and isinstance(there, list) and "merge" in shape.strategies:
        target[key] = _merged_list(there, value, shape)
    else:
        target[key] = _plain(value)


def _retain(target: JsonObject, patch: JsonObject) -> None:
    keep = patch.get(RETAIN)
    if keep is None:
        return
    if not isinstance(keep, list):
        raise BadPatch(f"{RETAIN} must be a list")
    unnamed = [k for k, v in patch.items() if not k.startswith("$") and v is not None and k not in keep]
    if unnamed:
        raise BadPatch(f"{RETAIN} must name every field of the patch, it misses {', '.join(unnamed)}")
    for key in [key for key in target if key not in keep]:
        del target[key]


def _take_out(target: JsonObject, field: str, values: Any) -> None:
    there = target.get(field)
    if not isinstance(values, list):
        raise BadPatch(f"{TAKE_OUT}{field} must be a list")
    if isinstance(there, list):
        gone = {_identity_of_scalar(value) for value in values}
        target[field] = [value for value in there if _identity_of_scalar(value) not in gone]


def _ordered(target: JsonObject, field: str, items: Any, order: Any, shape: Shape) -> None:
    """Merges list `field` with the patch's `items` (None: no change) and puts it in `order`."""
    there = target.get(field)
    if not isinstance(order, list) or not (items is None or isinstance(items, list)):
        raise BadPatch(f"{ORDER}{field} and {field} must be lists")
    if there is None and items is None:
        return
    old = there if isinstance(there, list) else []
    merged = old if items is None else _merged_list(old, items, shape)
    identity = _identity(shape.merge_key, [*merged, *order])
    _check_order(field, items or [], order, identity, shape.merge_key)
    target[field] = _arrange(merged, order, old, identity)


def _check_order(field: str, items: Sequence[Any], order: Sequence[Any], identity: Identity, merge_key: str) -> None:
    places = {identity(item): place for place, item in enumerate(order)}
    last = -1
    for item in items:
        if isinstance(item, dict) and (PATCH in item or merge_key not in item):
            continue
        place = places.get(identity(item), -1)
        if place <= last:
            raise BadPatch(f"the order of {field} does not agree with {ORDER}{field}")
        last = place


def _merged_list(there: list[Any], items: list[Any], shape: Shape) -> list[Any]:
    identity = _identity(shape.merge_key, [*there, *items])
    if not any(isinstance(item, dict) for item in [*there, *items]):
        union = list({identity(item): item for item in [*items[::-1], *there[::-1]]}.values())[::-1]
        return _arrange(union, items, there, identity)
    wanted, replace = [], False
    doomed = set()
    for item in items:
        directive = item.get(PATCH) if isinstance(item, dict) else None
        if directive is None:
            wanted.append(item)
        elif directive == "replace":
            replace = True
        elif directive == "delete":
            doomed.add(identity(item))
        else:
            raise BadPatch(f"{PATCH}: {directive} is not for items of a list")
    if replace:
        return [_plain(item) for item in wanted]
    kept = [item for item in there if identity(item) not in doomed]
    places = {identity(item): place for place, item in reversed(list(enumerate(kept)))}
    for item in wanted:
        place = places.get(identity(item))
        if place is None:
            places[identity(item)] = len(kept)
            kept.append(_plain(item))
        else:
            kept[place] = _merged(kept[place], item, shape.item())
    return _arrange(kept, wanted, there, identity)


def _arrange(items: list[Any], order: Sequence[Any], old: Sequence[Any], identity: Identity) -> list[Any]:
    """`items` with those that `order` names in that order, the others placed by where they stood in `old`."""
    ranks: dict[Hashable, int] = {}
    for rank, item in enumerate(order):
        ranks.setdefault(identity(item), rank)
    places: dict[Hashable, int] = {}
    for place, item in enumerate(old):
        places.setdefault(identity(item), place)
    named = sorted((i for i in items if identity(i) in ranks), key=lambda item: ranks[identity(item)])
    others = [item for item in items if identity(item) not in ranks]
    arranged: list[Any] = []
    for item in named:
        stood = places.get(identity(item))
        while others and stood is not None and places.get(identity(others[0]), stood) < stood:
            arranged.append(others.pop(0))
        arranged.append(item)
    return arranged + others


def _identity(merge_key: str, items: Sequence[Any]) -> Identity:
    if not any(isinstance(item, dict) for item in items):
        return _identity_of_scalar
    if not merge_key:
        raise BadPatch("a list of objects has no merge key")

    def identity(item: Any) -> Hashable:
        if not isinstance(item, dict) or merge_key not in item:
            raise BadPatch(f"an item does not contain the merge key {merge_key}")
        return _identity_of_scalar(item[merge_key])

    return identity


def _identity_of_scalar(value: Any) -> Hashable:
    return orjson.dumps(value)


def _plain(value: Any) -> Any:
    """A value of the patch that has no counterpart in the target: without directives, nulls and doomed items."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if v is not None and not k.startswith("$")}
    if isinstance(value, list):
        return [
            _plain(item)
            for item in value
            if not (isinstance(item, dict) and (item.get(PATCH) == "delete" or item == {PATCH: "replace"}))
        ]
    return value
