from __future__ import annotations

import pytest

from kumi.api.validation.amounts import at_most_all, is_zero, number_or_percent


@pytest.mark.parametrize(
    ("value", "good"), [(None, True), (0, True), (-1, False), ("5%", True), ("5", False), ("x%", False), ("-5%", False)]
)
def test_a_number_or_a_share(value: object, good: bool) -> None:
    assert (number_or_percent(value, "p") == []) is good


def test_no_share_is_more_than_all() -> None:
    assert at_most_all("100%", "p") == []
    assert [e.path for e in at_most_all("101%", "p")] == ["p"]


@pytest.mark.parametrize(
    ("value", "zero"), [(None, True), (0, True), ("0%", True), ("00%", True), (1, False), ("1%", False)]
)
def test_nothing_in_every_writing(value: object, zero: bool) -> None:
    assert is_zero(value) is zero
