from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement.actions.gangreclaim import candidates
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def hall(deserved: int = 2, waits: int = 2) -> Scene:
    made = Scene(node("n", cpu=4), line("a", deserved={"cpu": 2}), line("b", deserved={"cpu": deserved}))
    made.put(gang("x", "a", least=0, phase=Phase.RUNNING), *(task(f"x-{n}", "x", cpu=1, node="n") for n in range(4)))
    made.put(gang("y", "b", least=waits, phase=Phase.INQUEUE))
    made.put(*(task(f"y-{n}", "y", cpu=1) for n in range(waits)))
    return made


def evicted(made: Scene) -> list[str]:
    return sorted(uid for uid, _ in made.run("gangreclaim", "gang", "capacity").outcome.evictions)


def test_it_takes_back_for_all_that_wait_at_once() -> None:
    assert len(evicted(hall(2, 2))) == 2


def test_nothing_where_the_queue_may_not_take_back_for_all_of_them() -> None:
    assert evicted(hall(2, 3)) == []


@pytest.mark.parametrize("spoiled", ["queue", "group", "task", "mine"])
def test_who_is_no_candidate(spoiled: str) -> None:
    made = hall()
    group = gang("x", "a", least=0)
    if spoiled == "queue":
        made.put(line("a", reclaimable=False))
    elif spoiled == "group":
        made.put(replace(group, preemptable=False))
    elif spoiled == "task":
        made.put(*(task(f"x-{n}", "x", cpu=1, node="n", preemptable=False) for n in range(4)))
    else:
        made.put(replace(group, queue="b"))
    assert candidates(made.open("gang"), made.job("y")) == []


def test_bound_tasks_are_no_candidates() -> None:
    made = hall()
    made.put(task("x-0", "x", cpu=1, node="n", phase="Pending"))
    assert [pod.uid for pod in candidates(made.open("gang"), made.job("y"))] == ["x-1", "x-2", "x-3"]
