"""CustomResourceDefinitions of Kumi's kinds, for a real cluster: the same types, columns and defaults as on one machine.

    crds(conversion=None)    every custom kind's manifest, in the scheme's order
    crd(kind, conversion)    one

Versions   all that are served, where a server can turn one into another: by itself when they are alike, by `conversion`
           (the `spec.conversion` of the manifest: a webhook) when they are not. Without a webhook a kind whose versions
           differ is served in the stored version only, since the server would drop what it does not know.
Schemas    written out without references, as a structural schema must be; Kubernetes' own parts without descriptions and
           list types, so that a manifest stays small enough for `kubectl apply`.
Source     Kubernetes: CustomResourceDefinition, structural schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from kumi.api.errors import KumiError
from kumi.api.openapi.definitions import definitions, target
from kumi.api.schema import INT_OR_STRING, META, QUANTITY
from kumi.api.scheme import Column, Kind, Scheme, load
from kumi.api.shapes import definition_name, definitions_of
from kumi.api.wire import JsonObject

API_VERSION = "apiextensions.k8s.io/v1"
QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_EITHER = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
_SPECIAL: dict[str, JsonObject] = {
    QUANTITY: {**_EITHER, "pattern": QUANTITY_PATTERN},
    INT_OR_STRING: _EITHER,
    f"{META}.FieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
}
_DROPPED_OF_KUBERNETES = (
    "description",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)


def crds(scheme: Scheme | None = None, conversion: JsonObject | None = None) -> list[JsonObject]:
    """The manifests of every custom kind of a scheme (None: all of Kumi's)."""
    return [crd(kind, conversion) for kind in (scheme or load()) if kind.custom]


def crd(kind: Kind, conversion: JsonObject | None = None) -> JsonObject:
    """The manifest of one custom kind. KumiError for a kind of Kubernetes' own."""
    if not kind.custom:
        raise KumiError(f"{kind.kind} is Kubernetes' own kind, a cluster has it without a definition")
    alike = all(up is down for up, down in kind.conversions.values())
    versions = kind.versions if alike or conversion is not None else (kind.version,)
    names = {
        "plural": kind.plural,
        "singular": kind.singular or kind.kind.lower(),
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "shortNames": list(kind.short_names),
        "categories": list(kind.categories),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource, "labels": {"app.kubernetes.io/part-of": "kumi"}},
        "spec": {
            "group": kind.group,
            "names": {key: value for key, value in names.items() if value},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "conversion": {"strategy": "None"} if alike or conversion is None else conversion,
            "versions": [_version(kind, version) for version in versions],
        },
    }


def _version(kind: Kind, version: str) -> JsonObject:
    known = definitions_of(kind, version)
    schema = _inline(known[definition_name(kind, version)], known)
    schema["properties"]["metadata"] = {"type": "object"}
    out: JsonObject = {
        "name": version,
        "served": True,
        "storage": version == kind.version,
        "schema": {"openAPIV3Schema": schema},
    }
    if "status" in kind.subresources:
        out["subresources"] = {"status": {}}
    if kind.scale is not None:
        out.setdefault("subresources", {})["scale"] = {
            "specReplicasPath": kind.scale.spec_replicas,
            "statusReplicasPath": kind.scale.status_replicas,
            **({"labelSelectorPath": kind.scale.label_selector} if kind.scale.label_selector else {}),
        }
    columns = [_column(column) for column in kind.columns if column.path and _has(schema, column.path)]
    if columns:
        out["additionalPrinterColumns"] = columns
    return out


def _column(column: Column) -> JsonObject:
    out: JsonObject = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.description:
        out["description"] = column.description
    if column.priority:
        out["priority"] = column.priority
    return out


def _has(schema: JsonObject, path: str) -> bool:
    """Whether the first two members of a path are there: versions differ no deeper than that."""
    for name in path.replace("[", ".[").strip(".").split(".")[:2]:
        if name == "metadata":
            return True
        schema = (schema.get("properties") or {}).get(name)  # type: ignore[assignment]
        if schema is None:
            return False
    return True


def _inline(schema: JsonObject, known: Mapping[str, JsonObject], *, own: bool = True) -> JsonObject:
    """A copy without references; `own` is false within Kubernetes' own definitions."""
    name = target(schema)
    if name:
        beside = {key: value for key, value in schema.items() if key in ("description", "default") and own}
        return {**_named(name, known), **beside}
    out: JsonObject = {}
    for key, value in schema.items():
        if key == "properties":
            out[key] = {field: _inline(below, known, own=own) for field, below in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            out[key] = _inline(value, known, own=own)
        elif _kept(key, own=own):
            out[key] = deepcopy(value)
    if own and out.get("x-kubernetes-list-type") == "map":
        _require_keys(out["items"], out["x-kubernetes-list-map-keys"])
    return out


def _named(name: str, known: Mapping[str, JsonObject]) -> JsonObject:
    if name in _SPECIAL:
        return deepcopy(_SPECIAL[name])
    if name in known:
        return _inline(known[name], known)
    return _inline(definitions()[name], {}, own=False)


def _kept(key: str, *, own: bool) -> bool:
    if key.startswith("x-kubernetes-patch-") or key in ("x-kubernetes-group-version-kind", "x-kubernetes-unions"):
        return False
    return own or key not in _DROPPED_OF_KUBERNETES


def _require_keys(items: dict[str, Any], keys: list[str]) -> None:
    """Items of a map-like list must have their keys, unless these have a default."""
    missing = [
        key for key in keys if "default" not in items["properties"][key] and key not in items.get("required", ())
    ]
    if missing:
        items["required"] = [*items.get("required", ()), *missing]
