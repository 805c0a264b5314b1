"""Schemas compiled for walking: one Shape a schema node, built when it is first needed and kept.

    shape_of(kind, version)   the shape of whole objects of a kind as that version has them
    Shape                     what may stand at one place: its JSON type, its members or items, its bounds

Where the two dialects differ, `strict` says which: Kubernetes' own definitions are read as its decoder reads them (types
only; what must be there is a rule of validation), the definitions of Kumi's kinds are enforced as a server enforces a
CustomResourceDefinition (required, enum, bounds, patterns too).
Cost       compiling O(schema) once: 10 ms for a Pod's or a ClusterQueue's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TypeAlias

from kumi.api.openapi.definitions import PREFIX, definitions, target
from kumi.api.openapi.messages import Form, messages
from kumi.api.schema import INT_OR_STRING, META, QUANTITY, derive, prefix_of
from kumi.api.scheme import Kind, ViewType
from kumi.api.wire import JsonObject

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)
PythonType: TypeAlias = type
_EXACT: dict[str, PythonType] = {"string": str, "boolean": bool}
_OWN_KEY_DEFAULTS = {"protocol": "TCP"}
_SCALARS = ("string", "integer", "boolean", "number")
_TIMES = {f"{META}.Time": "second", f"{META}.MicroTime": "microsecond"}
_UNIONS = {QUANTITY: "quantity", INT_OR_STRING: "int-or-string"}


@dataclass(slots=True, eq=False)
class Shape:
    """One place. `type` is object, array, string, integer, number, boolean, quantity, int-or-string or any."""

    type: str = "any"
    strict: bool = False
    members: dict[str, Shape] = field(default_factory=dict)
    any_member: Shape | None = None
    """of members that are not named (a map)"""
    open: bool = False
    """whether members that are not known are kept"""
    items: Shape | None = None
    keys: tuple[str, ...] = ()
    """fields by which a list's items are told apart"""
    list_type: str = "atomic"
    """how a list is merged and owned: atomic, set or map"""
    list_keys: tuple[str, ...] = ()
    """of a list of type map; unlike `keys`, Kubernetes' own kinds have them too"""
    key_defaults: tuple[tuple[str, object], ...] = ()
    """what stands for a key that an item leaves out"""
    atomic: bool = False
    """of an object: whether it is merged and owned as a whole"""
    omitted: bool = False
    """whether an empty or zero one is as good as none, and is left out (optional lists and maps of Kubernetes' own kinds, and the
    values that their types do not point to)"""
    required: tuple[str, ...] = ()
    """members that are enforced"""
    needed: tuple[str, ...] = ()
    """members that the schema calls required; of Kubernetes' own kinds, validation says which of them must be given"""
    defaults: tuple[tuple[str, object], ...] = ()
    """member -> what the API fills in"""
    has_defaults: bool = False
    """whether there are any here or below"""
    enum: frozenset[str] = frozenset()
    integers: range | None = None
    minimum: float | None = None
    maximum: float | None = None
    least: int = 0
    """letters, items or members at least"""
    most: int | None = None
    pattern: re.Pattern[str] | None = None
    by_value: frozenset[str] = frozenset()
    """members that the object always has (Kubernetes' own kinds)"""
    encoded: bool = False
    """whether the text must be base64 (Kubernetes' own kinds)"""
    time: str = ""
    """how exact a moment is written (Kubernetes' own kinds): second, microsecond"""
    moment: bool = False
    """whether the text must be a time, which stays as it is written (custom kinds)"""
    bounded: bool = False
    """whether there is anything to check beyond the type"""
    exact: PythonType | None = None
    """the Python type whose values are all right, where there is one: nearly all fields are unbounded text"""


def definitions_of(kind: Kind, version: str = "") -> dict[str, JsonObject]:
    """The definitions that a custom kind adds in a served version; {} for Kubernetes' own kinds."""
    published = kind.published(version)
    if published is not None:
        return published
    if kind.schema:
        return {}
    type_ = kind.served_types.get(version, kind.type)
    return _derived(type_, kind.group, version or kind.version)


def definition_name(kind: Kind, version: str = "") -> str:
    """The name of a kind's own definition in a served version."""
    return kind.schema or f"{prefix_of(kind.group, version or kind.version)}.{kind.kind}"


def shape_of(kind: Kind, version: str = "") -> Shape:
    """The shape of whole objects."""
    if kind.published(version) is not None:
        return _published(kind, version)
    if kind.schema:
        return _own(kind.schema)
    return shape_of_type(kind.served_types.get(version, kind.type), kind.group, version or kind.version)


def metadata_shape() -> Shape:
    """The shape of any object's metadata."""
    return _own(f"{META}.ObjectMeta")


def schema_shape() -> Shape:
    """The shape of a schema in a CustomResourceDefinition."""
    return _own("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps")


@cache
def shape_of_type(type_: ViewType, group: str, version: str) -> Shape:
    """The shape of a view type."""
    compiler = _Compiler(_derived(type_, group, version), strict=True)
    return compiler.named(f"{prefix_of(group, version)}.{type_.__name__}")


@lru_cache(maxsize=256)
def _published(kind: Kind, version: str) -> Shape:
    """Of a kind that brings its own definitions; kinds come and go, so not all are kept."""
    return _Compiler(kind.published(version) or {}, strict=True).named(definition_name(kind, version))


