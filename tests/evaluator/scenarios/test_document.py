"""Documents of scenarios."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.evaluator.scenarios.document import ScenarioError, length_ms, read
from kumi.jobs.due import DAY_MS
from tests.evaluator.scenarios.told import faults, part, written


def told(path: Path, **parameters: Any) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        read(path, parameters)
    return error.value.faults


@pytest.mark.parametrize(
    ("said", "ms"),
    [
        *[(90, 90_000), (0, 0), (1.5, 1500), ("90", 90_000), ("90s", 90_000), ("1h30m", 5_400_000), ("2d", 2 * DAY_MS)],
        *[("1d12h", DAY_MS * 3 // 2), ("0.5d", DAY_MS // 2), ("0s", 0), ("250ms", 250), ("0d", 0)],
        *[("soon", None), ("", None), (True, None), (-1, None), (None, None), ("-1s", None), (["1s"], None)],
    ],
)
def test_lengths_are_read_as_people_write_them(said: object, ms: int | None) -> None:
    assert length_ms(said) == ms


@given(st.integers(0, 400), st.integers(1, 86_399))
def test_days_and_the_rest_add_up(days: int, seconds: int) -> None:
    assert length_ms(f"{days}d{seconds}s") == days * DAY_MS + seconds * 1000


def test_a_parameter_alone_keeps_its_kind_and_within_a_text_is_text(tmp_path: Path) -> None:
    path = written(tmp_path, "parameters: {n: 3, s: x}\na: ${n}\nb: ['${s}-${n}', {c: '${s}'}]\n")
    assert read(path, {}).value == {"a": 3, "b": ["x-3", {"c": "x"}]}
    assert read(path, {"n": 0.5}).value["a"] == 0.5


def test_a_parameter_that_is_not_there_is_told_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "parameters: {n: 3}\nx:\n  a: 1\n  b: ${m}\n")
    assert told(path) == ["line 4: x.b: there is no parameter 'm': there are n"]
    assert told(written(tmp_path, "a: 1\n"), k=1) == ["line 1: parameters: there is no parameter 'k': there are none"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "this is not YAML"),
        ("- 1\n", "must be one YAML document"),
        ("a: 1\n---\nb: 1\n", "it has 2"),
        ("", "it has 0"),
    ],
)
def test_what_is_no_document_is_told(tmp_path: Path, text: str, says: str) -> None:
    (found,) = told(written(tmp_path, text))
    assert says in found


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert told(tmp_path / "none.yaml") == ["can't be read: No such file or directory"]


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    whole = read(written(tmp_path, "a: x\nb:\n  c: -1\n  d: yes\n"), {})
    fields = whole.fields("a", "b")
    fields["a"].number(0)
    inner = fields["b"].fields("c")
    inner["c"].whole(0)
    inner["c"].whole(0)
    with pytest.raises(ScenarioError) as error:
        whole.document.finish()
    assert error.value.faults == [
        "line 1: a: 'x' is not a number",
        "line 4: b.d: there is no such field; it may be c",
        "line 3: b.c: must be a whole number of 0 or more, not -1",
    ]
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.faults) == (str(error.value), error.value.faults)


def test_parts_are_what_they_should_be_or_their_default() -> None:
    assert part("a").text() == part(None).text("a") == "a"
    assert part(3).text() == "3"
    assert part("b").word("a", "b") == "b"
    assert part(None).word("a", "b") == "a"
    assert (part(True).flag(), part(None).flag()) == (True, False)
    assert (part(2).number(0), part(None).number(7)) == (2.0, 7)
    assert (part("1m").span_ms(), part(None).span_ms(5)) == (60_000, 5)
    assert [each.path for each in part([1, 2]).items()] == ["here[0]", "here[1]"]
    assert [each.value for each in part(1).items()] == [1]
    assert part(None).items() == []
    assert [*part({"x": 1}).members()] == ["x"]
    assert not part(None)
    assert part(0)


@pytest.mark.parametrize(
    ("value", "asked", "says"),
    [
        ({}, "text", "here: must be a text"),
        ("c", "word", "here: 'c' means nothing here; it may be a, b"),
        (1, "flag", "here: must be true or false"),
        (True, "number", "here: True is not a number"),
        (0, "above", "here: must be above 0, not 0"),
        (1.5, "whole", "here: must be a whole number of 0 or more, not 1.5"),
        (1001, "whole", "here: must be 1,000 at most, not 1,001"),
        ("x", "span", "here: 'x' is no length of time: write 90s, 1h30m or 2d"),
        (0, "long", "here: 0 is no length of time above 0: write 90s, 1h30m or 2d"),
        ([], "fields", "here: must be a mapping"),
    ],
)
def test_what_is_not_what_it_should_be_is_noted(value: object, asked: str, says: str) -> None:
    one = part(value)
    asks: dict[str, Callable[[], object]] = {
        "text": one.text,
        "word": lambda: one.word("a", "b"),
        "flag": one.flag,
        "number": lambda: one.number(0),
        "above": lambda: one.number(1, above=0),
        "whole": lambda: one.whole(1, most=1000),
        "span": one.span_ms,
        "long": lambda: one.span_ms(least=1),
        "fields": lambda: one.fields("a"),
    }
    asks[asked]()
    assert faults(one) == [says]


@pytest.mark.parametrize("said", ["99999999999999d", "9999999999999h", 2**37])
def test_a_length_of_more_years_than_a_calendar_has_is_none(said: object) -> None:
    assert length_ms(said) is None
    assert length_ms("1000000d") == 1_000_000 * DAY_MS
