"""YAML as Kubernetes' users mean it: YAML 1.2's scalars on a YAML 1.1 parser.

PyYAML's loader turns `2024-01-01` into a date, `12:30:45` into base 60 and `yes` into a boolean. kubectl does the last
only; the first two resolvers are taken out here, so that what was written is what is sent. Repeated keys are an error with
their line, where PyYAML would keep the last; a server, which leaves it to its clients whether that is an error, reads with
`Lenient` and asks for `repeated_keys`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject

Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DATE, INT = "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int"


class Loader(Base):  # type: ignore[misc,valid-type]
    """Safe, without dates and base 60, strict about repeated keys."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in (DATE, INT, "tag:yaml.org,2002:float")]
    for first, resolvers in Base.yaml_implicit_resolvers.items()
}


def _add(tag: str, pattern: str, first: str) -> None:
    import re

    Loader.add_implicit_resolver(tag, re.compile(pattern), list(first))


_add(INT, r"^[-+]?(0x[0-9a-fA-F]+|0o?[0-7]+|[0-9]+)$", "-+0123456789")
_add("tag:yaml.org,2002:float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", "-+.0123456789")


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    loader.flatten_mapping(node)
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in result:
            raise KumiError(f"line {key_node.start_mark.line + 1}: key {key!r} is given twice")
        result[key if isinstance(key, str) else str(key)] = loader.construct_object(value_node, deep=True)
    return result


Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


class Lenient(Loader):
    """Of a key that is given twice the last one counts."""


def _last(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    loader.flatten_mapping(node)
    members = ((loader.construct_object(key, deep=True), value) for key, value in node.value)
    return {k if isinstance(k, str) else str(k): loader.construct_object(value, deep=True) for k, value in members}


Lenient.add_constructor("tag:yaml.org,2002:map", _last)


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
    """Every document of a stream that is not empty. KumiError with the line of what can't be read."""
    try:
        for document in yaml.load_all(text, loader):
            if document is not None:
                yield document
    except yaml.YAMLError as error:
        raise KumiError(f"this is not YAML: {error}") from error


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
