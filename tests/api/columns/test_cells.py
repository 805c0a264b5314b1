from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.columns.cells import age, condition, duration, joined, pairs

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (-1, "0s"),
        (-5, "<invalid>"),
        (119, "119s"),
        (120, "2m"),
        (3 * MINUTE + 12, "3m12s"),
        (10 * MINUTE + 30, "10m"),
        (2 * HOUR, "120m"),
        (5 * HOUR + 30 * MINUTE, "5h30m"),
        (8 * HOUR + 30 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (3 * DAY + 4 * HOUR, "3d4h"),
        (30 * DAY, "30d"),
        (2 * YEAR + 40 * DAY, "2y40d"),
        (9 * YEAR, "9y"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: int, text: str) -> None:
    assert duration(seconds) == text


@given(st.integers(0, 20 * YEAR))
def test_a_duration_is_never_more_than_what_it_stands_for(seconds: int) -> None:
    units = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "y": YEAR}
    said, number = 0, ""
    for letter in duration(seconds):
        if letter.isdigit():
            number += letter
        else:
            said, number = said + int(number) * units[letter], ""
    assert said <= seconds
    assert seconds - said < max(seconds / 8, 1)


def test_an_age_counts_from_a_time_and_is_unknown_without_one() -> None:
    assert age("1970-01-01T00:00:10Z", 70_500) == "60s"
    assert age(None, 0) == age("soon", 0) == "<unknown>"


def test_conditions_pairs_and_lists() -> None:
    obj = {"status": {"conditions": [{"type": "A", "status": "True"}]}}
    assert condition(obj, "A") == {"type": "A", "status": "True"}
    assert condition(obj, "B") is condition({}, "A") is None
    assert (pairs({"b": "2", "a": "1"}), pairs({}), pairs(None)) == ("a=1,b=2", "<none>", "<none>")
    assert (joined(["a", 1]), joined([])) == ("a,1", "<none>")
