"""Comparing resource versions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.runtime.revisions import newest, reached


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_integers_compare_as_integers(a: int, b: int) -> None:
    assert reached(str(a), str(b)) is (a >= b)
    assert newest(str(a), str(b)) == str(max(a, b))


def test_what_is_no_integer_is_only_equal_or_unknown() -> None:
    assert reached("x1", "x1") is True
    assert reached("x2", "x1") is None
    assert reached("", "5") is None
    assert newest("x1", "x2") == "x2"
