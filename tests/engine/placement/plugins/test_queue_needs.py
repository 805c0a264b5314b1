from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement.plugins.queue_needs import Needs, needs, waiting_for
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def scene(phase: Phase, least: int = 1, running: int = 0, gated: int = 0) -> Scene:
    """A gang that needs 4 cpus, and so many of its tasks of 1 cpu."""
    made = Scene(line(), node("n", cpu=9), gang("a", least=least, needs={"cpu": 4}, phase=phase))
    made.put(*(task(f"a-{n}", "a", cpu=1, node="n") for n in range(running)))
    made.put(*(replace(task(f"g-{n}", "a", cpu=1), gated=True) for n in range(gated)))
    return made


def inqueue(made: Scene) -> float:
    return Needs(made.open()).open().of("q").get("cpu", 0)


@pytest.mark.parametrize(
    ("phase", "least", "running", "cpu"),
    [
        (Phase.INQUEUE, 1, 0, 4000),
        (Phase.INQUEUE, 9, 1, 3000),
        (Phase.RUNNING, 2, 2, 2000),
        (Phase.RUNNING, 3, 2, 0),
        (Phase.RUNNING, 1, 6, 0),
        (Phase.PENDING, 1, 0, 0),
        (Phase.UNKNOWN, 1, 1, 0),
    ],
)
def test_gangs_that_were_let_in_are_to_get_what_they_have_not(phase: Phase, least: int, running: int, cpu: int) -> None:
    assert inqueue(scene(phase, least, running)) == cpu


def test_what_somebody_else_holds_back_does_not_count() -> None:
    assert inqueue(scene(Phase.INQUEUE, gated=1)) == 3000
    assert inqueue(scene(Phase.INQUEUE, gated=5)) == 0


def test_a_gang_that_is_let_in_adds_what_it_needs() -> None:
    made = scene(Phase.PENDING, gated=1)
    kept = Needs(made.open()).open()
    kept.let_in(made.job("a"))
    kept.let_in(made.job("a"))
    assert kept.of("q") == {"cpu": 6000}
    assert kept.of("other") == {}


def test_elastic_is_what_gangs_have_past_their_need() -> None:
    made = scene(Phase.RUNNING, running=6)
    made.put(gang("b"), task("b-0", "b", cpu=1, node="n"))
    elastic = Needs(made.open()).open().elastic("q")
    assert elastic["cpu"] == 3000
    assert elastic["pods"] == 7000  # nobody says that it needs pods


def test_needs_are_what_is_said_and_nothing_otherwise() -> None:
    made = scene(Phase.PENDING)
    made.put(gang("b"))
    assert needs(made.job("a")) == {"cpu": 4000}
    assert needs(made.job("b")) == {}
    assert waiting_for(made.open(), made.job("a")) == {"cpu": 4000}
