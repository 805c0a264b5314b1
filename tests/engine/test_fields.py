"""Fields: a mapping read field by field."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import FieldError
from kumi.engine.fields import Section, duration_ms


def section(**raw: Any) -> tuple[Section, list[FieldError]]:
    errors: list[FieldError] = []
    return Section("at", raw, errors), errors


def told(errors: list[FieldError]) -> list[tuple[str, str]]:
    return [(error.path, error.type) for error in errors]


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_a_duration_is_the_sum_of_its_parts(hours: int, minutes: int, seconds: int, ms: int) -> None:
    total = ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
    assert duration_ms(f"{hours}h{minutes}m{seconds}s{ms}ms") == total


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0", 0),
        ("5m", 300_000),
        ("1.5h", 5_400_000),
        (".5s", 500),
        ("1us", 1),
        ("1ns", 1),
        ("+2s", 2000),
        ("1s1s", 2000),
    ],
)
def test_durations(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "5", "5 m", "m", "-5m", "5d", "5m!", "1h-2m", "inf", "٥m"])
def test_what_is_no_duration(text: str) -> None:
    assert duration_ms(text) is None


def test_what_is_written_is_given_and_what_is_not_has_its_default() -> None:
    fields, errors = section(
        on=True, words=["x", "y"], n=3, wait="1s", by={"b": 2, "a": 0.5}, much={"m": "1k"}, item=[{"t": "u"}], no=None
    )
    assert fields.flag("on", False)
    assert fields.flag("no", True)
    assert fields.words("words", ("x", "y", "z")) == ("x", "y")
    assert fields.integer("n", None) == 3
    assert fields.integer("m", None) is None
    assert fields.duration("wait", 5) == 1000
    assert fields.duration("later", 5) == 5
    assert fields.numbers("by") == (("a", 0.5), ("b", 2.0))
    assert fields.quantities("much") == (("m", 10**12),)
    assert [one.text("t", "") for one in fields.items("item")] == ["u"]
    assert fields.within("nothing").text("t", "d") == "d"
    fields.done()
    assert errors == []


def test_every_wrong_field_is_told_with_its_path_and_has_its_default() -> None:
    fields, errors = section(
        on="yes",
        word="w",
        words=["x", "x", 3, "q"],
        n=-1,
        wait="soon",
        never="0s",
        by={"a": -1, "b": True},
        much={"m": "1x"},
        item=["t"],
        within=3,
        more=1,
    )
    assert fields.flag("on", False) is False
    assert fields.word("word", ("v",), "v") == "v"
    assert fields.words("words", ("x",)) == ("x",)
    assert fields.integer("n", 7) == 7
    assert fields.duration("wait", 5) == 5
    assert fields.duration("never", 5, least=1) == 5
    assert fields.numbers("by") == ()
    assert fields.quantities("much") == ()
    assert fields.items("item") == []
    fields.within("within").done()
    fields.skip("even")
    fields.done()
    assert told(errors) == [
        ("at.on", "FieldValueTypeInvalid"),
        ("at.word", "FieldValueNotSupported"),
        ("at.words[1]", "FieldValueDuplicate"),
        ("at.words[2]", "FieldValueNotSupported"),
        ("at.words[3]", "FieldValueNotSupported"),
        ("at.n", "FieldValueInvalid"),
        ("at.wait", "FieldValueInvalid"),
        ("at.never", "FieldValueInvalid"),
        ("at.by[a]", "FieldValueInvalid"),
        ("at.by[b]", "FieldValueInvalid"),
        ("at.much[m]", "FieldValueInvalid"),
        ("at.item[0]", "FieldValueTypeInvalid"),
        ("at.within", "FieldValueTypeInvalid"),
        ("at.more", "FieldValueForbidden"),
    ]
