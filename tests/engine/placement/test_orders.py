"""Orders: who goes first where no plug-in has an opinion."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.placement.orders import by_number
from kumi.testing.builders import pod


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ns/web-0-9", "ns/web-0-10"),  # numbers, not letters
        ("ns/z-0-1", "ns/a-0-2"),
    ],
)
def test_tasks_go_by_the_number_at_the_end_of_their_names(first: str, second: str) -> None:
    early, late = pod(first, created_ms=9), pod(second, created_ms=1)
    assert by_number(early, late) < 0 < by_number(late, early)


@pytest.mark.parametrize("names_", [("ns/a-1", "ns/b-0"), ("ns/a-x-1", "ns/b-x-y"), ("ns/a-x-1", "ns/b-y-1")])
def test_tasks_without_different_numbers_go_by_their_age(names_: tuple[str, str]) -> None:
    early, late = pod(names_[0], created_ms=1), pod(names_[1], created_ms=2)
    assert by_number(early, late) < 0
    assert by_number(replace(early, created_ms=2, uid="u2"), replace(late, uid="u1")) > 0
