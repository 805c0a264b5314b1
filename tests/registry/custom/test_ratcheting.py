"""Ratcheting: what was wrong before and is left alone doesn't stop an update."""

from __future__ import annotations

from typing import Any

from kumi.registry.custom.ratcheting import still_wrong
from kumi.registry.custom.values import wrong_values
from tests.registry.custom.made import NUMBER, TEXT, compiled, keyed, many, of

SCHEMA = compiled(
    n={**NUMBER, "maximum": 1}, o={**of(a=TEXT, b=TEXT), "required": ["a"]}, l=many({**NUMBER, "maximum": 1}),
    m=keyed(of(k=TEXT, v={**NUMBER, "maximum": 1})),
)  # fmt: skip


def left(new: Any, old: Any) -> list[str]:
    """The places of the faults that count."""
    return [fault.error.path for fault in still_wrong(SCHEMA, wrong_values(SCHEMA, new), new, old)]


def test_all_faults_of_a_new_object_count() -> None:
    assert left({"n": 5, "o": {}}, None) == ["n", "o.a"]


def test_a_value_that_is_left_alone_may_stay_wrong() -> None:
    assert left({"n": 5}, {"n": 5}) == []
    assert left({"n": 5}, {"n": 6}) == ["n"]
    assert left({"n": 5}, {}) == ["n"]


def test_what_is_missing_counts_once_its_object_is_touched() -> None:
    assert left({"o": {"b": "x"}}, {"o": {"b": "x"}}) == []
    assert left({"o": {"b": "y"}}, {"o": {"b": "x"}}) == ["o.a"]


def test_items_are_followed_by_their_keys_wherever_they_move() -> None:
    old = {"m": [{"k": "a", "v": 5}, {"k": "b", "v": 1}]}
    assert left({"m": [{"k": "c", "v": 1}, {"k": "a", "v": 5}]}, old) == []
    assert left({"m": [{"k": "b", "v": 5}]}, old) == ["m[0].v"]


def test_items_of_other_lists_are_nobodys_partners() -> None:
    assert left({"l": [5]}, {"l": [5, 0]}) == ["l[0]"]
