"""Reclaim, as Volcano has it."""

from __future__ import annotations

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task

PLUGINS = ("gang", "proportion")


def scene(least: int = 1, mine: int = 1, reclaimable: bool = True) -> Scene:
    """Queue a holds all four cpus, b has asked for `mine`."""
    made = Scene(line("a", reclaimable=reclaimable), line("b"), node("n", cpu=4))
    made.put(gang("x", "a", least=0, phase=Phase.RUNNING), *(task(f"x-{n}", "x", cpu=1, node="n") for n in range(4)))
    made.put(gang("y", "b", least=least, phase=Phase.INQUEUE), *(task(f"y-{n}", "y", cpu=1) for n in range(mine)))
    return made


def test_a_queue_takes_back_what_it_deserves() -> None:
    done = scene(2, 2).run("reclaim", *PLUGINS)
    assert len(done.outcome.evictions) == 2
    assert [done.status[f"y-{n}"] for n in range(2)] == [Status.PIPELINED] * 2


def test_never_more_than_that() -> None:
    assert scene(3, 3).run("reclaim", *PLUGINS).outcome.evictions == []


@pytest.mark.parametrize("spoiled", ["queue", "task", "never"])
def test_who_gives_nothing_or_may_not_take(spoiled: str) -> None:
    made = scene(reclaimable=spoiled != "queue")
    if spoiled == "task":
        made.put(*(task(f"x-{n}", "x", cpu=1, node="n", preemptable=False) for n in range(4)))
    elif spoiled == "never":
        made.put(task("y-0", "y", cpu=1, never_preempts=True))
    assert made.run("reclaim", *PLUGINS).outcome.evictions == []


def test_an_idle_node_is_passed_over() -> None:
    made = scene()
    made.put(node("idle", cpu=1))
    assert len(made.run("reclaim", "gang").outcome.evictions) == 1


def test_what_a_gang_took_is_taken_back_where_it_is_not_pipelined() -> None:
    made = scene(2, 2)
    made.put(task("y-1", "y", cpu=9))
    done = made.run("reclaim", *PLUGINS)
    assert done.outcome.evictions == []
    assert {done.status[f"x-{n}"] for n in range(4)} == {Status.RUNNING}
