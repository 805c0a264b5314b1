"""JSON patch: operations in order, each on what the ones before left; if one can't be done, none is.

    add      sets a member, inserts into a list (`-`: at its end)
    remove   of what must be there            replace  of what must be there
    move, copy   from what must be there      test     that a value is there (null also where nothing is)

Paths are JSON pointers (RFC 6901); `~1` is `/`, `~0` is `~`.
Source     RFC 6902.
"""

from __future__ import annotations

from typing import Any

import orjson

from kumi.api.wire import JsonObject
from kumi.registry.patch import BadPatch, Unappliable

_NEEDS = {"add": ("value",), "replace": ("value",), "test": (), "remove": (), "move": ("from",), "copy": ("from",)}


def apply(target: JsonObject, patch: object) -> JsonObject:
    """Does every operation. After an Unappliable `target` is half changed and must be thrown away."""
    if not isinstance(patch, list) or not all(isinstance(operation, dict) for operation in patch):
        raise BadPatch("a JSON patch must be a list of operations")
    document: Any = target
    for operation in patch:
        document = _do(document, operation)
    if not isinstance(document, dict):
        raise Unappliable("the patch leaves no object")
    return document


def _do(document: Any, operation: JsonObject) -> Any:
    verb, pointer = operation.get("op"), operation.get("path")
    if verb not in _NEEDS:
        raise Unappliable(f"unknown operation {verb!r}")
    if not isinstance(pointer, str) or any(key not in operation for key in _NEEDS[verb]):
        raise Unappliable(f"operation {verb!r} needs path{''.join(f' and {key}' for key in _NEEDS[verb])}")
    path = _tokens(pointer)
    match verb:
        case "test":
            return _test(document, path, operation.get("value"))
        case "remove":
            return _remove(document, path)
        case "add":
            return _add(document, path, operation["value"])
        case "replace":
            return _add(_remove(document, path), path, operation["value"])
    source = _tokens(str(operation["from"]))
    value = _get(document, source)
    if verb == "copy":
        return _add(document, path, orjson.loads(orjson.dumps(value)))
    if path[: len(source)] == source and len(path) > len(source):
        raise Unappliable("a value can't be moved into itself")
    return _add(_remove(document, source), path, value)


def _test(document: Any, path: list[str], value: Any) -> Any:
    try:
        found = _get(document, path)
    except Unappliable:
        if value is not None:
            raise
        found = None
    if _canonical(found) != _canonical(value):
        raise Unappliable(f"test failed at /{'/'.join(path)}")
    return document


def _get(document: Any, path: list[str]) -> Any:
    for token in path:
        document = document[_at(document, token)]
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _get(document, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(last, len(parent) + 1), value)
    else:
        raise Unappliable(f"nothing can be added to the value at /{'/'.join(path[:-1])}")
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        return None
    parent = _get(document, path[:-1])
    del parent[_at(parent, path[-1])]
    return document


def _at(parent: Any, token: str) -> Any:
    """The key of what must be there."""
    if isinstance(parent, dict) and token in parent:
        return token
    if isinstance(parent, list):
        return _index(token, len(parent))
    raise Unappliable(f"nothing is at {token!r}")


def _index(token: str, size: int) -> int:
    if not token.isascii() or not token.isdigit() or (len(token) > 1 and token[0] == "0") or int(token) >= size:
        raise Unappliable(f"no index {token!r} in a list of {size}")
    return int(token)


def _tokens(pointer: str) -> list[str]:
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise Unappliable(f"{pointer!r} is no JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
