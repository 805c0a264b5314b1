"""Patterns: RE2, found anywhere, linear."""

from __future__ import annotations

from kumi.registry.custom.cel.patterns import SHORT, matches, wrong_pattern


def test_a_pattern_is_looked_for_anywhere() -> None:
    assert matches("b+", "abbc")
    assert not matches("^b+$", "abbc")
    assert matches(r"^\pL+$", "äbc")


def test_what_cannot_be_read_is_told_and_matches_nothing() -> None:
    assert wrong_pattern("(") != ""
    assert wrong_pattern("(?=a)") != ""
    assert wrong_pattern("^a$") == ""
    assert not matches("(", "(")


def test_a_text_that_is_too_long_to_be_remembered_is_matched_too() -> None:
    long = "a" * (SHORT + 1)
    assert matches("^a+$", long)
    assert not matches("b", long)
