"""Schemas compiled: each word at its node, and what a node knows of those below."""

from __future__ import annotations

from kumi.registry.custom.schema import compile_schema
from tests.registry.custom.made import NUMBER, TEXT, keyed, many, of, ruled


def test_each_word_is_at_its_node() -> None:
    schema = compile_schema(
        of(
            a={**TEXT, "nullable": True, "maxLength": 3, "pattern": "^a", "enum": ["a"], "default": None},
            b=keyed(of(k=TEXT)),
            c={"x-kubernetes-int-or-string": True, "anyOf": [NUMBER, TEXT]},
        )
    )
    a, b, c = (schema.properties[name] for name in "abc")
    assert (a.nullable, dict(a.bounds), a.pattern, a.enum, a.has_default, a.default) == (
        True, {"maxLength": 3}, "^a", ("a",), True, None,
    )  # fmt: skip
    assert (b.list_type, b.list_keys, b.items and b.items.required) == ("map", ("k",), ("k",))
    assert (c.int_or_string, [branch.type for branch in c.any_of]) == (True, ["integer", "string"])


def test_a_node_knows_whether_there_is_something_to_do_below() -> None:
    deep = compile_schema(of(a=many(of(b={**TEXT, "default": "x"}))))
    assert deep.has_defaults
    assert not deep.has_rules
    assert compile_schema(of(a={"type": "object", "additionalProperties": ruled(NUMBER, "self > 0")})).has_rules


def test_members_by_name_and_of_any_name() -> None:
    schema = compile_schema(of(a=TEXT))
    assert schema.below("a") is schema.properties["a"]
    assert schema.below("b") is None
    assert compile_schema({"type": "object", "additionalProperties": NUMBER}).below("b") is not None


def test_a_rule_takes_the_usual_reason() -> None:
    (rule,) = compile_schema(ruled(of(), {"rule": "true", "optionalOldSelf": True})).rules
    assert (rule.reason, rule.optional_old_self) == ("FieldValueInvalid", True)
