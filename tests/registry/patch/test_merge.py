"""JSON merge patch: RFC 7386's laws and examples."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.registry.patch import BadPatch, merge

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
keys = st.text("abc", min_size=1, max_size=2)
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3), max_leaves=8)
documents = st.dictionaries(keys, values, max_size=4)


def without_null(value: object) -> object:
    if isinstance(value, dict):
        return {k: without_null(v) for k, v in value.items() if v is not None}
    return value


def diff(old: dict, new: dict) -> dict:
    """A merge patch that makes `new` (which has no null members) of `old`."""
    patch: dict = {key: None for key in old if key not in new}
    for key, value in new.items():
        there = old.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            patch[key] = diff(there, value)
        elif key not in old or value != there or type(value) is not type(there):
            patch[key] = value
    return patch


@given(documents, documents)
def test_applying_the_difference_gives_the_target(old: dict, new: dict) -> None:
    old, new = without_null(old), without_null(new)  # type: ignore[assignment]
    assert merge.apply(copy.deepcopy(old), diff(old, copy.deepcopy(new))) == new


@given(documents, documents)
def test_applying_a_patch_twice_is_applying_it_once(old: dict, patch: dict) -> None:
    once = merge.apply(copy.deepcopy(old), copy.deepcopy(patch))
    assert merge.apply(copy.deepcopy(once), copy.deepcopy(patch)) == once


@given(documents)
def test_the_empty_patch_changes_nothing(old: dict) -> None:
    assert merge.apply(copy.deepcopy(old), {}) == old


@pytest.mark.parametrize(
    ("old", "patch", "new"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b", "c": "d"}, {"a": None}, {"c": "d"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"a": [1, 2]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ],
)
def test_members_merge_null_deletes_and_the_rest_is_replaced(old: dict, patch: dict, new: dict) -> None:
    assert merge.apply(old, patch) == new


@pytest.mark.parametrize("patch", [[], "a", 1, None])
def test_what_is_no_object_is_no_patch(patch: object) -> None:
    with pytest.raises(BadPatch, match="must be an object"):
        merge.apply({}, patch)
