"""A length of time, for people."""

from __future__ import annotations

import pytest

from kumi.evaluator.span import span


@pytest.mark.parametrize(
    ("ms", "said"), [(0, "00:00:00"), (3_723_000, "01:02:03"), (90_061_250, "1d 01:01:01.250"), (5, "00:00:00.005")]
)
def test_how_long(ms: int, said: str) -> None:
    assert span(ms) == said
