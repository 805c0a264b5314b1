"""A table of what a file may name: who is there is known before anybody is imported."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kumi.engine.placement.named import Named


def test_a_name_is_known_and_imported_when_it_is_asked_for() -> None:
    table: Named[object] = Named({"there": "fractions:Fraction", "broken": "kumi.no_such_module:x"})
    assert (list(table), len(table), "there" in table, "else" in table) == (["there", "broken"], 2, True, False)
    assert table["there"] is Fraction
    assert table.get("else") is None
    with pytest.raises(KeyError):
        table["else"]
    with pytest.raises(ModuleNotFoundError):
        table["broken"]


def test_those_that_are_joined_go_first_and_change_nothing_there() -> None:
    table: Named[object] = Named({"a": "fractions:Fraction", "b": "decimal:Decimal"})
    joined = table.joined({"a": 1, "c": 2})
    assert {name: joined[name] for name in joined if name != "b"} == {"a": 1, "c": 2}
    assert (joined["b"], table["a"], "c" in table) == (table["b"], Fraction, False)
    assert table.joined({}) is table
