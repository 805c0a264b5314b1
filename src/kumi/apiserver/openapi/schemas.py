"""Which schemas a document carries: those of its kinds in the version served, their lists, and all that these refer to.

Kubernetes' own kinds have Kubernetes' own definitions; the others are derived from their view type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kumi.api.openapi.definitions import PREFIX, definitions
from kumi.api.reviews import REVIEWS
from kumi.api.schema import META
from kumi.api.scheme import Kind
from kumi.api.shapes import definition_name, definitions_of
from kumi.api.wire import JsonObject

ALWAYS = tuple(f"{META}.{name}" for name in ("DeleteOptions", "Patch", "Status", "APIResourceList"))
"""schemas that every document's operations use"""
SUBRESOURCE_SCHEMAS = {
    "scale": "io.k8s.api.autoscaling.v1.Scale",
    "binding": "io.k8s.api.core.v1.Binding",
    "eviction": "io.k8s.api.policy.v1.Eviction",
    "token": "io.k8s.api.authentication.v1.TokenRequest",
}


def list_name(kind: Kind, version: str) -> str:
    """The name of the schema of a kind's list."""
    return f"{definition_name(kind, version)}List"


def reference(name: str) -> JsonObject:
    """A schema that is another one's."""
    return {"$ref": PREFIX + name}


def schemas(kinds: Iterable[Kind], version: str) -> dict[str, JsonObject]:
    """Every schema that a document about these kinds needs, by name, sorted."""
    known = dict(definitions())
    wanted = list(ALWAYS)
    for kind in kinds:
        known |= definitions_of(kind, version)
        wanted.append(definition_name(kind, version))
        if kind not in REVIEWS:
            known.setdefault(list_name(kind, version), _list_schema(kind, version))
            wanted.append(list_name(kind, version))
        wanted += [SUBRESOURCE_SCHEMAS[s] for s in kind.subresources_in(version) if s in SUBRESOURCE_SCHEMAS]
    found: dict[str, JsonObject] = {}
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = known[name]
            wanted += references(known[name])
    return dict(sorted(found.items()))


def references(schema: object) -> Iterator[str]:
    """The names that a schema refers to, wherever in it."""
    if isinstance(schema, dict):
        ref = schema.get("$ref")
        if isinstance(ref, str):
            yield ref.removeprefix(PREFIX)
        for value in schema.values():
            yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


def group_version_kind(kind: Kind, version: str, name: str = "") -> JsonObject:
    """What `x-kubernetes-group-version-kind` says."""
    return {"group": kind.group, "kind": name or kind.kind, "version": version}


def _list_schema(kind: Kind, version: str) -> JsonObject:
    text: JsonObject = {"type": "string"}
    return {
        "description": f"{kind.kind}List is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": text,
            "kind": text,
            "metadata": reference(f"{META}.ListMeta"),
            "items": {"type": "array", "items": reference(definition_name(kind, version))},
        },
        "x-kubernetes-group-version-kind": [group_version_kind(kind, version, f"{kind.kind}List")],
    }
