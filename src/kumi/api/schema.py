"""Schemas of the kinds that are not Kubernetes' own: derived from the view types, so that a type is said once.

    say("words", minimum=1)      a marker in Annotated: what JSON schema says beyond the Python type
    Quantity, IntOrString, PodTemplate, RawObject      field types with a schema of their own
    derive(type, group, version)      -> the definitions of a kind, in OpenAPI v3 as a Kubernetes API server publishes them

Markers speak to the schema only: decoding a view never checks them, so that an old object can always be read.
Defaults of a view are for its readers and stay out of the schema; what the API fills in is said by `say(default=...)`.
A field without a default is required: what passes its schema (kumi.api.fields) always decodes into its view.
Source     OpenAPI v3; Kubernetes: structural schemas of CustomResourceDefinitions.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kumi.api.meta import Object
from kumi.api.openapi.definitions import PREFIX
from kumi.api.wire import JsonObject

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
CORE = "io.k8s.api.core.v1"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"

_REF, _DEFAULT, _REQUIRED, _SHAPE = "x-kumi-ref", "x-kumi-default", "x-kumi-required", "x-kumi-shape"
_LIKE: dict[str, type[msgspec.Struct]] = {}
"""types that fields are shaped like, by name"""
_SHARED = {
    "ObjectMeta": f"{META}.ObjectMeta",
    "OwnerReference": f"{META}.OwnerReference",
    "LabelSelector": f"{META}.LabelSelector",
    "LabelSelectorRequirement": f"{META}.LabelSelectorRequirement",
    "Taint": f"{CORE}.Taint",
    "Toleration": f"{CORE}.Toleration",
}
"""view types that stand for a definition of Kubernetes' own"""


def say(description: str = "", *, required: bool = False, **schema: Any) -> Meta:
    """A marker: words for `kubectl explain`, and keywords of JSON schema (minimum, maxItems, enum ...).

    `default` is what the API fills in; `required` asks for a field that its view could do without."""
    if description:
        schema["description"] = description
    if "default" in schema:
        schema[_DEFAULT] = schema.pop("default")
    if required:
        schema[_REQUIRED] = True
    return Meta(extra_json_schema=schema)


def keyed(*keys: str) -> Meta:
    """A list whose items are told apart by these fields."""
    return Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})


def refers(name: str) -> Meta:
    """A field that is as a definition of Kubernetes' own says, whatever its Python type."""
    return Meta(extra_json_schema={_REF: name})


def like(type_: type[msgspec.Struct]) -> Meta:
    """A field that the view keeps as JSON and whose schema is that of this type."""
    _LIKE[type_.__name__] = type_
    return Meta(extra_json_schema={_SHAPE: type_.__name__})


Quantity = Annotated[str | int | float, refers(QUANTITY)]
"""a quantity as written, text or number (kumi.api.quantity)"""
PodTemplate = Annotated[JsonObject, refers(f"{CORE}.PodTemplateSpec")]
"""a pod template as written; the view keeps the JSON, the schema is that of a PodTemplateSpec"""
RawObject = Annotated[JsonObject, Meta(extra_json_schema={"x-kubernetes-preserve-unknown-fields": True})]
"""JSON that is kept as written, with no schema"""
Int32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
Int64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
LABEL_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
Reference = Annotated[str, Meta(extra_json_schema={"maxLength": 253, "pattern": SUBDOMAIN})]
"""the name of an object that is named by a DNS subdomain"""


def prefix_of(group: str, version: str) -> str:
    """Where definitions of a group live: `kueue.x-k8s.io`, `v1beta2` -> `io.x-k8s.kueue.v1beta2`."""
    return ".".join([*reversed(group.split(".")), version])


def derive(type_: type[Object], group: str, version: str) -> dict[str, JsonObject]:
    """The kind's own definition (`<prefix>.<Kind>`) and those that it needs, by name; Kubernetes' own are not repeated.

    A name that two types would share is written out with its module by msgspec; kinds avoid it."""
    components = _components(type_)
    prefix = prefix_of(group, version)
    names = {name: _SHARED.get(name, f"{prefix}.{name}") for name in components}
    found = {names[name]: _clean(schema, names) for name, schema in components.items() if name not in _SHARED}
    kind = found[f"{prefix}.{type_.__name__}"]
    kind["x-kubernetes-group-version-kind"] = [{"group": group, "kind": type_.__name__, "version": version}]
    return found


def _components(type_: type[Object]) -> dict[str, JsonObject]:
    """The schemas of a type and of all that it refers to, by markers too, as msgspec writes them."""
    wanted: list[type[msgspec.Struct]] = [type_]
    while True:
        _, components = msgspec.json.schema_components(wanted, ref_template=PREFIX + "{name}")
        missing = sorted(name for name in _shapes(components) if name not in components)
        if not missing:
            return components
        wanted += [_LIKE[name] for name in missing]


def _shapes(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {name for item in schema for name in _shapes(item)}
    if not isinstance(schema, dict):
        return set()
    own = {schema[_SHAPE]} if isinstance(schema.get(_SHAPE), str) else set()
    return own.union(*(_shapes(value) for value in schema.values()))


def _clean(schema: JsonObject, names: dict[str, str]) -> JsonObject:
    """One schema as Kubernetes has it: no null, no view defaults, references to full names."""
    schema = _without_null(schema)
    name = str(schema.pop(_REF, "") or schema.pop(_SHAPE, "") or schema.pop("$ref", "").removeprefix(PREFIX))
    if name:
        return _reference(names.get(name, name), schema)
    out: JsonObject = {}
    for key, value in schema.items():
        if key == "properties":
            out[key] = {name: _property(field, names) for name, field in value.items()}
        elif key == "items" or (key == "additionalProperties" and isinstance(value, dict)):
            out[key] = _clean(value, names)
        elif key not in ("title", "default", "additionalProperties", _DEFAULT, _REQUIRED):
            out[key] = value
    if "properties" in out:
        forced = [name for name, field in schema["properties"].items() if field.get(_REQUIRED)]
        out["required"] = [name for name in out["properties"] if name in schema.get("required", ()) or name in forced]
    if not out.get("required"):
        out.pop("required", None)
    if out.get("type") == "object" and not out.keys() & {"properties", "additionalProperties"}:
        out["x-kubernetes-preserve-unknown-fields"] = True
    return out


def _property(schema: JsonObject, names: dict[str, str]) -> JsonObject:
    cleaned = _clean(schema, names)
    if _DEFAULT in schema:
        cleaned["default"] = schema[_DEFAULT]
        if "$ref" in cleaned:
            cleaned["allOf"] = [{"$ref": cleaned.pop("$ref")}]
    return cleaned


def _without_null(schema: JsonObject) -> JsonObject:
    """A copy whose alternatives are without null; a single one that is left is the schema itself."""
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    branches = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) == 1:
        return {**branches[0], **rest}
    return {**rest, "anyOf": branches} if branches else rest


def _reference(name: str, beside: JsonObject) -> JsonObject:
    """A reference, with the words that are said of the field beside it, as Kubernetes writes it."""
    ref = {"$ref": PREFIX + name}
    return {"description": beside["description"], "allOf": [ref]} if beside.get("description") else ref
