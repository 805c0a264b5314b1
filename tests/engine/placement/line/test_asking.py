"""Asking: what one look at a line found out."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from kumi.engine.placement.line.asking import No, Places, Raised, Reservation, Seen, Taken, Try
from kumi.engine.placement.line.outlook import Needs
from kumi.engine.placement.nodes import Ints


@dataclass
class Somebody:
    key: str
    name: str = ""
    priority: int = 0
    said_ms: int | None = None
    kind: object = None

    def start(self, raised: Raised | None) -> Try:
        return Try.FULL

    def taken(self) -> Taken:
        return ()

    def sketch(self) -> Places | None:
        return None

    def helped(self, rows: Ints) -> bool:
        return False

    def needs(self) -> Needs | None:
        return None


def test_all_are_behind_the_first_that_waits_where_nobody_else_is_named() -> None:
    seen = Seen()
    seen.refuse(Somebody("a", "pod a"), No.ASIDE)
    seen.refuse(Somebody("b", "pod b"), No.DELAYS, "pod z")
    seen.refuse(Somebody("c", "pod c"), No.FULL)
    seen.refuse(Somebody("d", "pod d"), No.DELAYS)
    assert (seen.first, seen.name) == ("c", "pod b")
    assert seen.refused == {
        "a": (No.ASIDE, ""),
        "b": (No.DELAYS, "pod z"),
        "c": (No.FULL, "pod b"),
        "d": (No.DELAYS, "pod b"),
    }


@pytest.mark.parametrize(("end_ms", "wanted"), [(None, 120), (110, 110), (130, 120)])
def test_it_is_looked_at_again_when_something_ends_or_somebody_is_to_start(end_ms: int | None, wanted: int) -> None:
    """Not for one that waits for what is overdue: each millisecond would be next."""
    times = {"past": 90, "overdue": 101, "next": 120, "later": 140}
    seen = Seen(reservations={key: Reservation(key, key, 0, at_ms, ()) for key, at_ms in times.items()})
    assert seen.wake_ms(100, end_ms) is None
    seen.refuse(Somebody("next"), No.FULL)
    assert seen.wake_ms(100, end_ms) == wanted
    assert Seen(refused=seen.refused).wake_ms(100, None) is None
