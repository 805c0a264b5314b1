from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, PriorityClass, Queue
from kumi.engine.placement import rounds
from kumi.engine.placement.actions.gangpreempt import candidates
from kumi.engine.placement.conf import Arguments
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.statement import Outcome, Statement
from kumi.engine.placement.ways import KUMI, VOLCANO, Ways
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, conf, gang, line, option, task


def hall(least: int = 2) -> Scene:
    made = Scene(line(), node("n", cpu=4), *(PriorityClass(f"p{n}", n) for n in (1, 5, 9)))
    for name, level in (("a", 1), ("b", 5)):
        made.put(gang(name, least=0, priority_class=f"p{level}", phase=Phase.RUNNING))
        made.put(*(task(f"{name}-{n}", name, cpu=1, node="n") for n in range(2)))
    made.put(gang("p", least=least, priority_class="p9", phase=Phase.INQUEUE))
    made.put(*(task(f"p-{n}", "p", cpu=1) for n in range(least)))
    return made


def evicted(made: Scene) -> list[str]:
    return [uid for uid, _ in made.run("gangpreempt", "priority", "gang").outcome.evictions]


def test_gangs_that_come_last_give_first() -> None:
    assert evicted(hall(2)) == ["a-0", "a-1"]
    assert evicted(hall(3)) == ["a-0", "a-1", "b-0", "b-1"]
    assert evicted(hall(5)) == []


@pytest.mark.parametrize("spoiled", ["group", "task", "priority", "queue", "pending"])
def test_who_is_no_candidate(spoiled: str) -> None:
    made = hall()
    made.put(gang("b", least=0, priority_class="p9"))
    group = gang("a", least=0, priority_class="p1")
    if spoiled == "group":
        made.put(replace(group, preemptable=False))
    elif spoiled == "task":
        made.put(*(task(f"a-{n}", "a", cpu=1, node="n", preemptable=False) for n in range(2)))
    elif spoiled == "priority":
        made.put(replace(group, priority_class="p9"))
    elif spoiled == "queue":
        made.put(Queue("other"), replace(group, queue="other"))
    else:
        made.put(*(task(f"a-{n}", "a", cpu=1) for n in range(2)))
    assert candidates(made.open("gang"), made.job("p")) == []


def test_a_gang_that_does_not_starve_is_not_looked_at() -> None:
    made = hall()
    made.put(gang("p", least=0, priority_class="p9", phase=Phase.INQUEUE))
    assert evicted(made) == []


NOW = 1000
EQUALS = {"gangpreempt": Arguments({"equalPriority": True})}
TIMES = st.tuples(st.none() | st.integers(NOW, NOW + 900), st.none() | st.integers(1, 300))
"""a gang's deadline, and how long it takes"""


def taken(runs: tuple[int | None, int | None], waits: tuple[int | None, int | None], ways: Ways) -> list[str]:
    """Who goes of a gang that runs, for one of the same priority that waits."""
    scene = Scene(line(), node("n", cpu=1), now_ms=NOW)
    scene.put(gang("r", deadline_ms=runs[0], execution_ms=runs[1], phase=Phase.RUNNING))
    scene.put(gang("w", deadline_ms=waits[0], execution_ms=waits[1], phase=Phase.INQUEUE))
    scene.put(task("r-0", "r", cpu=1, node="n"), task("w-0", "w", cpu=1))
    file = replace(conf("gang", "least_slack", "predicates", actions=("gangpreempt",)), configurations=EQUALS)
    return [uid for uid, _ in rounds.run(scene.around, file, PLUGINS, ways).outcome.evictions]


@given(TIMES, TIMES, st.sampled_from([KUMI, VOLCANO]))
@settings(max_examples=80, deadline=None)
def test_of_two_of_one_priority_never_each_takes_the_others_place(
    one: tuple[int | None, int | None], other: tuple[int | None, int | None], ways: Ways
) -> None:
    assert not (taken(one, other, ways) and taken(other, one, ways))


@pytest.mark.parametrize("ways", [KUMI, VOLCANO], ids=["kumi", "volcano"])
def test_one_of_the_same_priority_goes_for_one_with_less_slack_and_for_no_other(ways: Ways) -> None:
    without, urgent = (None, 500), (NOW + 150, 100)
    assert taken(without, urgent, ways) == ["r-0"]
    assert taken(urgent, without, ways) == []
    assert taken(without, without, ways) == []


def test_gangs_of_the_same_priority_are_candidates_where_the_file_says_so_and_a_plug_in_of_them() -> None:
    scene = Scene(line(), node("n", cpu=2), gang("a"), gang("b", deadline_ms=NOW, execution_ms=NOW - 10))
    scene.put(task("a-0", "a", cpu=1, node="n"), task("b-0", "b", cpu=1))
    framework = scene.open("gang", "least_slack")
    assert candidates(framework, scene.job("b")) == []
    framework.conf = replace(framework.conf, configurations=EQUALS)
    assert [pod.uid for pod in candidates(framework, scene.job("b"))] == ["a-0"]
    assert candidates(framework, scene.job("a")) == []
    orders_only = scene.open("gang", option("least_slack", without=("enablePreemptable",)))
    orders_only.conf = framework.conf
    assert candidates(orders_only, scene.job("b")) == []


def test_who_has_left_meanwhile_is_no_candidate_any_more_and_is_one_again_when_that_is_taken_back() -> None:
    made = hall()
    session = made.open("gang")
    before = [pod.uid for pod in candidates(session, made.job("p"))]
    with made.state.journal.trial():
        Statement(session, Outcome()).evict(made.pod("a-0"), "p-0")
        assert [pod.uid for pod in candidates(session, made.job("p"))] == before[1:]
    assert [pod.uid for pod in candidates(session, made.job("p"))] == before == ["a-0", "a-1", "b-0", "b-1"]
