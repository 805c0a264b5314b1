"""Defaulting: once is enough, and null counts where it may."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given

from kumi.api.wire import JsonObject
from kumi.registry.custom.defaulting import drop_nulls, fill
from kumi.registry.custom.pruning import prune
from kumi.registry.custom.schema import compile_schema
from tests.registry.custom.made import NUMBER, TEXT, compiled, many, of
from tests.registry.custom.strategies import OBJECTS, roots


@given(roots(), OBJECTS)
def test_filling_and_dropping_nulls_once_is_enough(said: JsonObject, obj: JsonObject) -> None:
    schema = compile_schema(said)
    fill(schema, obj)
    drop_nulls(schema, obj)
    before = deepcopy(obj)
    fill(schema, obj)
    drop_nulls(schema, obj)
    assert obj == before


@given(roots(), OBJECTS)
def test_defaults_are_never_pruned(said: JsonObject, obj: JsonObject) -> None:
    schema = compile_schema(said)
    prune(schema, obj)
    fill(schema, obj)
    assert prune(schema, obj) == []


def test_a_default_is_filled_in_and_below_it_too() -> None:
    schema = compiled(
        o={**of(deep={"type": "boolean", "default": True}), "default": {}}, p=of(x={**NUMBER, "default": 1})
    )
    obj: JsonObject = {}
    fill(schema, obj)
    assert obj == {"o": {"deep": True}}


def test_items_and_maps_are_filled() -> None:
    item = of(n={**NUMBER, "default": 1})
    obj = {"l": [{}, {"n": 2}], "m": {"k": {}}}
    fill(compiled(l=many(item), m={"type": "object", "additionalProperties": item}), obj)
    assert obj == {"l": [{"n": 1}, {"n": 2}], "m": {"k": {"n": 1}}}


def test_null_takes_the_default_where_null_is_not_allowed() -> None:
    obj = {"a": None, "b": None, "c": None, "d": None}
    schema = compiled(
        a={**TEXT, "default": "x"}, b={**TEXT, "default": "x", "nullable": True}, c=TEXT, d={**TEXT, "nullable": True}
    )
    fill(schema, obj)
    drop_nulls(schema, obj)
    assert obj == {"a": "x", "b": None, "d": None}


def test_a_default_is_nobodys_but_the_objects() -> None:
    schema = compiled(o={**of(), "default": {}})
    one: JsonObject = {}
    fill(schema, one)
    one["o"]["x"] = 1
    other: JsonObject = {}
    fill(schema, other)
    assert other == {"o": {}}
