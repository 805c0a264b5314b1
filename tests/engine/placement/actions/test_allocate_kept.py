"""What gangs were promised is theirs before anybody else has a turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement import rounds
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.tasks import Status
from kumi.engine.placement.ways import KUMI, VOLCANO, Ways
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, conf, gang, line, task


def contest(cpus: int = 1) -> Scene:
    """A gang whose turn comes first, and one that was promised node n."""
    made = Scene(line(), node("n", cpu=cpus))
    for at, name in enumerate(("first", "owed")):
        made.put(gang(name, phase=Phase.INQUEUE, created_ms=at), task(f"{name}-0", name, cpu=1))
    return made


def run(made: Scene, way: Ways = KUMI, *owed: str) -> rounds.Round:
    around = replace(made.around, promised=dict.fromkeys(owed, "n"))
    return rounds.run(around, conf("gang", "predicates", actions=("allocate",)), PLUGINS, way)


@pytest.mark.parametrize(
    ("way", "owed", "bound"),
    [
        (KUMI, ("owed-0",), "owed-0"),
        (KUMI, (), "first-0"),
        (KUMI, ("gone",), "first-0"),
        (VOLCANO, ("owed-0",), "first-0"),
    ],
)
def test_room_is_for_whom_it_was_promised_to(way: Ways, owed: tuple[str, ...], bound: str) -> None:
    assert run(contest(), way, *owed).outcome.binds == [(bound, "n")]


def leaving() -> Scene:
    """Somebody is leaving node n, for whom the other one waits."""
    made = contest()
    made.put(gang("x", phase=Phase.RUNNING), task("x-0", "x", cpu=1, node="n", terminating=True))
    return made


def test_it_stays_promised_while_somebody_is_still_leaving() -> None:
    done = run(leaving(), KUMI, "owed-0")
    assert (done.status["owed-0"], done.node["owed-0"]) == (Status.PIPELINED, "n")
    assert done.status["first-0"] is Status.PENDING
    assert run(leaving()).status["first-0"] is Status.PIPELINED


def test_what_is_free_elsewhere_by_now_is_taken_instead() -> None:
    made = leaving()
    made.put(node("m", cpu=1))
    assert run(made, KUMI, "owed-0").outcome.binds == [("owed-0", "m")]


def test_a_gang_gets_as_many_turns_as_it_was_promised_places_and_then_its_own() -> None:
    made = contest(4)
    made.put(*(task(f"owed-{n}", "owed", cpu=1) for n in range(1, 4)), task("first-1", "first", cpu=1))
    bound = [uid for uid, _ in run(made, KUMI, "owed-0", "owed-1").outcome.binds]
    assert bound == ["owed-0", "owed-1", "first-0", "first-1"]
