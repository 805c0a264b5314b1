"""How far a run is, and how it is stopped from another process."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

from kumi.evaluator.watch import Progress, Silent, Slips

HALF = Progress(3, "fifo seed 0", played=1000, from_played=0, expected=2000, virtual_ms=60_000, real_ms=2000)


def test_how_far_how_fast_and_how_long_still() -> None:
    assert HALF.part == 0.5
    assert HALF.events_per_s == 500
    assert HALF.left_ms == 2000


def test_a_run_that_was_taken_up_again_goes_by_what_it_played_since() -> None:
    resumed = replace(HALF, played=1500, from_played=1000)
    assert resumed.events_per_s == 250
    assert resumed.left_ms == 2000  # a quarter took two seconds, a quarter is left


def test_nobody_knows_the_end_where_nobody_knows_how_much_is_to_come() -> None:
    endless = replace(HALF, expected=None)
    assert (endless.part, endless.left_ms) == (None, None)


def test_nothing_is_said_before_anything_is_played() -> None:
    begun = replace(HALF, played=0, real_ms=0)
    assert (begun.part, begun.left_ms, begun.events_per_s) == (0, None, 0)


def test_more_events_than_were_announced_are_all_of_them() -> None:
    assert replace(HALF, played=5000).part == 1.0


def test_slips_carry_progress_and_the_stop_across_processes(tmp_path: Path) -> None:
    slips = Slips(tmp_path)
    there = pickle.loads(pickle.dumps(slips))
    there.told(replace(HALF, number=11))
    there.told(HALF)
    there.told(replace(HALF, played=1200))
    assert slips.read() == [replace(HALF, played=1200), replace(HALF, number=11)]
    assert not there.stopped()
    slips.stop()
    assert there.stopped()


def test_a_folder_that_is_not_there_fails_nobody(tmp_path: Path) -> None:
    elsewhere = Slips(tmp_path / "on another machine")
    elsewhere.told(HALF)
    elsewhere.stop()
    assert (elsewhere.read(), elsewhere.stopped()) == ([], False)


def test_nobody_stops_a_run_that_nobody_watches() -> None:
    Silent().told(HALF)
    assert not Silent().stopped()
