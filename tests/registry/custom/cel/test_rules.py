"""Rules: what is wrong with them, and what objects break."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.wire import JsonObject
from kumi.registry.custom.cel.rules import broken_rules, reads_old, steps_of, wrong_rules
from kumi.registry.custom.schema import Rule, compile_schema
from tests.registry.custom.made import NUMBER, TEXT, keyed, many, of, ruled


def wrong(schema: JsonObject) -> list[tuple[str, str]]:
    """(place below `S`, reason) of what is wrong with the rules of a schema."""
    found = wrong_rules(compile_schema(schema), "S")
    return [(error.path.removeprefix("S").lstrip("."), error.type.removeprefix("FieldValue")) for error in found]


def broken(schema: JsonObject, new: Any, old: Any = None) -> list[str]:
    """What a value breaks, as its writer is told."""
    return [fault.error.text() for fault in broken_rules(compile_schema(schema), new, old)]


SIZED = of(size=NUMBER, name=TEXT)


def test_a_rule_that_holds_says_nothing() -> None:
    assert broken(of(a=ruled(SIZED, "self.size > 1")), {"a": {"size": 2}}) == []


def test_the_message_is_the_expressions_or_the_message_or_the_rule() -> None:
    rule = {"rule": "self.size > 1", "message": "too small", "messageExpression": "'not ' + string(self.size)"}
    assert broken(ruled(SIZED, rule), {"size": 1}) == [": Invalid value: not 1"]
    assert broken(ruled(SIZED, {**rule, "messageExpression": "self.name"}), {"size": 1}) == [
        ": Invalid value: too small"
    ]
    assert broken(ruled(SIZED, "self.size > 1"), {"size": 1}) == [": Invalid value: failed rule: self.size > 1"]


def test_a_fault_is_at_its_path_with_its_reason() -> None:
    rule = {"rule": "false", "message": "no", "reason": "FieldValueForbidden", "fieldPath": ".size"}
    assert broken(of(a=ruled(SIZED, rule)), {"a": {}}) == ["a.size: Forbidden: no"]


def test_places_in_maps_and_lists() -> None:
    schema = of(
        m={"type": "object", "additionalProperties": ruled(NUMBER, {"rule": "self > 0", "message": "no"})},
        l=many(ruled(NUMBER, {"rule": "self > 0", "message": "no"})),
    )
    assert broken(schema, {"m": {"k/x": 0}, "l": [1, 0]}) == ["m[k/x]: Invalid value: no", "l[1]: Invalid value: no"]


def test_a_transition_rule_runs_where_something_was_there() -> None:
    schema = of(a=ruled(NUMBER, {"rule": "self >= oldSelf", "message": "only up"}))
    assert broken(schema, {"a": 1}) == []
    assert broken(schema, {"a": 1}, {}) == []
    assert broken(schema, {"a": 1}, {"a": 1}) == []
    assert broken(schema, {"a": 1}, {"a": 2}) == ["a: Invalid value: only up"]


def test_items_are_compared_with_those_of_their_key() -> None:
    schema = of(l=keyed(ruled(of(k=TEXT, v=NUMBER), {"rule": "self.v >= oldSelf.v", "message": "only up"})))
    old = {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 5}]}
    assert broken(schema, {"l": [{"k": "b", "v": 4}, {"k": "c", "v": 0}, {"k": "a", "v": 1}]}, old) == [
        "l[0]: Invalid value: only up"
    ]


def test_with_an_optional_old_value_a_rule_always_runs() -> None:
    rule = {"rule": "self >= oldSelf.orValue(3)", "optionalOldSelf": True, "message": "no"}
    assert broken(of(a=ruled(NUMBER, rule)), {"a": 2}) == ["a: Invalid value: no"]
    assert broken(of(a=ruled(NUMBER, rule)), {"a": 2}, {"a": 1}) == []


def test_a_rule_that_fails_is_broken_and_says_why() -> None:
    (text,) = broken(ruled(SIZED, {"rule": "self.size > 1", "message": "m"}), {})
    assert text == ": Invalid value: no such key: size evaluating rule: m"
    (text,) = broken(of(l=ruled(many(NUMBER, maxItems=20_000), "self.all(x, x > 0)")), {"l": [1] * 10_001})
    assert "cost budget" in text


def test_null_and_what_is_not_there_have_no_rules() -> None:
    assert broken(of(a={**ruled(SIZED, "false"), "nullable": True}), {"a": None}) == []
    assert broken(of(a=ruled(SIZED, "false")), {}) == []


@pytest.mark.parametrize(
    ("rule", "places"),
    [
        ({"rule": "self.nope > 1"}, [("rule", "Invalid")]),
        ({"rule": "self.size"}, [("rule", "Invalid")]),
        ({"rule": "1 +"}, [("rule", "Invalid")]),
        ({"rule": " "}, [("rule", "Required")]),
        ({"rule": "true", "message": " "}, [("message", "Invalid")]),
        ({"rule": "true", "message": "a\nb"}, [("message", "Invalid")]),
        ({"rule": "true\n&& true"}, [("message", "Required")]),
        ({"rule": "true", "reason": "Odd"}, [("reason", "NotSupported")]),
        ({"rule": "true", "message": "m" * 2049}, [("message", "Invalid")]),
        ({"rule": "true", "fieldPath": ".nope"}, [("fieldPath", "Invalid")]),
        ({"rule": "true", "fieldPath": "size"}, [("fieldPath", "Invalid")]),
        ({"rule": "true", "messageExpression": "self.size"}, [("messageExpression", "Invalid")]),
        ({"rule": "true", "optionalOldSelf": True}, [("optionalOldSelf", "Invalid")]),
        ({"rule": "oldSelf.hasValue()", "optionalOldSelf": True}, []),
        ({"rule": "true", "fieldPath": "['size']"}, []),
    ],
)
def test_what_is_wrong_with_a_rule(rule: JsonObject, places: list[tuple[str, str]]) -> None:
    expected = [(f"properties[a].x-kubernetes-validations[0].{place}", reason) for place, reason in places]
    assert wrong(of(a=ruled(SIZED, rule))) == expected


def test_what_was_there_is_unknown_in_lists_without_keys() -> None:
    changed = ruled(of(k=TEXT), "self == oldSelf")
    assert wrong(of(l=keyed(changed, maxItems=5))) == []
    assert [reason for _, reason in wrong(of(l=many(changed, maxItems=5)))] == ["Invalid"]


def test_a_rule_that_could_run_for_ever_is_refused_and_so_are_too_many_dear_ones() -> None:
    dear = "self.all(x, self.all(y, x == y))"
    assert ("properties[a].x-kubernetes-validations[0].rule", "Forbidden") in wrong(of(a=ruled(many(TEXT), dear)))
    assert wrong(of(a=ruled(many({**TEXT, "maxLength": 10}, maxItems=100), dear))) == []
    nearly = ruled(many({**TEXT, "maxLength": 10}, maxItems=800), *[dear] * 30)
    assert wrong(of(a=nearly)) == [("", "Forbidden")]


def test_a_rule_costs_as_often_as_its_place_occurs() -> None:
    inner = ruled(many({**TEXT, "maxLength": 10}, maxItems=100), "self.all(x, self.all(y, x == y))")
    assert wrong(of(l=many(inner, maxItems=10))) == []
    assert ("properties[l].items.x-kubernetes-validations[0].rule", "Forbidden") in wrong(
        of(l=many(inner, maxItems=10_000))
    )


def test_paths_of_fields() -> None:
    assert steps_of(".a['b.c'].d") == ["a", "b.c", "d"]
    assert steps_of("a") is None
    assert reads_old(Rule("self == oldSelf"))
    assert not reads_old(Rule("self == 'oldSelf'"))
