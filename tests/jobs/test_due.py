from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.meta import ObjectMeta, parse_time
from kumi.jobs.due import DEADLINE, EXECUTION, Due, due, length_ms, told

CREATED = "2026-01-01T00:00:00Z"
AT = parse_time(CREATED) or 0


def said(**annotations: str) -> Due:
    by_name = {key.replace("__", "/").replace("_", "-").replace("-dot-", "."): v for key, v in annotations.items()}
    return due(ObjectMeta(name="x", creation_timestamp=CREATED, annotations=by_name))


def test_a_deadline_is_a_time_and_an_execution_time_a_length() -> None:
    found = said(kumi_dot_dev__deadline="2026-01-01T00:00:05Z", kumi_dot_dev__execution_duration="2s")
    assert found == Due(AT + 5000, 2000)


def test_the_evaluators_words_count_from_the_creation_whatever_their_domain() -> None:
    assert said(any_dot_org__deadline_duration="1m", any_dot_org__execution_duration="30") == Due(AT + 60_000, 30_000)


def test_kumis_own_words_come_first_and_what_cannot_be_read_is_not_said() -> None:
    both = {"a_dot_b__deadline_duration": "1m", "a_dot_b__execution_duration": "1m"}
    assert said(kumi_dot_dev__deadline="2026-01-01T00:00:05Z", kumi_dot_dev__execution_duration="2s", **both) == Due(
        AT + 5000, 2000
    )
    assert said(kumi_dot_dev__deadline="soon", kumi_dot_dev__execution_duration="long", **both) == Due(
        AT + 60_000, 60_000
    )


def test_of_two_domains_the_smaller_one_counts() -> None:
    assert said(b__deadline_duration="2m", a__deadline_duration="1m").deadline_ms == AT + 60_000


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1h30m", 5_400_000),
        ("90", 90_000),
        ("1.5", 1500),
        ("", None),
        ("0", None),
        ("-1", None),
        ("x", None),
        ("2d", 172_800_000),
    ],
)
def test_lengths_are_written_like_1h30m_or_in_seconds(text: str, ms: int | None) -> None:
    assert length_ms(text) == ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1d12h", 129_600_000),
        ("0.7d", 60_480_000),
        ("1d0s", 86_400_000),
        ("0d", None),
        ("d", None),
        ("1d2", None),
        ("1h1d", None),
    ],
)
def test_days_are_a_length_too(text: str, ms: int | None) -> None:
    assert length_ms(text) == ms


@pytest.mark.parametrize("text", ["1000000000d", "9" * 400 + "h", "9" * 400 + "d", "9" * 400])
def test_what_is_longer_than_any_calendar_is_no_length(text: str) -> None:
    assert length_ms(text) is None


def test_nothing_said_is_nothing_known() -> None:
    assert said() == Due()
    assert due(ObjectMeta(name="x", annotations={"a/deadline-duration": "1m"})) == Due()


@given(st.lists(st.tuples(st.integers(1, 9_999_999), st.integers(1, 9_999_999)), min_size=1, max_size=3))
def test_what_is_made_for_objects_says_the_same_whenever_it_is_made(lengths: list[tuple[int, int]]) -> None:
    metas = [
        ObjectMeta(
            name="x",
            creation_timestamp=CREATED,
            annotations={"a/deadline-duration": f"{deadline}ms", "a/execution-duration": f"{execution}ms"},
        )
        for deadline, execution in lengths
    ]
    made = ObjectMeta(name="y", creation_timestamp="2026-02-02T00:00:00Z", annotations=told(*metas))
    assert due(made) == Due(AT + min(d for d, _ in lengths), max(e for _, e in lengths))


def test_what_is_made_for_objects_that_say_nothing_says_nothing() -> None:
    assert told() == told(ObjectMeta(name="x", creation_timestamp=CREATED, annotations={DEADLINE: "soon"})) == {}
    said = {DEADLINE: "2026-01-01T01:00:00+01:00", "b/execution-duration": "1m30s", "other": "x"}
    assert told(ObjectMeta(name="x", annotations=said)) == {DEADLINE: "2026-01-01T00:00:00Z", EXECUTION: "90s"}
