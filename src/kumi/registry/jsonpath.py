"""JSONPath as printer columns and `kubectl` write it: where in an object something is.

    .a.b  .a\\.b  ['a']     a member (a dot in its name is escaped or quoted)
    .*  [*]                all members, all items
    [0]  [-1]  [1:3]  [-1:]    an item, a slice
    [?(@.type=="Ready")]   the items for which a comparison holds: == != < <= > >=, with text, numbers, true, false
    [?(@.name)]            the items that have it

What isn't there yields nothing, never an error. `compile_path` refuses what is no path, once.
Source     Kubernetes: JSONPath support. Not here: recursive descent, ranges, unions, which no column uses.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import orjson

from kumi.api.errors import KumiError

Step: TypeAlias = Callable[[Any], Iterator[Any]]
Path: TypeAlias = Callable[[Any], list[Any]]
"""Every value that a path finds, in the order of the document."""

_STEP = re.compile(
    r"""\.?\[\s*\?\(\s*@(?P<left>[^=!<>]*?)\s*(?:(?P<test>==|!=|<=|>=|<|>)\s*(?P<right>.*?)\s*)?\)\s*\]
      | \.?\[\s*(?P<quote>['"])(?P<quoted>(?:\\.|(?!(?P=quote)).)*)(?P=quote)\s*\]
      | \.?\[\s*(?P<slice>-?\d*\s*:\s*-?\d*)\s*\]
      | \.?\[\s*(?P<index>-?\d+)\s*\]
      | (?P<all>\.?\[\s*\*\s*\]|\.\*)
      | \.(?P<member>(?:\\.|[^.\[\]\\\s])+)""",
    re.VERBOSE,
)
_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@lru_cache(maxsize=1024)
def compile_path(text: str) -> Path:
    """The path of a text, with or without braces and `$`. KumiError if it is none."""
    rest = text.strip().removeprefix("{").removesuffix("}").strip().removeprefix("$")
    if rest and rest[0] not in ".[":
        rest = f".{rest}"
    if rest == ".":
        rest = ""
    steps: list[Step] = []
    while rest:
        found = _STEP.match(rest)
        if found is None:
            raise KumiError(f"{text!r} is no JSONPath: can't read it from {rest!r} on")
        steps.append(_step(found))
        rest = rest[found.end() :]

    def path(value: Any) -> list[Any]:
        values = [value]
        for step in steps:
            values = [below for each in values for below in step(each)]
        return values

    return path


def _step(found: re.Match[str]) -> Step:
    if found["member"] is not None or found["quoted"] is not None:
        name = re.sub(r"\\(.)", r"\1", found["member"] if found["member"] is not None else found["quoted"])
        return lambda value: iter([value[name]] if isinstance(value, dict) and name in value else [])
    if found["index"] is not None:
        index = int(found["index"])
        bounds = slice(index, index + 1 or None)
        return lambda value: iter(value[bounds] if isinstance(value, list) else [])
    if found["slice"] is not None:
        low, _, high = found["slice"].partition(":")
        bounds = slice(int(low) if low.strip() else None, int(high) if high.strip() else None)
        return lambda value: iter(value[bounds] if isinstance(value, list) else [])
    if found["all"] is not None:
        return _all
    return _filter(compile_path(found["left"]), found["test"], found["right"])


def _all(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _filter(left: Path, test: str | None, right: str | None) -> Step:
    if test is None or right is None:
        return lambda value: (item for item in _all(value) if left(item))
    wanted, compare = _literal(right), _TESTS[test]

    def holds(item: Any) -> bool:
        try:
            return any(compare(found, wanted) for found in left(item))
        except TypeError:
            return False

    return lambda value: (item for item in _all(value) if holds(item))


def _literal(text: str) -> Any:
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise KumiError(f"{text!r} is nothing to compare with: text must be quoted") from None
