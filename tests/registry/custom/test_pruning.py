"""Pruning: what a schema doesn't know goes, and pruning again finds nothing."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import given

from kumi.api.wire import JsonObject
from kumi.registry.custom.pruning import prune
from kumi.registry.custom.schema import compile_schema
from tests.registry.custom.made import NUMBER, TEXT, compiled, many, of
from tests.registry.custom.strategies import OBJECTS, roots


@given(roots(), OBJECTS)
def test_what_was_pruned_is_right(said: JsonObject, obj: JsonObject) -> None:
    schema = compile_schema(said)
    prune(schema, obj)
    before = deepcopy(obj)
    assert prune(schema, obj) == []
    assert obj == before


def test_unknown_members_go_and_are_told_with_their_places() -> None:
    obj = {"apiVersion": "v1", "kind": "X", "metadata": {"odd": 1}, "spec": {"a": [{"b": 1, "x": 1}], "y": 1}, "z": 1}
    assert prune(compiled(spec=of(a=many(of(b=NUMBER)))), obj) == ["spec.a[0].x", "spec.y", "z"]
    assert obj == {"apiVersion": "v1", "kind": "X", "metadata": {"odd": 1}, "spec": {"a": [{"b": 1}]}}


def test_what_is_preserved_stays_but_members_with_a_schema_are_pruned_again() -> None:
    open_ = {**of(a=of(b=TEXT)), "x-kubernetes-preserve-unknown-fields": True}
    obj = {"spec": {"any": {"x": 1}, "a": {"b": "1", "x": 1}}}
    assert prune(compiled(spec=open_), obj) == ["spec.a.x"]
    assert obj == {"spec": {"any": {"x": 1}, "a": {"b": "1"}}}


def test_a_map_keeps_all_its_keys() -> None:
    obj = {"m": {"p": {"b": 1, "x": 1}}}
    assert prune(compiled(m={"type": "object", "additionalProperties": of(b=NUMBER)}), obj) == ["m.p.x"]


def test_an_embedded_object_keeps_what_every_object_has() -> None:
    whole = {**of(spec=of(a=TEXT)), "x-kubernetes-embedded-resource": True}
    obj = {"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"b": 1}}}
    assert prune(compiled(t=whole), obj) == ["t.spec.b"]
    assert obj["t"]["metadata"] == {"name": "p"}


def test_a_part_of_an_object_has_no_metadata_of_its_own() -> None:
    assert prune(compiled(a=TEXT), {"kind": "x", "a": "y"}, whole=False) == ["kind"]
