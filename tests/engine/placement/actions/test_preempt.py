"""Preempt, as Volcano has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase, PodGroup, PriorityClass, Queue
from kumi.engine.placement import rounds
from kumi.engine.placement.conf import Arguments, Conf
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, conf, gang, line, option, task

HIGH, LOW = PriorityClass("high", 100), PriorityClass("low", 1)


def high(least: int = 1, **fields: object) -> PodGroup:
    return gang("h", least=least, priority_class="high", phase=Phase.INQUEUE, **fields)


def low(name: str = "l", least: int = 0, queue: str = "q") -> PodGroup:
    return gang(name, queue, least=least, priority_class="low", phase=Phase.RUNNING)


def scene(*nodes: object) -> Scene:
    return Scene(line(), HIGH, LOW, *nodes)


def evicted(done: rounds.Round) -> list[str]:
    return [uid for uid, _ in done.outcome.evictions]


def two_on_a_node() -> Scene:
    made = scene(node("n", cpu=2), low(), high())
    made.put(*(task(f"l-{n}", "l", cpu=1, node="n", priority=n) for n in range(2)), task("h-0", "h", cpu=1))
    return made


def test_a_task_takes_from_a_gang_that_matters_less_and_is_promised_the_place() -> None:
    done = two_on_a_node().run("preempt", "priority", "gang")
    assert done.outcome.evictions == [("l-0", "h-0")]
    assert (done.status["h-0"], done.node["h-0"]) == (Status.PIPELINED, "n")


def test_a_gang_gives_no_more_than_it_can_spare() -> None:
    made = two_on_a_node()
    made.put(replace(low(), least=2))
    assert evicted(made.run("preempt", "priority", "gang")) == []


@pytest.mark.parametrize("spoiled", ["equal priority", "not preemptable", "another queue", "never", "pending"])
def test_who_may_not_be_taken_or_may_not_take(spoiled: str) -> None:
    made = two_on_a_node()
    if spoiled == "equal priority":
        made.put(replace(low(), priority_class="high"))
    elif spoiled == "not preemptable":
        made.put(*(task(f"l-{n}", "l", cpu=1, node="n", preemptable=False) for n in range(2)))
    elif spoiled == "another queue":
        made.put(Queue("other"), low(queue="other"))
    elif spoiled == "never":
        made.put(task("h-0", "h", cpu=1, never_preempts=True))
    else:
        made.put(replace(high(), phase=Phase.PENDING))
    assert evicted(made.run("preempt", "priority", "gang")) == []


def test_a_gang_that_is_not_pipelined_takes_back_all_and_its_victims_run() -> None:
    made = scene(node("n", cpu=2), low(), high(least=3))
    made.put(*(task(f"l-{n}", "l", cpu=1, node="n", phase="Pending") for n in range(2)))
    made.put(*(task(f"h-{n}", "h", cpu=1) for n in range(3)))
    done = made.run("preempt", "priority", "gang")
    assert evicted(done) == []
    assert [done.status[f"l-{n}"] for n in range(2)] == [Status.RUNNING] * 2
    assert made.state.nodes.releasing.sum() == 0


def test_the_better_node_is_tried_first() -> None:
    made = scene(node("a", cpu=2), node("b", cpu=4), low(), high(), task("h-0", "h", cpu=1))
    made.put(*(task(f"l-{n}", "l", cpu=1, node=where) for n, where in enumerate("aabbb")))
    made.put(task("l-9", "l", cpu=1, node="b"))
    assert made.run("preempt", "priority", "gang", "binpack").node["h-0"] in "ab"
    assert made.run("preempt", "priority", "gang").node["h-0"] == "a"


def test_a_later_task_of_the_gang_takes_from_tasks_of_its_own_that_matter_less() -> None:
    made = scene(node("n", cpu=2), high(least=1))
    made.put(*(task(f"h-{n}", "h", cpu=1, node="n", priority=1) for n in range(2)), task("h-2", "h", cpu=1, priority=9))
    starving = option("gang", without=("enableJobStarving",))
    assert made.run("preempt", "priority", starving).outcome.evictions == [("h-0", "h-2")]


def test_with_a_dry_run_somebody_has_to_go_and_the_rest_stays() -> None:
    made = scene(node("n", cpu=5), low(), high(), task("h-0", "h", cpu=4))
    made.put(task("l-0", "l", cpu=1, node="n", priority=0), task("l-1", "l", cpu=4, node="n", priority=1))
    plain = conf("priority", "gang", actions=("preempt",))
    dry = Conf(plain.actions, plain.tiers, {"preempt": Arguments({"enableTopologyAwarePreemption": True})})
    said = [evicted(rounds.run(made.around, one, PLUGINS)) for one in (plain, dry)]
    assert said == [["l-0", "l-1"], ["l-1"]]


def test_with_a_dry_run_a_node_with_room_is_none() -> None:
    made = scene(node("a", cpu=2), node("b", cpu=1), low(), high(), task("h-0", "h", cpu=1))
    made.put(task("l-0", "l", cpu=1, node="a"), task("l-1", "l", cpu=1, node="b"))
    plain = conf("priority", "gang", actions=("preempt",))
    dry = Conf(plain.actions, plain.tiers, {"preempt": Arguments({"enableTopologyAwarePreemption": True})})
    assert evicted(rounds.run(made.around, plain, PLUGINS)) == []
    assert evicted(rounds.run(made.around, dry, PLUGINS)) == ["l-1"]


def test_one_that_asks_for_nothing_takes_only_from_such() -> None:
    made = scene(node("n", cpu=9, pods=1), low(), high(), task("h-0", "h"), task("l-0", "l", cpu=1, node="n"))
    assert evicted(made.run("preempt", "priority", "gang")) == []
    made.put(task("l-0", "l", node="n"))
    assert evicted(made.run("preempt", "priority", "gang")) == ["l-0"]
