"""Shares of GPUs, as annotations say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.gpu_sharing import COUNT, INDEX, MILLI, SHARE, Wanted, errors_of, numbers, text, wanted


@pytest.mark.parametrize(
    ("annotations", "asked", "expected"),
    [
        ({}, 0, Wanted(0, 0)),
        ({}, 2000, Wanted(2000, 0)),
        ({SHARE: "460"}, 0, Wanted(460, 460)),
        ({SHARE: "1000"}, 0, Wanted(1000, 0)),
        ({MILLI: "460"}, 0, Wanted(460, 460)),
        ({MILLI: "460", COUNT: "1"}, 0, Wanted(460, 460)),
        ({MILLI: "1000", COUNT: "8"}, 0, Wanted(8000, 0)),
        ({COUNT: "2"}, 0, Wanted(2000, 0)),
        ({SHARE: "100", MILLI: "460", COUNT: "2"}, 0, Wanted(100, 100)),
    ],
)
def test_what_a_pod_wants(annotations: dict[str, str], asked: int, expected: Wanted) -> None:
    assert wanted(annotations, asked) == expected
    assert errors_of(annotations, asked, "at") == []


@pytest.mark.parametrize(
    ("annotations", "asked", "keys"),
    [
        ({SHARE: "0"}, 0, [SHARE]),
        ({SHARE: "1001"}, 0, [SHARE]),
        ({SHARE: "0.46"}, 0, [SHARE]),
        ({SHARE: "-1"}, 0, [SHARE]),
        ({SHARE: ""}, 0, [SHARE]),
        ({SHARE: "²"}, 0, [SHARE]),
        ({MILLI: "500", COUNT: "2"}, 0, [MILLI]),
        ({MILLI: "500", COUNT: "none"}, 0, [COUNT]),
        ({COUNT: "0"}, 0, [COUNT]),
        ({SHARE: "460"}, 1000, [SHARE]),
        ({COUNT: "2"}, 1000, [COUNT]),
    ],
)
def test_what_is_wrong_is_told_with_its_path(annotations: dict[str, str], asked: int, keys: list[str]) -> None:
    assert [error.path for error in errors_of(annotations, asked, "at")] == [f"at[{key}]" for key in keys]


@given(st.lists(st.integers(0, 999), max_size=8).map(tuple))
def test_numbers_are_read_back_as_they_were_written(devices: tuple[int, ...]) -> None:
    assert numbers({INDEX: text(devices)} if devices else {}) == devices


@pytest.mark.parametrize("written", ["", "a", "0,", "0;1", "-1", "99999"])
def test_numbers_that_cannot_be_read_are_none(written: str) -> None:
    assert numbers({INDEX: written}) == ()
