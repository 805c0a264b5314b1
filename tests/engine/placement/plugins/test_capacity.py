"""Capacity: what follows from real, deserved and allocated, for queues of a list and of a tree alike."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.engine.gangs import Phase, Queue, QueueState
from kumi.engine.placement.plugins.capacity import deserves_some, is_relevant, past_deserved
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

TREE = option("capacity", hierarchy=True)


def hall(*queues: Queue, cpu: int = 8, **tasks: Any) -> Scene:
    """One node; a gang for each queue by its name; so many tasks of one cpu each run of it."""
    scene = Scene(node("n", cpu=cpu, memory="64Gi", gpu=4, pods=100), *queues)
    for queue in queues:
        scene.put(gang(queue.name, queue.name, least=0))
        scene.put(*(task(f"{queue.name}-{n}", queue.name, cpu=1, node="n") for n in range(tasks.get(queue.name, 0))))
    return scene


def victims(scene: Scene, reclaimer: str, crowd: str, *plugins: Any, **asks: Any) -> list[str]:
    """Whom a new task of the queue may evict of the queue `crowd`."""
    scene.put(task("new", reclaimer, **(asks or {"cpu": 1})))
    candidates = [pod for pod in scene.state.tasks.pods.values() if pod.member.group == f"ns/{crowd}"]
    return [pod.uid for pod in scene.open(*(plugins or ("capacity",))).reclaimable(scene.pod("new"), candidates)]


def test_a_queue_may_use_more_than_it_deserves_and_no_more_than_its_capability() -> None:
    scene = hall(line("a", deserved={"cpu": 1}, capability={"cpu": 3}), a=2)
    at, a = scene.open("capacity"), scene.queue("a")
    assert at.allocatable(a, task("x", "a", cpu=1))
    assert not at.allocatable(a, task("x", "a", cpu=2))
    assert at.allocatable(a, task("x", "a", gpu=4))
    assert not at.allocatable(a, task("x", "a", gpu=5))
    assert not at.overused(a)


def test_what_others_are_guaranteed_is_not_to_be_had() -> None:
    scene = hall(line("a"), line("b", guarantee={"cpu": 6}), a=2)
    at = scene.open("capacity")
    assert not at.allocatable(scene.queue("a"), task("x", "a", cpu=1))
    assert at.allocatable(scene.queue("b"), task("x", "b", cpu=8))


@pytest.mark.parametrize("state", [s for s in QueueState if s is not QueueState.OPEN])
def test_a_queue_that_is_not_open_gets_nothing_new(state: QueueState) -> None:
    scene = hall(line("a", deserved={"cpu": 8}, state=state))
    scene.put(gang("a", "a", needs={"cpu": 1}))
    at, a = scene.open("capacity"), scene.queue("a")
    assert not at.allocatable(a, task("x", "a", cpu=1))
    assert not at.preemptive(a, (("cpu", 1000),))
    assert not at.job_enqueueable(scene.job("a"))


def test_a_queue_takes_back_while_it_stays_within_some_of_what_it_deserves() -> None:
    scene = hall(line("a", deserved={"cpu": 3}), a=2)
    at, a = scene.open("capacity"), scene.queue("a")
    assert at.preemptive(a, (("cpu", 1000), ("memory", 2**30)))
    assert not at.preemptive(a, (("cpu", 1001), ("memory", 2**30)))
    assert not at.preemptive(a, (("memory", 2**30),))


def test_it_does_not_take_back_past_its_capability() -> None:
    scene = hall(line("a", deserved={"cpu": 3}, capability={"memory": "1Gi"}), a=2)
    assert not scene.open("capacity").preemptive(scene.queue("a"), (("cpu", 1000), ("memory", 2**31)))


def test_a_queue_gives_what_it_has_past_what_it_deserves() -> None:
    queues = (line("a", deserved={"cpu": 2}), line("b", deserved={"cpu": 2}))
    assert victims(hall(*queues, b=2), "a", "b") == []
    assert len(victims(hall(*queues, b=3), "a", "b")) == 1
    assert len(victims(hall(*queues, b=5), "a", "b")) == 3


def test_it_gives_in_the_order_of_victims() -> None:
    scene = hall(line("a", deserved={"cpu": 2}), line("b", deserved={"cpu": 1}))
    scene.put(*(task(f"b-x-{n}", "b", cpu=1, node="n") for n in (3, 1, 2)))
    assert victims(scene, "a", "b") == ["b-x-3", "b-x-2"]


def test_it_keeps_what_it_is_guaranteed() -> None:
    queues = (line("a", deserved={"cpu": 2}), line("b", guarantee={"cpu": 2}))
    assert len(victims(hall(*queues, b=4), "a", "b")) == 2
    scene = hall(*queues)
    scene.put(task("b-big", "b", cpu=3, node="n"))
    assert victims(scene, "a", "b") == []


def test_only_those_give_that_ask_for_something_that_is_wanted() -> None:
    scene = hall(line("a", deserved={"gpu": 2}), line("b"), b=2)
    scene.put(task("b-gpu", "b", gpu=1, node="n"))
    assert victims(scene, "a", "b", gpu=1) == ["b-gpu"]


def test_who_deserves_none_of_what_its_tasks_ask_for_gives_all_of_them() -> None:
    assert len(victims(hall(line("a", deserved={"cpu": 2}), line("b"), b=3), "a", "b")) == 3


def test_that_a_task_is_a_pod_counts_where_pods_are_deserved() -> None:
    queues = (line("a", deserved={"cpu": 2}), line("b", deserved={"pods": 9}))
    assert victims(hall(*queues, b=3), "a", "b") == []


def test_a_whole_gang_takes_from_other_queues_what_they_have_too_much() -> None:
    scene = hall(line("a", deserved={"cpu": 2}), line("b", deserved={"cpu": 1}), b=3)
    crowd = [scene.pod(f"b-{n}") for n in range(3)]
    at = scene.open("capacity")
    assert at.evictable(scene.job("a"), crowd, reclaim=True) == crowd[:2]
    assert at.evictable(scene.job("a"), crowd, reclaim=False) == crowd


def test_gangs_are_let_in_within_what_the_queue_may_have() -> None:
    scene = hall(line("a", capability={"cpu": 3}), a=1)
    scene.put(*(gang(name, "a", needs={"cpu": 1}) for name in "axyz"))
    at = scene.open("capacity")
    for name in "xy":
        assert at.job_enqueueable(scene.job(name))
        at.job_enqueued(scene.job(name))
    assert not at.job_enqueueable(scene.job("z"))


def test_priority_goes_before_shares() -> None:
    scene = hall(line("a", priority=1, deserved={"cpu": 1}), line("b", deserved={"cpu": 8}), a=3)
    assert scene.open("capacity").queue_less(scene.queue("a"), scene.queue("b"))


# a tree


def team(name: str, parent: str = "root", **fields: Any) -> Queue:
    return line(name, parent=parent, **fields)


def test_a_task_must_fit_every_queue_above() -> None:
    scene = Scene(node("n", cpu=8), line("root"), team("t", capability={"cpu": 2}), team("a", "t"), team("b", "t"))
    scene.put(gang("a", "a"), gang("b", "b"), task("a-0", "a", cpu=1, node="n"))
    at, b = scene.open(TREE), scene.queue("b")
    assert at.allocatable(b, task("x", "b", cpu=1))
    assert not at.allocatable(b, task("x", "b", cpu=2))


def test_what_others_of_the_team_were_let_in_for_counts_too() -> None:
    scene = Scene(node("n", cpu=8), line("root"), team("t", capability={"cpu": 2}), team("a", "t"), team("b", "t"))
    scene.put(gang("a", "a", needs={"cpu": 2}, phase=Phase.INQUEUE), gang("b", "b", needs={"cpu": 1}))
    assert not scene.open(TREE).job_enqueueable(scene.job("b"))
    scene.put(gang("a", "a", needs={"cpu": 1}, phase=Phase.INQUEUE))
    assert scene.open(TREE).job_enqueueable(scene.job("b"))


@pytest.mark.parametrize(
    "queues",
    [
        (line("a"),),  # no root
        (line("root"), team("a", "gone")),
        (line("root"), team("a", "b"), team("b", "a")),
    ],
)
def test_in_a_broken_tree_nothing_is_decided(queues: tuple[Queue, ...]) -> None:
    scene = Scene(node("n", cpu=8), *queues, gang("a", "a", needs={"cpu": 1}), task("a-0", "a", cpu=1, node="n"))
    at, a, one = scene.open(TREE), scene.queue("a"), scene.pod("a-0")
    assert not at.allocatable(a, one)
    assert not at.preemptive(a, (("cpu", 1),))
    assert not at.job_enqueueable(scene.job("a"))
    assert at.reclaimable(one, [one]) == at.evictable(scene.job("a"), [one], reclaim=True) == []
    assert at.queue_compare(a, a) == 0
    assert at.victim_queue_compare(queues[0], queues[-1], scene.job("a")) == at.queue_compare(queues[-1], queues[0])


def cousins(levels: int, near: dict[str, int], far: dict[str, int]) -> list[str]:
    """Whom a1 takes, of a team that deserves 4: of its own team (a2) and of another one (b1), which run 3 each. `near` is what a2
    deserves, `far` what b does."""
    scene = Scene(node("n", cpu=8), line("root"))
    scene.put(team("a", deserved={"cpu": 4}), team("b", deserved=far))
    scene.put(team("a1", "a", deserved={"cpu": 2}), team("a2", "a", deserved=near), team("b1", "b"))
    scene.put(*(gang(name, name, least=0) for name in ("a1", "a2", "b1")))
    scene.put(*(task(f"{name}-{n}", name, cpu=1, node="n") for name in ("a2", "b1") for n in range(3)))
    scene.put(task("new", "a1", cpu=1))
    at = scene.open(option("capacity", hierarchy=True, ancestorReclaimLevel=levels))
    crowd = [pod for pod in scene.state.tasks.pods.values() if pod.node]
    return [pod.uid for pod in at.reclaimable(scene.pod("new"), crowd)]


def test_the_nearest_relatives_give_first() -> None:
    assert cousins(0, {"cpu": 1}, {"cpu": 9}) == ["a2-2", "a2-1", "b1-2", "b1-1", "b1-0"]


def test_with_a_level_another_team_gives_what_it_has_too_much_as_a_team() -> None:
    assert cousins(1, {"cpu": 1}, {"cpu": 9}) == ["a2-2", "a2-1"]
    assert cousins(1, {"cpu": 1}, {"cpu": 2}) == ["a2-2", "a2-1", "b1-2"]
    assert cousins(1, {"cpu": 1}, {}) == ["a2-2", "a2-1", "b1-2", "b1-1", "b1-0"]


def spared(mine: dict[str, int], levels: int) -> list[str]:
    """Whom a/1, which deserves `mine`, takes of a/2, which deserves nothing."""
    scene = Scene(node("n", cpu=8), line("root"), team("a", deserved={"cpu": 4}))
    scene.put(team("a1", "a", deserved=mine), team("a2", "a"), gang("a1", "a1"), gang("a2", "a2"))
    scene.put(task("a2-0", "a2", cpu=1, node="n"))
    return victims(scene, "a1", "a2", option("capacity", hierarchy=True, ancestorReclaimLevel=levels))


def test_of_two_of_a_team_that_deserve_nothing_none_takes_from_the_other() -> None:
    assert spared({}, 0) == ["a2-0"]
    assert spared({}, 1) == []
    assert spared({"cpu": 1}, 1) == ["a2-0"]


def test_with_a_level_a_queue_takes_back_for_its_team() -> None:
    scene = Scene(node("n", cpu=8), line("root"), team("t", deserved={"cpu": 2}), team("a", "t"), gang("a", "a"))
    wanted = (("cpu", 1000),)
    assert not scene.open(TREE).preemptive(scene.queue("a"), wanted)
    level = option("capacity", hierarchy=True, ancestorReclaimLevel=1)
    assert scene.open(level).preemptive(scene.queue("a"), wanted)
    assert not scene.open(level).preemptive(scene.queue("a"), (("cpu", 3000),))


def test_the_root_never_takes_back_for_anybody() -> None:
    scene = Scene(node("n", cpu=8), line("root"), team("t", deserved={"cpu": 8}), team("a", "root"), gang("a", "a"))
    level = option("capacity", hierarchy=True, ancestorReclaimLevel=3)
    assert not scene.open(level).preemptive(scene.queue("a"), (("cpu", 1000),))


def test_a_level_below_0_is_none() -> None:
    assert cousins(-1, {"cpu": 1}, {"cpu": 9}) == cousins(0, {"cpu": 1}, {"cpu": 9})


def test_deserves_some_looks_at_what_is_wanted() -> None:
    assert deserves_some({"cpu": 1}, {"cpu": 2}, (("pods", 1000), ("cpu", 1), ("gpu", 1)))
    assert not deserves_some({"cpu": 1}, {"cpu": 2, "memory": 9, "pods": 9000}, (("pods", 1000), ("cpu", 2)))


def test_a_written_0_of_a_device_says_something_and_of_cpu_nothing() -> None:
    wanted = (("pods", 1000), ("cpu", 1), ("gpu", 1))
    assert past_deserved({"cpu": 1, "gpu": 1}, {"cpu": 5, "gpu": 0}, wanted)
    assert not past_deserved({"cpu": 9, "gpu": 1}, {"cpu": 0, "gpu": 1}, wanted)
    assert past_deserved({"cpu": 9}, {"memory": 1}, wanted)
    assert not past_deserved({"cpu": 9, "gpu": 1}, {"cpu": 5, "gpu": 1}, (("gpu", 1),))  # cpu isn't asked for
    assert is_relevant({"pods": 1000}, wanted)
    assert not is_relevant({"memory": 1, "cpu": 0}, wanted)
