from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.shares import share_of


@given(st.integers(0, 100), st.integers(0, 10_000))
def test_a_share_lies_between_its_roundings(percent: int, total: int) -> None:
    down, up = share_of(f"{percent}%", total, up=False), share_of(f"{percent}%", total, up=True)
    assert down <= percent * total / 100 <= up <= down + 1


@pytest.mark.parametrize(("value", "number"), [(3, 3), ("25%", 3), (None, 0), ("0%", 0), ("100%", 10)])
def test_numbers_stay_and_shares_are_of_the_whole(value: int | str | None, number: int) -> None:
    assert share_of(value, 10, up=True) == number
