"""Schemas of other people's kinds, compiled for walking: one node a place, with all that the API does there.

    compile_schema(openAPIV3Schema) -> Schema        after structural.py found nothing wrong with it

The nodes are the definition's own words in Python: nothing is resolved, since a structural schema has no references.
`below` steps from a value to the schema of one of its members; UNKNOWN says that the schema has no such member.
Source     Kubernetes: structural schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kumi.api.wire import JsonObject


@dataclass(frozen=True)
class Rule:
    """One of x-kubernetes-validations."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = "FieldValueInvalid"
    field_path: str = ""
    optional_old_self: bool = False


@dataclass(slots=True, eq=False)
class Schema:
    """One place. Words that it doesn't say are at their zero value; `type` "" with int_or_string, or in a branch of logic."""

    type: str = ""
    description: str = ""
    format: str = ""
    nullable: bool = False
    properties: dict[str, Schema] = field(default_factory=dict)
    additional: Schema | None = None
    """of members that are not named"""
    open_additional: bool = False
    """additionalProperties: true"""
    items: Schema | None = None
    preserve: bool = False
    """x-kubernetes-preserve-unknown-fields"""
    embedded: bool = False
    """x-kubernetes-embedded-resource"""
    int_or_string: bool = False
    list_type: str = ""
    """atomic, set, map or "" """
    list_keys: tuple[str, ...] = ()
    map_type: str = ""
    required: tuple[str, ...] = ()
    default: Any = None
    has_default: bool = False
    has_defaults: bool = False
    """whether there are any here or below"""
    enum: tuple[Any, ...] = ()
    pattern: str = ""
    bounds: Mapping[str, Any] = field(default_factory=dict)
    """minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, min- and max- Length, Items, Properties, uniqueItems"""
    all_of: tuple[Schema, ...] = ()
    any_of: tuple[Schema, ...] = ()
    one_of: tuple[Schema, ...] = ()
    not_: Schema | None = None
    has_words: bool = False
    """whether any of the four is there, or an enum or a format"""
    rules: tuple[Rule, ...] = ()
    has_rules: bool = False
    """whether there are any here or below"""

    def below(self, name: str) -> Schema | None:
        """The schema of a member of an object, None if there is none."""
        return self.properties.get(name) or self.additional

    def children(self) -> Iterator[Schema]:
        """The schemas of what is one step below (not the branches of logic, which say the same place again)."""
        yield from self.properties.values()
        if self.additional is not None:
            yield self.additional
        if self.items is not None:
            yield self.items


BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems",
    "maxItems", "minProperties", "maxProperties", "uniqueItems",
)  # fmt: skip
REASONS = ("FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate")
"""what a rule may give as its reason"""


def compile_schema(schema: JsonObject) -> Schema:
    """See the module."""
    made = Schema(
        type=schema.get("type", ""),
        description=schema.get("description", ""),
        format=schema.get("format", ""),
        nullable=bool(schema.get("nullable")),
        preserve=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(schema.get("x-kubernetes-embedded-resource")),
        int_or_string=bool(schema.get("x-kubernetes-int-or-string")),
        list_type=schema.get("x-kubernetes-list-type", ""),
        list_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        map_type=schema.get("x-kubernetes-map-type", ""),
        required=tuple(schema.get("required") or ()),
        default=schema.get("default"),
        has_default="default" in schema,
        enum=tuple(schema.get("enum") or ()),
        pattern=schema.get("pattern", ""),
        bounds={key: schema[key] for key in BOUNDS if schema.get(key) is not None},
        rules=tuple(_rule(rule) for rule in schema.get("x-kubernetes-validations") or ()),
    )
    made.properties = {name: compile_schema(below) for name, below in (schema.get("properties") or {}).items()}
    additional = schema.get("additionalProperties")
    made.additional = compile_schema(additional) if isinstance(additional, dict) else None
    made.open_additional = additional is True
    items = schema.get("items")
    made.items = compile_schema(items) if isinstance(items, dict) else None
    made.all_of, made.any_of, made.one_of = (
        tuple(compile_schema(branch) for branch in schema.get(word) or ()) for word in ("allOf", "anyOf", "oneOf")
    )
    made.not_ = compile_schema(schema["not"]) if isinstance(schema.get("not"), dict) else None
    logic = made.all_of or made.any_of or made.one_of or made.not_
    made.has_words = bool(logic or made.enum or made.format)
    made.has_defaults = made.has_default or any(below.has_defaults for below in made.children())
    made.has_rules = bool(made.rules) or any(below.has_rules for below in made.children())
    return made


def _rule(rule: JsonObject) -> Rule:
    return Rule(
        rule.get("rule", ""),
        rule.get("message", ""),
        rule.get("messageExpression", ""),
        rule.get("reason") or "FieldValueInvalid",
        rule.get("fieldPath", ""),
        bool(rule.get("optionalOldSelf")),
    )
