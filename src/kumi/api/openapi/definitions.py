"""The definitions that Kubernetes publishes, by name (`io.k8s.api.core.v1.PodSpec`), read once when first asked for.

They are shared: whoever wants to change one copies it. References are `#/components/schemas/<name>`; one with words of its
own beside it stands in an `allOf` of one, as a Kubernetes API server writes it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import orjson

from kumi.api.wire import JsonObject

PREFIX = "#/components/schemas/"


@cache
def definitions() -> dict[str, JsonObject]:
    """All of them."""
    data: dict[str, JsonObject] = orjson.loads(Path(__file__).with_name("kubernetes.json").read_bytes())
    return data


def definition(name: str) -> JsonObject:
    """One, by its full name; KeyError if there is none."""
    return definitions()[name]


def target(schema: JsonObject) -> str:
    """The name of the definition that a schema refers to, "" if it says everything itself."""
    ref = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ()) if "$ref" in part), "")
    return str(ref).removeprefix(PREFIX)