@cache
def _derived(type_: ViewType, group: str, version: str) -> dict[str, JsonObject]:
    return derive(type_, group, version)


@cache
def _kubernetes() -> _Compiler:
    return _Compiler(definitions(), strict=False)


def _own(name: str) -> Shape:
    return _kubernetes().named(name)


def _of_form(name: str, form: Form) -> Iterator[str]:
    """Members of one of Kubernetes' own definitions that its type holds in that form."""
    for part in messages().get(name, {}).values():
        if not part.name:
            yield from _of_form(part.type, form)
        elif part.form == form:
            yield part.name


class _Compiler:
    """Compiles the definitions of one dialect; names that it does not have are Kubernetes' own."""

    def __init__(self, known: Mapping[str, JsonObject], *, strict: bool) -> None:
        self._known, self._strict = known, strict
        self._done: dict[str, Shape] = {}

    def named(self, name: str) -> Shape:
        """The shape of a definition; a definition that refers to itself finds the one being built."""
        if name in _UNIONS:
            return Shape(_UNIONS[name], strict=self._strict)
        if name not in self._known:
            return _own(name)
        found = self._done.get(name)
        if found is None:
            found = self._done[name] = Shape(strict=self._strict)
            self._fill(found, self._known[name])
            if name in _TIMES:
                found.time, found.exact = _TIMES[name], None
            if not self._strict:
                found.by_value = frozenset(_of_form(name, "by value"))
                for word in _of_form(name, "unless zero"):
                    if word in found.members and found.members[word].type in _SCALARS:
                        found.members[word].omitted = True
        return found

    def shape(self, schema: JsonObject) -> Shape:
        """The shape of a schema."""
        name = target(schema)
        if name:
            return self.named(name)
        made = Shape(strict=self._strict)
        self._fill(made, schema)
        return made

    def _fill(self, shape: Shape, schema: JsonObject) -> None:
        shape.type = str(schema.get("type", "any"))
        if shape.type == "object":
            self._fill_object(shape, schema)
        elif shape.type == "array":
            shape.items = self.shape(schema.get("items") or {})
            shape.has_defaults = shape.items.has_defaults
            shape.list_type = str(schema.get("x-kubernetes-list-type", "atomic"))
            shape.list_keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
            shape.keys = shape.list_keys if self._strict else ()
            shape.key_defaults = self._key_defaults(shape)
        elif shape.type == "integer":
            shape.integers = INT32 if schema.get("format") == "int32" else INT64
        if self._strict:
            self._fill_bounds(shape, schema)
        shape.encoded = schema.get("format") == "byte" and not self._strict
        shape.exact = None if shape.bounded or shape.encoded else _EXACT.get(shape.type)

    def _fill_object(self, shape: Shape, schema: JsonObject) -> None:
        properties = schema.get("properties") or {}
        shape.atomic = schema.get("x-kubernetes-map-type") == "atomic"
        shape.members = {name: self.shape(below) for name, below in properties.items()}
        extra = schema.get("additionalProperties")
        shape.any_member = self.shape(extra) if isinstance(extra, dict) else None
        shape.open = bool(schema.get("x-kubernetes-preserve-unknown-fields")) or not (properties or extra)
        shape.needed = tuple(schema.get("required", ()))
        shape.required = shape.needed if self._strict else ()
        if self._strict:
            shape.defaults = tuple((name, below["default"]) for name, below in properties.items() if "default" in below)
        else:
            for name, below in shape.members.items():
                map_or_list = below.type == "array" or (below.type == "object" and below.any_member is not None)
                below.omitted = map_or_list and name not in shape.needed
        below_all = [*shape.members.values(), *([shape.any_member] if shape.any_member else [])]
        shape.has_defaults = bool(shape.defaults) or any(below.has_defaults for below in below_all)

    def _key_defaults(self, shape: Shape) -> tuple[tuple[str, object], ...]:
        """Of a list's keys. Kubernetes' own definitions don't say theirs: of its keys only protocols have a default."""
        known: Mapping[str, object] = dict(shape.items.defaults) if self._strict and shape.items else _OWN_KEY_DEFAULTS
        return tuple((key, known[key]) for key in shape.list_keys if key in known)

    @staticmethod
    def _fill_bounds(shape: Shape, schema: JsonObject) -> None:
        shape.enum = frozenset(word for word in schema.get("enum", ()) if not isinstance(word, dict | list))
        shape.minimum, shape.maximum = schema.get("minimum"), schema.get("maximum")
        for unit in ("Length", "Items", "Properties"):
            shape.least = schema.get(f"min{unit}", shape.least)
            shape.most = schema.get(f"max{unit}", shape.most)
        if "pattern" in schema:
            shape.pattern = re.compile(schema["pattern"])
        shape.moment = shape.type == "string" and schema.get("format") == "date-time"
        low_or_high = shape.minimum is not None or shape.maximum is not None
        of_text = shape.enum or shape.pattern or shape.moment
        shape.bounded = bool(of_text or shape.least or shape.most is not None or low_or_high)


__all__ = ["PREFIX", "Shape", "definition_name", "definitions_of", "shape_of", "shape_of_type"]
