"""How dear a rule can get: sizes that a schema bounds, and what a rule makes of them."""

from __future__ import annotations

from kumi.api.wire import JsonObject
from kumi.registry.custom.cel.cost import PER_RULE, estimate, least_bytes, most_of
from kumi.registry.custom.cel.environment import compile_rule
from kumi.registry.custom.cel.types import check, of_schema
from kumi.registry.custom.schema import compile_schema
from tests.registry.custom.made import NUMBER, TEXT, many, of


def cost(schema: JsonObject, text: str) -> float:
    """What a rule costs at most."""
    tree = compile_rule(text).tree
    return estimate(tree, check(tree, {"self": of_schema(compile_schema(schema))}))


def test_sizes_are_the_schemas_or_what_fits_in_a_request() -> None:
    assert most_of(compile_schema(many(TEXT, maxItems=3))) == 3
    assert most_of(compile_schema({**TEXT, "enum": ["a", "abc"]})) == 3
    assert most_of(compile_schema(of(a=TEXT, b=TEXT))) == 2
    assert most_of(compile_schema(many(NUMBER))) == 3 * 1024 * 1024 // 2
    assert most_of(compile_schema({**TEXT, "format": "date-time"})) == 64


def test_needed_members_make_an_item_larger_and_a_list_shorter() -> None:
    small, large = of(a=TEXT), {**of(a=TEXT), "required": ["a"]}
    assert least_bytes(compile_schema(large)) > least_bytes(compile_schema(small))
    assert most_of(compile_schema(many(large))) < most_of(compile_schema(many(small)))


def test_a_comprehension_costs_its_body_as_often_as_its_list_is_long() -> None:
    once, often = (cost(many(NUMBER, maxItems=n), "self.all(x, x > 1)") for n in (1, 1000))
    assert 500 * once < often < 1000 * once


def test_loops_within_loops_multiply() -> None:
    bounded = cost(many({**TEXT, "maxLength": 10}, maxItems=100), "self.all(x, self.all(y, x == y))")
    unbounded = cost(many(TEXT), "self.all(x, self.all(y, x == y))")
    assert bounded < PER_RULE < unbounded


def test_text_is_read_at_a_tenth_a_letter() -> None:
    short, long = (cost({**TEXT, "maxLength": n}, "self.matches('^a+$')") for n in (10, 10_000))
    assert short < 10
    assert long > 1000
