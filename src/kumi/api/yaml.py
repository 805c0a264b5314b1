"""YAML as Kubernetes' users mean it: YAML 1.2's scalars on a YAML 1.1 parser, and nothing that JSON can't say.

PyYAML's loader turns `2024-01-01` into a date, `12:30:45` into base 60 and `yes` into a boolean. kubectl does the last
only; the first two resolvers are taken out here, so that what was written is what is sent. Whoever asks for a type that JSON
lacks (`!!set`, `!!binary`), or for a number that is none, is told so with the line. Repeated keys are an error with
their line, where PyYAML would keep the last; a server, which leaves it to its clients whether that is an error, reads with
`Lenient` and asks for `repeated_keys`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject

Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
DATE, INT, FLOAT, BOOL, NULL, MERGE = (
    f"{_TAG}{name}" for name in ("timestamp", "int", "float", "bool", "null", "merge")
)
_NOT_OF_JSON = (DATE, *(f"{_TAG}{name}" for name in ("binary", "omap", "pairs", "set")))


class Loader(Base):  # type: ignore[misc,valid-type]
    """Safe, without dates and base 60, strict about repeated keys."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (DATE, INT, FLOAT)]
    for first, resolvers in Base.yaml_implicit_resolvers.items()
}


def _add(tag: str, pattern: str, first: str) -> None:
    import re

    Loader.add_implicit_resolver(tag, re.compile(pattern), list(first))


_add(INT, r"^[-+]?(0x[0-9a-fA-F]+|0o?[0-7]+|[0-9]+)$", "-+0123456789")
_add(FLOAT, r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", "-+.0123456789")


class Lenient(Loader):
    """Of a key that is given twice the last one counts."""


def _strict(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    given: set[str] = set()
    for key in (key for key, _ in node.value if key.tag != MERGE):
        name = _name(loader, key)
        if name in given:
            raise KumiError(f"line {_line(key)}: key {name!r} is given twice")
        given.add(name)
    return _last(loader, node)


def _last(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    loader.flatten_mapping(node)
    return {_name(loader, key): loader.construct_object(value, deep=True) for key, value in node.value}


def _name(loader: Any, key: yaml.Node) -> str:
    if not isinstance(key, yaml.ScalarNode):
        raise KumiError(f"line {_line(key)}: a key is a text, and neither a list nor a mapping")
    return str(loader.construct_object(key))


def _integer(loader: Any, node: yaml.ScalarNode) -> int:
    try:
        return int(loader.construct_yaml_int(node))
    except ValueError:  # 08 is no octal number
        return int(node.value)


def _number(loader: Any, node: yaml.ScalarNode) -> float:
    found = float(loader.construct_yaml_float(node))
    if not math.isfinite(found):
        raise ValueError(f"{found} is not in JSON")
    return found


def _told(construct: Callable[[Any, Any], Any]) -> Callable[[Any, yaml.Node], Any]:
    """KumiError with the line where the scalar is none of its type."""

    def told(loader: Any, node: yaml.Node) -> Any:
        try:
            return construct(loader, node)
        except (ValueError, LookupError) as error:
            tag = node.tag.removeprefix(_TAG)
            raise KumiError(f"line {_line(node)}: {str(node.value)[:40]!r} is no {tag} that JSON can say") from error

    return told


def _refused(loader: Any, node: yaml.Node) -> None:
    raise KumiError(f"line {_line(node)}: !!{node.tag.removeprefix(_TAG)}: JSON has no such type")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


Loader.add_constructor(INT, _told(_integer))
Loader.add_constructor(FLOAT, _told(_number))
Loader.add_constructor(BOOL, _told(Base.construct_yaml_bool))
for _tag in _NOT_OF_JSON:
    Loader.add_constructor(_tag, _refused)
Loader.add_constructor(f"{_TAG}map", _strict)
Lenient.add_constructor(f"{_TAG}map", _last)


def repeated_keys(text: str | bytes) -> list[str]:
    """A sentence for each key that a mapping gives again, in order of the text, which is known to be YAML."""
    found: list[tuple[int, str]] = []
    seen: set[int] = set()
    stack: list[yaml.Node] = list(yaml.compose_all(text, Loader))
    while stack:
        node = stack.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in keys:
                    found.append((key.start_mark.line + 1, key.value))
                keys.add(str(key.value))
                stack.append(value)
        elif isinstance(node, yaml.SequenceNode):
            stack += node.value
    return [f'line {line}: key "{key}" already set in map' for line, key in sorted(found)]


def load_all(text: str | bytes, loader: type[Loader] = Loader) -> Iterator[Any]:
    """Every document of a stream that is not null. KumiError with the line of what can't be read."""
    with _no_yaml_told():
        reading = loader(text)
        for root in _documents(reading):
            yield reading.construct_document(root)


def roots(text: str | bytes) -> Iterator[yaml.Node]:
    """How each document that load_all gives is written. KumiError with the line of what is no YAML."""
    with _no_yaml_told():
        yield from _documents(Loader(text))


def _documents(reading: Any) -> Iterator[yaml.Node]:
    while reading.check_node():
        root = reading.get_node()
        if root.tag != NULL:
            yield root


@contextlib.contextmanager
def _no_yaml_told() -> Iterator[None]:
    try:
        yield
    except yaml.YAMLError as error:
        raise KumiError(f"this is not YAML: {error}") from error
    except RecursionError as error:
        raise KumiError("this is not YAML: it nests too deep") from error


def load_objects(text: str | bytes) -> list[JsonObject]:
    """Every object of a manifest, the items of a List one by one. KumiError says which document is no object."""
    found: list[JsonObject] = []
    for number, document in enumerate(load_all(text), 1):
        if not isinstance(document, dict) or not document.get("apiVersion") or not document.get("kind"):
            raise KumiError(f"document {number}: apiVersion and kind are missing; a Kubernetes object has both")
        if str(document["kind"]).endswith("List") and isinstance(document.get("items"), list):
            found += document["items"]
        else:
            found.append(document)
    return found
