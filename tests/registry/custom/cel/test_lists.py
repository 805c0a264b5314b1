"""Lists: isSorted, sum, min, max."""

from __future__ import annotations

import pytest

from tests.registry.custom.cel.run import run


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2, 2].isSorted()", True), ("['b', 'a'].isSorted()", False), ("[].isSorted()", True), ("[1, 2].sum()", 3),
        ("[].sum()", 0), ("[3, 1].min()", 1), ("['a', 'b'].max()", "b"), ("[1.5, 2.0].sum()", 3.5),
        ("[duration('1s'), duration('2s')].sum() == duration('3s')", True),
    ],
)  # fmt: skip
def test_what_lists_tell(text: str, value: object) -> None:
    assert run(text) == value


@pytest.mark.parametrize("text", ["[].min()", "[].max()"])
def test_an_empty_list_has_no_least_and_no_greatest(text: str) -> None:
    with pytest.raises(ValueError, match="empty list"):
        run(text)
