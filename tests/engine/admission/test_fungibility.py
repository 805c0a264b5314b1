"""Fungibility: which flavor is better, and where the search stops."""

from __future__ import annotations

from itertools import product

import pytest

from kumi.engine.admission.assignment import Mode
from kumi.engine.admission.fungibility import better, rank, stops
from kumi.engine.model import Fungibility

ALL = [(mode, level) for mode in Mode for level in (0, 1, 2)]
HOW = [Fungibility(*flags) for flags in product((True, False), repeat=3)]
PLAIN, PREEMPT_FIRST = Fungibility(), Fungibility(prefer_preemption=True)


@pytest.mark.parametrize("how", HOW)
def test_better_is_an_order_and_no_fit_is_never_better(how: Fungibility) -> None:
    for one, other in product(ALL, ALL):
        assert not (better(one, other, how) and better(other, one, how))
        assert not better((Mode.NO_FIT, one[1]), other, how)
        if one[0] is not Mode.NO_FIT and other[0] is Mode.NO_FIT:
            assert better(one, other, how)
    for a, b, c in product(ALL, ALL, ALL):
        assert not (better(a, b, how) and better(b, c, how)) or better(a, c, how)


@pytest.mark.parametrize("how", HOW)
def test_what_can_not_succeed_never_outranks_what_could(how: Fungibility) -> None:
    for level, mode in product((0, 1, 2), (Mode.PREEMPT, Mode.RECLAIM, Mode.FIT)):
        assert better((mode, 2), (Mode.NO_CANDIDATES, level), how)


def test_the_mode_goes_before_the_level_unless_preemption_is_preferred() -> None:
    fits, reclaims = (Mode.FIT, 2), (Mode.RECLAIM, 1)
    assert better(fits, reclaims, PLAIN)
    assert better(reclaims, fits, PREEMPT_FIRST)
    assert better((Mode.FIT, 1), (Mode.PREEMPT, 1), PREEMPT_FIRST)
    assert better((Mode.RECLAIM, 1), (Mode.PREEMPT, 0), PLAIN)
    assert better((Mode.PREEMPT, 0), (Mode.PREEMPT, 1), PLAIN)


def test_equal_flavors_are_not_better_than_each_other() -> None:
    assert rank(Mode.FIT, 1, PLAIN) == rank(Mode.FIT, 1, PLAIN)
    assert not better((Mode.FIT, 1), (Mode.FIT, 1), PLAIN)


@pytest.mark.parametrize(
    ("mode", "level", "at_borrowing", "at_preemption", "answer"),
    [
        (Mode.FIT, 0, False, False, True),
        (Mode.FIT, 1, True, False, True),
        (Mode.FIT, 1, False, True, False),
        (Mode.PREEMPT, 0, True, False, False),
        (Mode.RECLAIM, 0, False, True, True),
        (Mode.PREEMPT, 1, True, True, True),
        (Mode.PREEMPT, 1, False, True, False),
        (Mode.NO_CANDIDATES, 0, True, True, False),
        (Mode.NO_FIT, 0, True, True, False),
    ],
)
def test_where_the_search_stops(mode: Mode, level: int, at_borrowing: bool, at_preemption: bool, answer: bool) -> None:
    how = Fungibility(stop_at_borrowing=at_borrowing, stop_at_preemption=at_preemption)
    assert stops(mode, level, how) is answer
