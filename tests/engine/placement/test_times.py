from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.placement.times import duration_ms


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59))
def test_parts_add_up(hours: int, minutes: int, seconds: int) -> None:
    total = 1000 * (3600 * hours + 60 * minutes + seconds)
    assert duration_ms(f"{hours}h{minutes}m{seconds}s") == (total or None)


@pytest.mark.parametrize(
    ("text", "ms"), [("1m", 60_000), ("1.5h", 5_400_000), (".5s", 500), ("500ms", 500), ("1000us", 1), ("1µs", 0)]
)
def test_a_length_is_read_by_its_units(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "1", "h", "1d", "-1s", "1s x", "0s"])
def test_what_is_no_length_or_none_above_0_is_none(text: str) -> None:
    assert duration_ms(text) is None
