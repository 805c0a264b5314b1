"""Structural schemas: what a schema may say, each fault at its place."""

from __future__ import annotations

import pytest

from kumi.api.wire import JsonObject
from kumi.registry.custom.structural import wrong_schema
from tests.registry.custom.made import NUMBER, TEXT, WIDGET, keyed, many, of, ruled

P = "properties[a]"
X = "x-kubernetes-"
EITHER: JsonObject = {f"{X}int-or-string": True}
SET: JsonObject = {f"{X}list-type": "set"}


def wrong(schema: JsonObject) -> list[tuple[str, str]]:
    """(place below the schema, reason)."""
    found = wrong_schema(schema, "openAPIV3Schema")
    return [(e.path.removeprefix("openAPIV3Schema").lstrip("."), e.type.removeprefix("FieldValue")) for e in found]


@pytest.mark.parametrize(
    "schema",
    [
        of(spec=WIDGET),
        {"type": "object", f"{X}preserve-unknown-fields": True},
        of(a=EITHER),
        of(a=many(TEXT, **SET)),
        of(a={f"{X}preserve-unknown-fields": True}),
        of(a={**EITHER, "anyOf": [NUMBER, TEXT]}),
        of(a={**EITHER, "allOf": [{"anyOf": [NUMBER, TEXT]}, {"minimum": 1}]}),
        of(a=keyed(of(k=TEXT))),
        of(a={**of(), f"{X}embedded-resource": True, f"{X}preserve-unknown-fields": True}),
        of(a={**of(b=TEXT), "oneOf": [{"required": ["b"]}, {"properties": {"b": {"enum": ["x"]}}}]}),
        of(apiVersion=TEXT, kind=TEXT, metadata=of(name={**TEXT, "maxLength": 5})),
        of(a={**NUMBER, "nullable": True, "default": 3}),
        of(a={**of(b={**TEXT, "default": "x"}), "default": {}}),
        of(a=many({**of(k=TEXT), f"{X}map-type": "atomic"}, **SET)),
        of(a=many({**of(k={**TEXT, "default": "d"})}, **{f"{X}list-type": "map", f"{X}list-map-keys": ["k"]})),
    ],
)
def test_what_is_right(schema: JsonObject) -> None:
    assert wrong(schema) == []


@pytest.mark.parametrize(
    ("schema", "place", "reason"),
    [
        ({}, "type", "Required"),
        (TEXT, "type", "Invalid"),
        ({**of(), "nullable": True}, "nullable", "Forbidden"),
        ({"type": "object", "additionalProperties": TEXT}, "additionalProperties", "Forbidden"),
        (of(a={}), f"{P}.type", "Required"),
        (of(a=many({})), f"{P}.items.type", "Required"),
        (of(a={"type": "text"}), f"{P}.type", "NotSupported"),
        (of(a={"type": "null"}), f"{P}.type", "Forbidden"),
        (of(a={"type": "array"}), f"{P}.items", "Required"),
        (of(a={**EITHER, **TEXT}), f"{P}.type", "Invalid"),
        (of(a={**of(b=TEXT), "additionalProperties": TEXT}), f"{P}.additionalProperties", "Forbidden"),
        (of(a={"type": "object", "additionalProperties": False}), f"{P}.additionalProperties", "Forbidden"),
        (of(a={**many(TEXT), "uniqueItems": True}), f"{P}.uniqueItems", "Forbidden"),
        (of(a={**TEXT, "$ref": "#/x"}), f"{P}.$ref", "Forbidden"),
        (of(a={**TEXT, "pattern": "("}), f"{P}.pattern", "Invalid"),
        (of(a={**TEXT, f"{X}preserve-unknown-fields": True}), f"{P}.type", "Invalid"),
        (of(a={**of(), f"{X}preserve-unknown-fields": False}), f"{P}.{X}preserve-unknown-fields", "Invalid"),
        (of(a={**of(), f"{X}embedded-resource": True}), f"{P}.properties", "Required"),
        (of(a={**of(), f"{X}map-type": "odd"}), f"{P}.{X}map-type", "NotSupported"),
        (of(a={**TEXT, f"{X}map-type": "atomic"}), f"{P}.type", "Invalid"),
        (of(a={**TEXT, **SET}), f"{P}.type", "Invalid"),
        (of(a=many(TEXT, **{f"{X}list-type": "odd"})), f"{P}.{X}list-type", "NotSupported"),
        (of(a=many(of(k=TEXT), **SET)), f"{P}.items.{X}map-type", "Invalid"),
        (of(a=many({**TEXT, "nullable": True}, **SET)), f"{P}.items.nullable", "Forbidden"),
        (of(a=many(of(k=TEXT), **{f"{X}list-type": "map"})), f"{P}.{X}list-map-keys", "Required"),
        (of(a=many(of(k=TEXT), **{f"{X}list-map-keys": ["k"]})), f"{P}.{X}list-type", "Invalid"),
        (of(a=keyed(of(other=TEXT))), f"{P}.{X}list-map-keys", "Invalid"),
        (of(a=keyed(of(k=of()))), f"{P}.items.properties[k].type", "Invalid"),
        (of(a=keyed(of(k={**TEXT, "nullable": True}))), f"{P}.items.properties[k].nullable", "Forbidden"),
        (
            of(a=many(of(k=TEXT), **{f"{X}list-type": "map", f"{X}list-map-keys": ["k"]})),
            f"{P}.items.properties[k].default",
            "Required",
        ),
        (of(a={**NUMBER, "anyOf": [NUMBER]}), f"{P}.anyOf[0].type", "Forbidden"),
        (of(a={**NUMBER, "not": {"default": 1}}), f"{P}.not.default", "Forbidden"),
        (of(a={**of(), "oneOf": [of(b={"minimum": 1})]}), f"{P}.oneOf[0].type", "Forbidden"),
        (of(a={**of(), "oneOf": [{"properties": {"b": {"minimum": 1}}}]}), f"{P}.properties[b]", "Required"),
        (of(a={**of(), "allOf": [{"items": {"minimum": 1}}]}), f"{P}.items", "Required"),
        (of(metadata=of(labels=of())), "properties[metadata]", "Forbidden"),
        (of(metadata=TEXT), "properties[metadata].type", "Invalid"),
        (of(kind=NUMBER), "properties[kind].type", "Invalid"),
        (of(a={**TEXT, "default": 5}), f"{P}.default", "TypeInvalid"),
        (of(a={**of(b=NUMBER), "default": {"b": "x"}}), f"{P}.default.b", "TypeInvalid"),
        (of(a={**of(b=NUMBER), "default": {"c": 1}}), f"{P}.default", "Invalid"),
        (of(a={**NUMBER, "default": 5, "maximum": 3}), f"{P}.default", "Invalid"),
        (of(a=ruled(NUMBER, "self.nope")), f"{P}.{X}validations[0].rule", "Invalid"),
    ],
)
def test_what_is_wrong(schema: JsonObject, place: str, reason: str) -> None:
    assert (place, reason) in wrong(schema)


def test_rules_are_looked_at_when_nothing_else_is_wrong() -> None:
    assert wrong(of(a=ruled(NUMBER, "self.nope"), b={})) == [("properties[b].type", "Required")]
