from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.gangs import Phase
from kumi.engine.placement.actions import victims
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, task


def test_starving_are_gangs_that_were_let_in_can_be_placed_and_need_more() -> None:
    scene = Scene(line(), node("n", cpu=9))
    for name, phase, tasks in (("a", Phase.INQUEUE, 2), ("b", Phase.PENDING, 2), ("c", Phase.INQUEUE, 1)):
        scene.put(gang(name, least=2, phase=phase), *(task(f"{name}-{n}", name, cpu=1) for n in range(tasks)))
    scene.put(gang("d", least=1, phase=Phase.RUNNING), task("d-0", "d", cpu=1, node="n"))
    starving = victims.starving_by_queue(scene.open("gang"))
    assert {name: [job.key for job in jobs] for name, jobs in starving.items()} == {"q": ["ns/a"]}


@pytest.mark.parametrize(("said", "gives"), [(None, True), (True, True), (False, False)])
def test_a_task_lets_itself_be_evicted_unless_it_says_no(said: bool | None, gives: bool) -> None:
    scene = Scene(line(), gang("a"), task("a-0", "a", preemptable=said))
    assert victims.is_preemptable(scene.open(), scene.pod("a-0")) is gives


def test_a_pod_of_an_admitted_workload_is_nobodys_victim() -> None:
    scene = Scene(line(), gang("a"), task("a-0", "a"))
    admitted = replace(scene.pod("a-0"), workload="ns/w")
    assert victims.is_preemptable(scene.open(), scene.pod("a-0"))
    assert not victims.is_preemptable(scene.open(), admitted)
    assert not victims.gives_way_to_gangs(scene.open(), admitted)


@pytest.mark.parametrize(("leaving", "may"), [(5, False), (50, True), (None, True)])
def test_a_nominated_task_waits_while_somebody_of_a_lower_priority_is_leaving(leaving: int | None, may: bool) -> None:
    scene = Scene(line(), node("n", cpu=9), gang("a"), gang("b"))
    scene.put(task("a-0", "a", cpu=1, priority=10, nominated="n"))
    if leaving is not None:
        scene.put(replace(task("b-0", "b", cpu=1, priority=leaving, node="n"), terminating=True))
    assert victims.may_evict(scene.open("gang"), scene.pod("a-0")) is may


def test_one_that_never_preempts_evicts_nobody() -> None:
    scene = Scene(line(), node("n", cpu=9), gang("a"), task("a-0", "a", cpu=1, never_preempts=True))
    assert not victims.may_evict(scene.open("gang"), scene.pod("a-0"))


def test_enough_counts_who_is_leaving_and_who_would_and_what_is_promised() -> None:
    scene = Scene(line(), node("n", cpu=4), gang("a"), task("a-0", "a", cpu=3))
    scene.put(*(task(f"b-{n}", "b", cpu=1, node="n") for n in range(3)))
    at, mine = scene.open("gang"), scene.pod("a-0")
    both = [scene.pod("b-0"), scene.pod("b-1")]
    assert [victims.enough(at, "n", mine, gone) for gone in ([], both[:1], both)] == [False, False, True]
    with at.journal.trial():
        at.nodes.release("n", both[0].shape.requests, 1)
        assert victims.enough(at, "n", mine, both[1:])
        at.nodes.pipeline("n", both[0].shape.requests, 1)
        assert not victims.enough(at, "n", mine, both[1:])


def test_a_resource_that_no_node_has_is_never_enough() -> None:
    scene = Scene(line(), node("n", cpu=4), gang("a"), task("a-0", "a", gpu=1))
    assert not victims.enough(scene.open("gang"), "n", scene.pod("a-0"), [])


def test_undone_victims_run_also_those_that_were_only_bound() -> None:
    scene = Scene(line(), node("n", cpu=4), gang("a"), task("a-0", "a", cpu=1, node="n", phase="Pending"))
    at = scene.open("gang")
    assert at.tasks.status["a-0"] is Status.BOUND
    with at.journal.trial():
        victims.as_running(at, ["a-0"])
        assert at.tasks.status["a-0"] is Status.RUNNING


def test_pending_tasks_are_those_that_are_not_gated_in_their_order() -> None:
    scene = Scene(line(), gang("a"), task("a-1", "a", cpu=1, priority=1), task("a-2", "a", cpu=1, priority=9))
    scene.put(replace(task("a-3", "a", cpu=1), gated=True))
    heap = victims.pending(scene.open("priority"), scene.job("a"))
    assert [heap.pop().uid for _ in range(len(heap))] == ["a-2", "a-1"]


def test_mendable_are_nodes_that_evicting_may_make_fit() -> None:
    scene = Scene(line(), node("full", cpu=4, pods=1), node("not", cpu=4, ready=False), node("z", cpu=4), gang("a"))
    scene.put(task("a-0", "a", cpu=1, node="full"), task("a-1", "a", cpu=1))
    at = scene.open("predicates")
    names = at.nodes.name_by_row()
    assert [names[row] for row in victims.mendable(at, scene.pod("a-1")).tolist()] == ["full", "z"]
