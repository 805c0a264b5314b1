"""Patterns: RE2, found anywhere, linear."""

from __future__ import annotations

from kumi.registry.custom.cel.patterns import matches, wrong_pattern


def test_a_pattern_is_looked_for_anywhere() -> None:
    assert matches("b+", "abbc")
    assert not matches("^b+$", "abbc")
    assert matches(r"^\pL+$", "äbc")


def test_what_cannot_be_read_is_told_and_matches_nothing() -> None:
    assert wrong_pattern("(") != ""
    assert wrong_pattern("(?=a)") != ""
    assert wrong_pattern("^a$") == ""
    assert not matches("(", "(")
