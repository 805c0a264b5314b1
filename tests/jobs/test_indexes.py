"""Completion indexes and their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.jobs.indexes import parse, text_of


@given(st.frozensets(st.integers(0, 200)))
def test_what_was_written_is_read(indexes: frozenset[int]) -> None:
    assert parse(text_of(indexes), 201) == indexes


@given(st.frozensets(st.integers(0, 50)), st.integers(0, 50))
def test_indexes_past_the_limit_are_not_read(indexes: frozenset[int], limit: int) -> None:
    assert parse(text_of(indexes), limit) == {i for i in indexes if i < limit}


@pytest.mark.parametrize(
    ("indexes", "text"), [((), ""), ((3,), "3"), ((0, 1), "0-1"), ((5, 0, 1, 2, 7), "0-2,5,7"), ((1, 3, 4), "1,3-4")]
)
def test_runs_are_joined(indexes: tuple[int, ...], text: str) -> None:
    assert text_of(indexes) == text


def test_what_is_no_index_is_skipped() -> None:
    assert parse("x,1,2-y,-3,4", 10) == {1, 4}
