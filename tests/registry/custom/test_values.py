"""Validation by schema: each fault at its place, in the words and with the reason that clients know."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from kumi.api.wire import JsonObject
from kumi.registry.custom.schema import compile_schema
from kumi.registry.custom.values import canonical, errors_of, is_type, wrong_values
from tests.registry.custom.made import NUMBER, TEXT, compiled, keyed, many, of
from tests.registry.custom.strategies import OBJECTS, roots

EITHER: JsonObject = {"x-kubernetes-int-or-string": True}
SET = {"x-kubernetes-list-type": "set"}


def told(schema: JsonObject, value: Any) -> list[tuple[str, str]]:
    """(place, reason) of each fault of member `a`."""
    return [(error.path, error.type) for error in errors_of(wrong_values(compiled(a=schema), {"a": value}))]


@given(roots(), OBJECTS)
def test_every_fault_is_at_a_place_of_the_object_or_right_below_one(said: JsonObject, obj: JsonObject) -> None:
    for fault in wrong_values(compile_schema(said), obj):
        assert fault.place[: len(fault.at)] == fault.at
        here: Any = obj
        for step in fault.at:
            here = here[step]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (NUMBER, 1),
        (NUMBER, 1.0),
        ({"type": "number"}, 1),
        ({"type": "number"}, 1.5),
        (TEXT, ""),
        (EITHER, 1),
        (EITHER, "1"),
        ({**TEXT, "nullable": True}, None),
        ({"x-kubernetes-preserve-unknown-fields": True}, [1]),
        ({**TEXT, "enum": ["x", "y"]}, "y"),
        ({**NUMBER, "enum": [1]}, 1.0),
        ({**TEXT, "maxLength": 2}, "ää"),
        ({**NUMBER, "multipleOf": 3}, 9),
        ({"type": "number", "multipleOf": 0.1}, 0.3),
        (many(TEXT, **SET), ["a", "b"]),
        ({**NUMBER, "minimum": 1, "maximum": 3}, 3),
        (keyed(of(k=TEXT)), [{"k": "a"}, {"k": "b"}]),
        ({**TEXT, "format": "unheard-of"}, "x"),
        ({**TEXT, "pattern": "b+"}, "abbc"),
    ],
)
def test_what_is_right(schema: JsonObject, value: Any) -> None:
    assert told(schema, value) == []


@pytest.mark.parametrize(
    ("schema", "value", "place", "reason"),
    [
        (NUMBER, "1", "a", "TypeInvalid"),
        (NUMBER, True, "a", "TypeInvalid"),
        (NUMBER, 1.5, "a", "TypeInvalid"),
        (TEXT, None, "a", "TypeInvalid"),
        (EITHER, True, "a", "TypeInvalid"),
        (EITHER, 1.5, "a", "TypeInvalid"),
        (of(b=NUMBER), {"b": []}, "a.b", "TypeInvalid"),
        (many(NUMBER), [1, "x"], "a[1]", "TypeInvalid"),
        ({"type": "object", "additionalProperties": NUMBER}, {"k/x": ""}, "a.k/x", "TypeInvalid"),
        ({**TEXT, "enum": ["x"]}, "y", "a", "NotSupported"),
        ({**NUMBER, "enum": [1]}, True, "a", "TypeInvalid"),
        ({**TEXT, "maxLength": 1, "pattern": "^a$"}, "bb", "a", "TooLong"),
        ({**TEXT, "minLength": 1}, "", "a", "Invalid"),
        ({**TEXT, "pattern": "^a$"}, "b", "a", "Invalid"),
        ({**TEXT, "format": "ipv4"}, "x", "a", "Invalid"),
        ({**NUMBER, "minimum": 1}, 0, "a", "Invalid"),
        ({**NUMBER, "maximum": 1}, 2, "a", "Invalid"),
        ({**NUMBER, "minimum": 1, "exclusiveMinimum": True}, 1, "a", "Invalid"),
        ({**NUMBER, "multipleOf": 2}, 3, "a", "Invalid"),
        (many(TEXT, maxItems=1), ["a", "b"], "a", "TooMany"),
        (many(TEXT, minItems=1), [], "a", "Invalid"),
        ({**of(b=TEXT), "required": ["b"]}, {}, "a.b", "Required"),
        ({"type": "object", "additionalProperties": TEXT, "maxProperties": 0}, {"k": ""}, "a", "TooMany"),
        ({"type": "object", "additionalProperties": TEXT, "minProperties": 1}, {}, "a", "Invalid"),
        (many(TEXT, **SET), ["a", "b", "a"], "a[2]", "Duplicate"),
        (keyed(of(k=TEXT, v=NUMBER)), [{"k": "x", "v": 1}, {"k": "x", "v": 2}], "a[1]", "Duplicate"),
    ],
)
def test_what_is_wrong(schema: JsonObject, value: Any, place: str, reason: str) -> None:
    assert told(schema, value) == [(place, f"FieldValue{reason}")]


def test_a_value_of_the_wrong_type_is_asked_nothing_more() -> None:
    assert told({**TEXT, "enum": ["x"], "pattern": "x"}, 1) == [("a", "FieldValueTypeInvalid")]


def test_logic_is_told_with_the_faults_of_the_best_branch() -> None:
    either = {**of(b=TEXT, c=TEXT), "oneOf": [{"required": ["b"]}, {"required": ["c"]}]}
    assert told(either, {"b": ""}) == []
    assert told(either, {}) == [("a", "FieldValueInvalid"), ("a.b", "FieldValueRequired")]
    assert told(either, {"b": "", "c": ""}) == [("a", "FieldValueInvalid")]
    assert told({**NUMBER, "anyOf": [{"minimum": 5}, {"maximum": 1}]}, 3)[0] == ("a", "FieldValueInvalid")
    assert told({**NUMBER, "not": {"minimum": 5}}, 7) == [("a", "FieldValueInvalid")]
    assert told({**NUMBER, "allOf": [{"minimum": 5}]}, 3) == [("a", "FieldValueInvalid")]


def test_an_embedded_object_says_what_it_is_and_its_metadata_is_its_own() -> None:
    whole = {**of(metadata=of(name=NUMBER)), "x-kubernetes-embedded-resource": True}
    assert told(whole, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}) == []
    assert told(whole, {"kind": ""}) == [("a.apiVersion", "FieldValueRequired"), ("a.kind", "FieldValueRequired")]


def test_the_sentences_are_those_that_clients_know() -> None:
    schema = compiled(
        spec=of(size={**NUMBER, "maximum": 10}, name={**TEXT, "maxLength": 5}, color={**TEXT, "enum": ["red"]})
    )
    faults = wrong_values(schema, {"spec": {"size": 11, "name": "TOOLONG", "color": "green"}})
    assert [fault.error.text() for fault in faults] == [
        "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10",
        "spec.name: Too long: may not be more than 5 bytes",
        'spec.color: Unsupported value: "green": supported values: "red"',
    ]


def test_a_pattern_that_could_run_for_hours_does_not() -> None:
    assert told({**TEXT, "pattern": "^(a+)+$"}, "a" * 50_000 + "b") == [("a", "FieldValueInvalid")]


def test_equality_is_that_of_json() -> None:
    assert canonical({"a": 1, "b": [1.0]}) == canonical({"b": [1], "a": 1.0})
    assert canonical(True) != canonical(1)
    assert is_type("number", 1)
    assert not is_type("integer", "1")
