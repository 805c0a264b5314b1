"""What the schema of a definition may say: it must be structural, so that every place has one type.

    wrong_schema(openAPIV3Schema, path) -> every fault, under the path of the schema

The rules
    types        every place has one, but those that are int-or-string or preserve unknown fields; the root is an object
    members      properties or additionalProperties, never both; a list says what its items are
    logic        allOf, anyOf, oneOf and not only say more of what stands outside of them: no types, defaults, words
    metadata     of the root may say of name and generateName only; apiVersion and kind are text
    lists        that are maps have keys, which every item has; sets are of scalars
    defaults     are right by the schema that they are in
    patterns     can be read (RE2)
    rules        are looked at last (cel/rules.py), when nothing else is wrong
Source     Kubernetes: specifying a structural schema, merge strategies, defaulting.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from kumi.api.errors import FieldError
from kumi.api.validation.words import forbidden, not_supported, required
from kumi.api.wire import JsonObject
from kumi.registry.custom.cel.patterns import wrong_pattern
from kumi.registry.custom.cel.rules import wrong_rules
from kumi.registry.custom.defaulting import fill
from kumi.registry.custom.places import dotted
from kumi.registry.custom.pruning import prune
from kumi.registry.custom.schema import Schema, compile_schema
from kumi.registry.custom.values import wrong_values

TYPES = ("array", "boolean", "integer", "number", "object", "string")
SCALARS = ("boolean", "integer", "number", "string")
NEVER = ("$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id", "$schema")
OUTSIDE_ONLY = (
    "type", "description", "title", "default", "nullable", "additionalProperties", "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type", "x-kubernetes-validations",
)  # fmt: skip
"""words that logic must leave to what stands outside of it"""
LOGIC = ("allOf", "anyOf", "oneOf")
PRESERVE, EMBEDDED, EITHER = (
    f"x-kubernetes-{word}" for word in ("preserve-unknown-fields", "embedded-resource", "int-or-string")
)
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def wrong_schema(schema: JsonObject, path: str) -> list[FieldError]:
    """See the module."""
    errors = [*_root(schema, path), *_shape(schema, path, root=True)]
    if errors:
        return errors
    compiled = compile_schema(schema)
    errors = list(_defaults(compiled, path))
    return errors or wrong_rules(compiled, path)


def _root(schema: JsonObject, path: str) -> Iterator[FieldError]:
    if not schema.get("type"):
        yield required(f"{path}.type", "must not be empty at the root")
    elif schema["type"] != "object":
        yield FieldError(f"{path}.type", "must be object at the root", value=schema["type"])
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")
    if schema.get("additionalProperties") is not None:
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")


def _shape(schema: JsonObject, path: str, *, root: bool = False, whole: bool = False) -> Iterator[FieldError]:
    """A place and all below. `root` at the top, `whole` at the top and at embedded resources."""
    whole = whole or root or bool(schema.get(EMBEDDED))
    yield from _words(schema, path)
    yield from _type(schema, path)
    yield from _extensions(schema, path)
    yield from _members(schema, path, whole=whole)
    yield from _list(schema, path)
    yield from _logic(schema, path)


def _words(schema: JsonObject, path: str) -> Iterator[FieldError]:
    for word in NEVER:
        if schema.get(word):
            yield forbidden(f"{path}.{word}", f"{word} is not supported")
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", why)
    pattern = schema.get("pattern")
    if pattern and (wrong := wrong_pattern(pattern)):
        yield FieldError(f"{path}.pattern", f"must be a valid regular expression, but isn't: {wrong}", value=pattern)


def _type(schema: JsonObject, path: str) -> Iterator[FieldError]:
    type_ = schema.get("type", "")
    if type_ == "null":
        yield forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    elif type_ and type_ not in TYPES:
        yield not_supported(f"{path}.type", type_, TYPES)
    if schema.get(EITHER):
        if type_:
            yield FieldError(f"{path}.type", f"must be empty if {EITHER} is specified", value=type_)
    elif not type_ and not schema.get(PRESERVE) and not path.endswith("openAPIV3Schema"):
        what = "array items" if path.endswith(".items") else "object fields"
        yield required(f"{path}.type", f"must not be empty for specified {what}")


def _extensions(schema: JsonObject, path: str) -> Iterator[FieldError]:
    type_ = schema.get("type", "")
    if schema.get(PRESERVE) and type_ not in ("", "object"):
        yield FieldError(f"{path}.type", f"must be object if {PRESERVE} is true", value=type_)
    if schema.get(PRESERVE) is False:
        yield FieldError(f"{path}.{PRESERVE}", "must be true or undefined", value=False)
    if schema.get(EMBEDDED):
        if type_ != "object":
            yield FieldError(f"{path}.type", f"must be object if {EMBEDDED} is true", value=type_)
        if not schema.get("properties") and not schema.get(PRESERVE):
            yield required(f"{path}.properties", f"must not be empty if {EMBEDDED} is true without {PRESERVE}")
    map_type = schema.get("x-kubernetes-map-type")
    if map_type is not None:
        if map_type not in ("atomic", "granular"):
            yield not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))
        if type_ != "object":
            yield FieldError(f"{path}.type", "must be object if x-kubernetes-map-type is specified", value=type_)


def _members(schema: JsonObject, path: str, *, whole: bool) -> Iterator[FieldError]:
    properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
    if properties and additional is not None:
        yield forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive")
    if additional is False:
        yield forbidden(f"{path}.additionalProperties", "additionalProperties cannot be set to false")
    for name, below in properties.items():
        here = f"{path}.properties[{name}]"
        if whole and name == "metadata":
            yield from _metadata(below, here)
        elif whole and name in ("apiVersion", "kind") and below.get("type") != "string":
            yield FieldError(f"{here}.type", "must be string", value=below.get("type", ""))
        else:
            yield from _shape(below, here)
    if isinstance(additional, dict):
        yield from _shape(additional, f"{path}.additionalProperties")


def _metadata(schema: JsonObject, path: str) -> Iterator[FieldError]:
    if schema.get("type") != "object":
        yield FieldError(f"{path}.type", "must be object", value=schema.get("type", ""))
    said = {key for key in schema if key not in ("type", "description", "properties")}
    if said or any(name not in ("name", "generateName") for name in schema.get("properties") or {}):
        what = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield forbidden(path, what)


def _list(schema: JsonObject, path: str) -> Iterator[FieldError]:
    type_, items = schema.get("type", ""), schema.get("items")
    if type_ == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, list):
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    elif isinstance(items, dict):
        yield from _shape(items, f"{path}.items")
    list_type, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or []
    if list_type is None:
        if keys:
            yield FieldError(
                f"{path}.x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty", value=""
            )
        return
    if list_type not in ("atomic", "set", "map"):
        yield not_supported(f"{path}.x-kubernetes-list-type", list_type, ("atomic", "set", "map"))
    if type_ != "array":
        yield FieldError(f"{path}.type", "must be array if x-kubernetes-list-type is specified", value=type_)
    elif isinstance(items, dict):
        yield from _list_type(list_type, keys, items, path)


def _list_type(list_type: str, keys: list[str], items: JsonObject, path: str) -> Iterator[FieldError]:
    if list_type == "set":
        yield from _set(items, f"{path}.items")
    if list_type != "map":
        return
    if not keys:
        yield required(f"{path}.x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map")
    if items.get("type") != "object":
        what = "must be object if parent array's x-kubernetes-list-type is map"
        yield FieldError(f"{path}.items.type", what, value=items.get("type", ""))
    if len(set(keys)) < len(keys):
        yield FieldError(f"{path}.x-kubernetes-list-map-keys", "must not contain duplicates", value=keys)
    for key in keys:
        if key in (items.get("properties") or {}):
            yield from _key(key, items, f"{path}.items.properties[{key}]")
        else:
            what = "entries must all be names of item properties"
            yield FieldError(f"{path}.x-kubernetes-list-map-keys", what, value=key)


def _set(items: JsonObject, path: str) -> Iterator[FieldError]:
    atomic = items.get("x-kubernetes-list-type") == "atomic" or items.get("x-kubernetes-map-type") == "atomic"
    if items.get("nullable"):
        yield forbidden(f"{path}.nullable", "cannot be nullable when x-kubernetes-list-type is set")
    if items.get("type") in ("array", "object") and not atomic:
        what = "must be atomic as item of a list with x-kubernetes-list-type=set"
        yield FieldError(f"{path}.x-kubernetes-{'list' if items['type'] == 'array' else 'map'}-type", what)


def _key(key: str, items: JsonObject, path: str) -> Iterator[FieldError]:
    below, this = items["properties"][key], "this property is in x-kubernetes-list-map-keys, so it"
    if below.get("type") not in SCALARS:
        what = "must be a scalar type if parent array's x-kubernetes-list-type is map"
        yield FieldError(f"{path}.type", what, value=below.get("type", ""))
        return
    if below.get("nullable"):
        yield forbidden(f"{path}.nullable", f"{this} cannot be nullable")
    if key not in (items.get("required") or ()) and "default" not in below:
        yield required(f"{path}.default", f"{this} must have a default or be a required property")


def _logic(schema: JsonObject, path: str) -> Iterator[FieldError]:
    for where, branch in _branches(schema, path):
        if _is_int_or_string(schema, where.removeprefix(path)):
            continue
        yield from _branch(branch, schema, where)


def _branches(schema: JsonObject, path: str) -> Iterator[tuple[str, JsonObject]]:
    for word in LOGIC:
        for index, branch in enumerate(schema.get(word) or ()):
            yield f"{path}.{word}[{index}]", branch
    if isinstance(schema.get("not"), dict):
        yield f"{path}.not", schema["not"]


def _is_int_or_string(schema: JsonObject, where: str) -> bool:
    """Whether a branch is the one way of saying integer or string twice that is allowed."""
    if not schema.get(EITHER):
        return False
    if where.startswith(".anyOf"):
        return bool(schema["anyOf"] == _INT_OR_STRING)
    return where == ".allOf[0]" and schema["allOf"][0].get("anyOf") == _INT_OR_STRING


def _branch(branch: JsonObject, outside: JsonObject, path: str) -> Iterator[FieldError]:
    """A branch of logic: it may only narrow what is said outside."""
    for word in OUTSIDE_ONLY:
        if branch.get(word):
            yield forbidden(f"{path}.{word}", "must be empty to be structural")
    yield from _words(branch, path)
    for name, below in (branch.get("properties") or {}).items():
        here = f"{path}.properties[{name}]"
        known = (outside.get("properties") or {}).get(name)
        if known is None:
            yield required(f"{path.rpartition('.')[0]}.properties[{name}]", f"because it is defined in {here}")
        else:
            yield from _branch(below, known, here)
    if isinstance(branch.get("items"), dict):
        if isinstance(outside.get("items"), dict):
            yield from _branch(branch["items"], outside["items"], f"{path}.items")
        else:
            yield required(f"{path.rpartition('.')[0]}.items", f"because it is defined in {path}.items")
    for where, below in _branches(branch, path):
        yield from _branch(below, outside, where)


def _defaults(schema: Schema, path: str) -> Iterator[FieldError]:
    if not schema.has_defaults:
        return
    if schema.has_default:
        yield from _default(schema, f"{path}.default")
    for name, below in schema.properties.items():
        yield from _defaults(below, f"{path}.properties[{name}]")
    if schema.additional is not None:
        yield from _defaults(schema.additional, f"{path}.additionalProperties")
    if schema.items is not None:
        yield from _defaults(schema.items, f"{path}.items")


def _default(schema: Schema, path: str) -> Iterator[FieldError]:
    value: Any = deepcopy(schema.default)
    if isinstance(value, dict) and prune(schema, value, whole=False):
        yield FieldError(path, "must not have unknown fields", value=schema.default)
        return
    fill(schema, value)
    for fault in wrong_values(schema, value, ("default",)):
        below = dotted(fault.place[1:])
        yield fault.error._replace(path=f"{path}.{below}" if below else path)
