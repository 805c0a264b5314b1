from __future__ import annotations

from kumi.api.validation import words


def test_each_kind_of_error_reads_as_users_know_it() -> None:
    assert words.required("a", "why").text() == "a: Required value: why"
    assert words.forbidden("a", "why").text() == "a: Forbidden: why"
    assert words.not_supported("a", "x", ("b", "c")).text() == 'a: Unsupported value: "x": supported values: "b", "c"'
    assert words.duplicate("a", "x").text() == 'a: Duplicate value: "x"'


def test_numbers_below_zero_and_changes() -> None:
    assert [error.path for error in words.not_negative("a", -1)] == ["a"]
    assert words.not_negative("a", 0) == words.not_negative("a", None) == words.not_negative("a", True) == []
    assert [error.detail for error in words.immutable("a", 1, 2)] == ["field is immutable"]
    assert words.immutable("a", 1, 1) == []
