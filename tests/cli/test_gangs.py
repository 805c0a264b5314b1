"""Rows of `kumi gangs`."""

from __future__ import annotations

from kumi.cli.gangs import row
from kumi.sdk.gangs import Gang


def test_a_gang_shows_how_many_of_its_pods_are_placed_and_why_the_others_are_not() -> None:
    gang = Gang("ns", "g", "q", "Inqueue", 4, 4, 1, {"pods": "1"}, {"pods": "3"}, "Full.")
    assert row(gang) == ("ns/g", "q", "Inqueue", "1/4", "1 pods", "3 pods", "Full.")


def test_a_gang_of_which_pods_are_missing_is_measured_by_its_minimum() -> None:
    assert row(Gang("ns", "g", "q", "Pending", 4, 1, 0))[3] == "0/4"
    assert row(Gang("ns", "g", "q", "Running", 2, 3, 3))[3] == "3/3"
