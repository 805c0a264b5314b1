from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given

from kumi.api.shapes import Shape
from kumi.registry.apply.compare import compare, everything
from kumi.registry.apply.fieldset import FieldSet

from .shapes import POD, PODS

Json = dict[str, Any]


@given(PODS)
def test_an_object_does_not_differ_from_itself(obj: Json) -> None:
    assert not compare(POD, obj, orjson.loads(orjson.dumps(obj)))


@given(PODS)
def test_from_nothing_everything_is_changed_and_to_nothing_everything_is_removed(obj: Json) -> None:
    assert compare(POD, {}, obj) == (everything(POD, obj), FieldSet())
    assert compare(POD, obj, {}) == (FieldSet(), everything(POD, obj))


@given(PODS, PODS)
def test_what_is_changed_is_in_the_new_object_and_what_is_removed_only_in_the_old(old: Json, new: Json) -> None:
    changed, removed = compare(POD, old, new)
    assert changed - everything(POD, new) == FieldSet()
    assert removed - everything(POD, old) == FieldSet()
    assert removed & everything(POD, new) == FieldSet()


@given(PODS, PODS)
def test_what_one_has_and_the_other_has_not_is_found(old: Json, new: Json) -> None:
    changed, removed = compare(POD, old, new)
    added = everything(POD, new) - everything(POD, old)
    assert added - changed == FieldSet()
    assert everything(POD, old) - everything(POD, new) == removed


def test_order_in_lists_with_keys_and_sets_does_not_count() -> None:
    a, b = {"name": "a", "image": "1"}, {"name": "b", "image": "2"}
    old = {"metadata": {"finalizers": ["x", "y"]}, "spec": {"containers": [a, b]}}
    new = {"metadata": {"finalizers": ["y", "x"]}, "spec": {"containers": [b, {**a, "image": "3"}]}}
    changed, removed = compare(POD, old, new)
    assert changed == FieldSet.of(("f:spec", "f:containers", 'k:{"name":"a"}', "f:image"))
    assert not removed


def test_what_is_owned_as_a_whole_is_one_field() -> None:
    old = {"spec": {"nodeSelector": {"a": "1"}, "tolerations": [{"key": "a"}, {"key": "b"}]}}
    new = {"spec": {"nodeSelector": {"b": "1"}, "tolerations": [{"key": "b"}, {"key": "a"}]}}
    changed, removed = compare(POD, old, new)
    assert changed == FieldSet.of(("f:spec", "f:nodeSelector"), ("f:spec", "f:tolerations"))
    assert not removed


def test_an_item_that_is_there_more_than_once_is_one_field() -> None:
    twice = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "a", "image": "2"}]}}
    other = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "a", "image": "3"}, {"name": "b"}]}}
    changed, _ = compare(POD, twice, other)
    assert ("f:spec", "f:containers", 'k:{"name":"a"}') in changed
    assert ("f:spec", "f:containers", 'k:{"name":"b"}', "f:name") in changed


def test_without_a_schema_objects_go_on_and_lists_do_not() -> None:
    changed, removed = compare(Shape(), {"a": {"b": 1, "c": [1]}, "x": 1}, {"a": {"b": 1, "c": [2]}, "x": {"y": 1}})
    assert changed == FieldSet.of(("f:a", "f:c"), ("f:x",))
    assert not removed


def test_an_empty_object_and_null_are_fields() -> None:
    changed, _ = compare(POD, {}, {"spec": {"securityContext": {}, "containers": []}})
    assert changed == FieldSet.of(("f:spec",), ("f:spec", "f:securityContext"), ("f:spec", "f:containers"))
    changed, removed = compare(POD, {"spec": {"containers": None}}, {"spec": {"containers": [{"name": "a"}]}})
    assert changed == FieldSet.of(
        ("f:spec", "f:containers", 'k:{"name":"a"}'), ("f:spec", "f:containers", 'k:{"name":"a"}', "f:name")
    )
    assert not removed
