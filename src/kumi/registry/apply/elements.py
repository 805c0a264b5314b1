"""Elements of a path: how a member, an item of a list, a value of a set is named.

    f:name                                  a member
    k:{"containerPort":80,"protocol":"TCP"} an item of a list by its keys, in order of their names; a key that the item leaves
                                            out counts with the default that its schema has
    v:"x"                                   an item of a set
    i:3                                     an item by its place
Source     Kubernetes: server-side apply (merge strategies, list map keys), FieldsV1.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import orjson

from kumi.api.errors import KumiError
from kumi.api.shapes import Shape
from kumi.api.wire import JsonObject

SHORT = 64
"""letters of names whose elements are remembered"""


class Unnameable(KumiError):
    """An item of a list has nothing by which it could be told apart."""


def member(name: str) -> str:
    """The element of a member."""
    return f"f:{name}"


def item_element(shape: Shape, item: Any) -> str:
    """The element of an item of a list of that shape, which is a set or told apart by keys. Unnameable."""
    if shape.list_type == "set":
        if isinstance(item, dict | list):
            raise Unnameable("an item of a set is no plain value")
        return f"v:{_text(item)}"
    if not isinstance(item, dict):
        raise Unnameable("an item of a list with keys is no object")
    keys = shape.list_keys
    if len(keys) == 1:
        (key,) = keys
        name = item.get(key)
        if type(name) is str:
            return _named(key, name) if len(name) <= SHORT else _named.__wrapped__(key, name)
    found = {key: item[key] for key in keys if item.get(key) is not None}
    for key, default in shape.key_defaults:
        found.setdefault(key, default)
    if not found:
        raise Unnameable(f"an item leaves out the key {', '.join(shape.list_keys)}")
    return f"k:{_text(found)}"


@lru_cache(maxsize=8192)
def _named(key: str, name: str) -> str:
    """Of an item with one key: names of variables, ports, conditions come again and again."""
    return f'k:{{"{key}":{_text(name)}}}'


def indexed(shape: Shape, items: Iterable[Any]) -> dict[str, list[Any]]:
    """Items by element, in order; more than one where the list repeats itself. Unnameable."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(item_element(shape, item), []).append(item)
    return found


def canonical_element(text: str) -> str:
    """An element as it is written here. KumiError if it is none."""
    kind, colon, rest = text.partition(":")
    if not colon:
        raise KumiError(f"{text!r} is no element of a path")
    if kind == "f":
        return text
    try:
        value = orjson.loads(rest)
    except orjson.JSONDecodeError as error:
        raise KumiError(f"{text!r} is no element of a path: {error}") from error
    right = {"k": isinstance(value, dict), "v": True, "i": isinstance(value, int)}.get(kind, False)
    if not right:
        raise KumiError(f"{text!r} is no element of a path")
    return f"{kind}:{_text(value)}"


def path_text(path: Iterable[str]) -> str:
    """A path as people read it: `.spec.containers[name="web"].image`."""
    return "".join(map(_element_text, path))


def _element_text(element: str) -> str:
    kind, _, rest = element.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    if kind == "k":
        keys: JsonObject = orjson.loads(rest)
        return "[" + ",".join(f"{key}={_text(keys[key])}" for key in sorted(keys)) + "]"
    return f"[{rest}]"


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
