from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase, PriorityClass, Queue
from kumi.engine.placement.actions.gangpreempt import candidates
from kumi.engine.placement.conf import Arguments
from kumi.engine.placement.statement import Outcome, Statement
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


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


def test_gangs_of_the_same_priority_are_candidates_where_the_file_says_so() -> None:
    scene = Scene(
        line(), node("n", cpu=2), gang("a"), gang("b"), task("a-0", "a", cpu=1, node="n"), task("b-0", "b", cpu=1)
    )
    framework = scene.open("gang")
    assert candidates(framework, scene.job("b")) == []
    framework.conf = replace(framework.conf, configurations={"gangpreempt": Arguments({"equalPriority": True})})
    assert [pod.uid for pod in candidates(framework, scene.job("b"))] == ["a-0"]
    assert candidates(framework, scene.job("a")) == []


def test_who_has_left_meanwhile_is_no_candidate_any_more_and_is_one_again_when_that_is_taken_back() -> None:
    made = hall()
    session = made.open("gang")
    before = [pod.uid for pod in candidates(session, made.job("p"))]
    with made.state.journal.trial():
        Statement(session, Outcome()).evict(made.pod("a-0"), "p-0")
        assert [pod.uid for pod in candidates(session, made.job("p"))] == before[1:]
    assert [pod.uid for pod in candidates(session, made.job("p"))] == before == ["a-0", "a-1", "b-0", "b-1"]
