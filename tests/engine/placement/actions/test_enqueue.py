"""Enqueue: which gangs may have their pods made."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.engine.gangs import Phase
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line


def let_in(scene: Scene, *plugins: Any) -> list[str]:
    phases = scene.run("enqueue", *(plugins or ("proportion",))).phases
    return [key[3:] for key, phase in phases.items() if phase is Phase.INQUEUE]


def hall(**queues: Any) -> Scene:
    return Scene(node("n", cpu=4, memory="9Gi"), *(line(name, **said) for name, said in (queues or {"q": {}}).items()))


def test_gangs_are_let_in_in_their_order_while_the_plugins_agree() -> None:
    scene = hall()
    scene.put(*(gang(name, needs={"cpu": 2}, created_ms=age) for name, age in (("c", 1), ("a", 3), ("b", 2))))
    assert let_in(scene) == ["b", "c"]


def test_one_that_is_turned_away_stops_no_other() -> None:
    scene = hall()
    scene.put(gang("a", needs={"cpu": 5}), gang("b", needs={"cpu": 4}))
    assert let_in(scene) == ["b"]


def test_one_that_does_not_say_what_it_needs_is_let_in_unasked() -> None:
    scene = hall(q={"capability": {"cpu": 1}})
    scene.put(gang("a"), gang("b", needs={"cpu": 2}))
    assert let_in(scene) == ["a"]


def test_one_whose_workload_was_admitted_is_past_the_queue_and_has_no_claim_on_it() -> None:
    scene = hall(q={"capability": {"cpu": 1}})
    scene.put(gang("a", needs={"cpu": 1}, phase=Phase.INQUEUE, workload="ns/w"), gang("b", needs={"cpu": 1}))
    assert scene.run("enqueue", "proportion").phases == {"ns/b": Phase.INQUEUE}


@pytest.mark.parametrize("phase", [Phase.INQUEUE, Phase.RUNNING, Phase.UNKNOWN, Phase.COMPLETED])
def test_only_gangs_that_wait_are_asked_about(phase: Phase) -> None:
    scene = hall()
    scene.put(gang("old", needs={"cpu": 4}, phase=phase), gang("new", needs={"cpu": 1}))
    claims = phase is Phase.INQUEUE
    assert let_in(scene) == (["old"] if claims else ["new"])


def test_queues_take_turns_by_their_order() -> None:
    scene = hall(a={"weight": 1}, b={"priority": 1})
    scene.put(*(gang(f"{q}{n}", q, needs={"cpu": 2}) for q in "ab" for n in range(3)))
    assert let_in(scene, "overcommit", "proportion") == ["b0", "b1"]
