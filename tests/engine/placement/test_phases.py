"""Phases of pod groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement.phases import of_counts, phase_of
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def phase(least: int, before: Phase, *phases: str, leaving: int = 0, plugin: str = "gang") -> Phase:
    """Of a gang whose pods are in these phases, on a node but the pending ones; so many of them are leaving."""
    scene = Scene(line(), node("n", cpu=9), gang("a", least=least, phase=before))
    for number, word in enumerate(phases):
        made = task(f"a-{number}", "a", cpu=1, phase=word, node="" if word == "Pending" else "n")
        scene.put(replace(made, terminating=number < leaving))
    return phase_of(scene.open(plugin), scene.job("a"))


@pytest.mark.parametrize(
    ("least", "phases", "now"),
    [
        (2, ["Running", "Running", "Pending"], Phase.RUNNING),
        (2, ["Running", "Succeeded"], Phase.RUNNING),
        (2, ["Succeeded", "Failed"], Phase.COMPLETED),
        (2, ["Running", "Pending"], Phase.UNKNOWN),
        (2, ["Pending", "Pending"], Phase.INQUEUE),
        (2, ["Succeeded", "Pending"], Phase.INQUEUE),
        (0, [], Phase.COMPLETED),
        (0, ["Pending"], Phase.COMPLETED),
    ],
)
def test_the_phase_is_what_became_of_the_minimum(least: int, phases: list[str], now: Phase) -> None:
    assert phase(least, Phase.INQUEUE, *phases) is now


@pytest.mark.parametrize("before", [Phase.NEW, Phase.PENDING, Phase.RUNNING, Phase.UNKNOWN])
def test_a_gang_that_lost_its_pods_is_pending(before: Phase) -> None:
    assert phase(2, before, "Pending", "Pending") is Phase.PENDING


def test_tasks_that_leave_a_node_are_scheduled_still() -> None:
    assert phase(2, Phase.RUNNING, "Running", "Running", leaving=2) is Phase.RUNNING
    assert phase(2, Phase.RUNNING, "Running", "Running", leaving=1) is Phase.UNKNOWN
    assert phase(2, Phase.RUNNING, "Running", "Running", leaving=1, plugin="drf") is Phase.RUNNING


@pytest.mark.parametrize(
    ("scheduled", "ended", "phase_"),
    [(3, 3, Phase.COMPLETED), (3, 2, Phase.RUNNING), (2, 2, Phase.INQUEUE), (0, 0, Phase.INQUEUE)],
)
def test_counts_alone_say_the_rest(scheduled: int, ended: int, phase_: Phase) -> None:
    assert of_counts(scheduled, ended, 3, Phase.INQUEUE) is phase_
    if phase_ is Phase.INQUEUE:
        assert of_counts(scheduled, ended, 3, Phase.RUNNING) is Phase.PENDING
