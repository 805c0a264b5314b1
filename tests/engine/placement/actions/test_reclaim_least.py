from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, PriorityClass
from kumi.engine.placement.actions import gang_least, preempt_least
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

from .least import crowds, evicted, is_mendable, run

PLUGINS = ("gang", "proportion")


def hall(cpus: int, running: int, waits: int, idle: int = 0) -> Scene:
    made = Scene(line("a"), line("b"), node("n", cpu=cpus), *([node("z", cpu=idle)] if idle else []))
    made.put(gang("x", "a", least=0, phase=Phase.RUNNING))
    made.put(*(task(f"x-{n}", "x", cpu=1, node="n") for n in range(running)))
    made.put(gang("y", "b", least=waits, phase=Phase.INQUEUE), *(task(f"y-{n}", "y", cpu=1) for n in range(waits)))
    return made


@given(cpus=st.integers(1, 8), waits=st.integers(1, 6), idle=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_a_queue_takes_back_what_it_deserves_and_lacks_and_no_more(cpus: int, waits: int, idle: int) -> None:
    done = run(hall(cpus, cpus, waits, idle), "reclaim", *PLUGINS)
    fits = waits <= max((cpus + idle) / 2, cpus + idle - cpus)
    assert len(evicted(done)) == (max(waits - idle, 0) if fits else 0)
    assert done.status["y-0"] is (Status.PIPELINED if fits else Status.PENDING)


def test_an_idle_node_is_not_passed_over() -> None:
    done = run(hall(4, 4, 1, idle=1), "reclaim", *PLUGINS)
    assert (evicted(done), done.node["y-0"]) == ([], "z")


@pytest.mark.parametrize("spoiled", ["queue", "task", "never"])
def test_who_gives_nothing_or_may_not_take(spoiled: str) -> None:
    made = hall(4, 4, 1)
    if spoiled == "queue":
        made.put(line("a", reclaimable=False))
    elif spoiled == "task":
        made.put(*(task(f"x-{n}", "x", cpu=1, node="n", preemptable=False) for n in range(4)))
    else:
        made.put(task("y-0", "y", cpu=1, never_preempts=True))
    assert evicted(run(made, "reclaim", *PLUGINS)) == []


def test_a_queue_that_has_had_its_share_is_not_looked_at() -> None:
    made = hall(4, 2, 1)
    made.put(gang("w", "b", least=0, phase=Phase.RUNNING), *(task(f"w-{n}", "w", cpu=1, node="n") for n in range(2)))
    assert evicted(run(made, "reclaim", *PLUGINS)) == []


def test_nobody_goes_for_a_task_that_its_queue_could_not_have() -> None:
    made = hall(4, 4, 2)
    made.put(line("b", capability={"cpu": 1}))
    assert evicted(run(made, "reclaim", "gang", "capacity")) == []


def test_a_queue_takes_back_no_more_than_it_deserves_also_where_it_may_have_more() -> None:
    made = hall(4, 4, 2)
    made.put(line("a", deserved={"cpu": 1}), line("b", deserved={"cpu": 1}))
    assert evicted(run(made, "reclaim", "gang", "capacity")) == []
    made.put(line("b", deserved={"cpu": 2}))
    assert len(evicted(run(made, "reclaim", "gang", "capacity"))) == 2


@given(crowds(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_whoever_gives_nothing_for_sure_need_not_be_asked(made: Scene, whole: bool) -> None:
    actions = "preempt gangpreempt reclaim gangreclaim" if whole else "reclaim preempt"
    plugins = ("priority", option("gang", without=("enableJobStarving",)), "proportion", "bundle-shares", "predicates")
    quickly = run(made, actions, plugins)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Framework, "_might", lambda self, hook, name, *asked: True)
        patch.setattr(gang_least, "_is_anybody", lambda framework, evictor, job: True)
        patch.setattr(gang_least, "_could", lambda framework, job, tasks: True)
        patch.setattr(preempt_least, "is_large_enough", is_mendable)
        assert run(made, actions, plugins) == quickly


@pytest.mark.parametrize(
    ("actions", "pods", "goes"),
    [("reclaim gangreclaim", 1, 0), ("gangreclaim", 1, 0), ("reclaim", 1, 1), ("reclaim gangreclaim", 2, 1)],
)
def test_what_the_loser_could_take_back_is_not_taken(actions: str, pods: int, goes: int) -> None:
    made = Scene(line("a"), line("b"), node("n", cpu=8, pods=pods))
    made.put(gang("x", "a", least=0, phase=Phase.RUNNING), *(task(f"x-{n}", "x", cpu=1, node="n") for n in range(pods)))
    made.put(gang("y", "b", least=1, phase=Phase.INQUEUE), task("y-0", "y", cpu=1))
    assert len(evicted(run(made, actions, *PLUGINS, "bundle-shares"))) == goes


def test_a_queue_takes_back_from_below_another_as_volcanos_guide_to_capacity_says() -> None:
    """What its file's actions can't do is no reason to spare anybody: a plug-in names victims of gangreclaim for the asking."""
    whole, half, quarter = ({"cpu": cpus, "memory": f"{cpus}Gi"} for cpus in (16, 8, 4))
    made = Scene(
        line("root", capability=whole, deserved=whole), *(node(f"n{n}", cpu=8, memory="8Gi") for n in range(2))
    )
    made.put(line("a", parent="root", deserved=half), line("b", parent="root", deserved=half))
    made.put(line("a1", parent="a", deserved=quarter), gang("x", "a1", phase=Phase.RUNNING))
    made.put(*(task(f"x-{n}", "x", cpu=4, memory="1Gi", node=f"n{n // 2}") for n in range(4)))
    made.put(gang("y", "b", phase=Phase.INQUEUE), *(task(f"y-{n}", "y", cpu=4, memory="1Gi") for n in range(4)))
    tiers = (("priority", "gang"), ("drf", "predicates", option("capacity", hierarchy=True), "nodeorder"))
    assert len(evicted(run(made, "enqueue allocate backfill reclaim", *tiers))) == 1


@pytest.mark.parametrize(("pods", "goes"), [(1, 0), (2, 1)])
def test_what_a_gang_could_spare_once_it_has_it_is_not_taken_from_who_could_take_it_back(pods: int, goes: int) -> None:
    made = Scene(line("a"), line("b"), node("n", cpu=8, pods=pods))
    made.put(gang("x", "a", least=0, phase=Phase.RUNNING), *(task(f"x-{n}", "x", cpu=1, node="n") for n in range(pods)))
    made.put(gang("y", "b", least=0, phase=Phase.INQUEUE), task("y-0", "y", cpu=1))
    plugins = (option("gang", without=("enableJobStarving",)), "priority", "proportion")
    assert len(evicted(run(made, "reclaim", *plugins))) == goes


# spared, and others asked

Holds = tuple[int, int, int, int]
"""of a queue: its weight, its capability (0: no limit), how many pods it has, each a node's only one, and how much they matter"""


def rivals(mine: tuple[int, int], others: Sequence[Holds], wants: int, stay: Collection[str] = ()) -> Scene:
    """Full nodes of one pod each. A gang of the queue `r` (its weight, how many nodes it has) wants so many. `stay`: who says
    that they don't go."""
    made = Scene(*(PriorityClass(f"p{n}", n) for n in range(3)), line("r", weight=mine[0]))
    made.put(gang("x", "r", least=0, phase=Phase.RUNNING))
    holders = [("x", f"x-{n}") for n in range(mine[1])]
    for at, (weight, most, holds, matters) in enumerate(others):
        made.put(line(f"q{at}", weight=weight, capability={"cpu": most} if most else {}))
        made.put(gang(f"g{at}", f"q{at}", least=0, phase=Phase.RUNNING, priority_class=f"p{matters}"))
        holders += [(f"g{at}", f"g{at}-{n}") for n in range(holds)]
    for at, (group, name) in enumerate(sorted(holders, key=lambda one: (one[1][-1], one))):
        made.put(node(f"n{at}", cpu=8, pods=1))
        made.put(task(name, group, cpu=1, node=f"n{at}", **({"preemptable": False} if name in stay else {})))
    made.put(gang("y", "r", least=wants, phase=Phase.INQUEUE), *(task(f"y-{n}", "y", cpu=1) for n in range(wants)))
    return made


QUEUES = st.tuples(st.integers(1, 6), st.integers(0, 3), st.integers(0, 4), st.integers(0, 2))
TAKING = ("reclaim", "gangreclaim", "reclaim gangreclaim")
SHARES = (option("gang", without=("enableJobStarving",)), "priority", "proportion", "bundle-shares", "predicates")


@given(
    st.tuples(st.integers(1, 6), st.integers(0, 2)),
    st.lists(QUEUES, min_size=1, max_size=3),
    st.integers(1, 3),
    st.sampled_from(TAKING),
    st.data(),
)
@settings(max_examples=150, deadline=None)
def test_fewer_who_may_go_never_make_room_that_more_did_not(
    mine: tuple[int, int], others: list[Holds], wants: int, actions: str, data: st.DataObject
) -> None:
    names = [f"g{at}-{n}" for at, (_, _, holds, _) in enumerate(others) for n in range(holds)]
    stay = data.draw(st.sets(st.sampled_from(names))) if names else set()
    if evicted(run(rivals(mine, others, wants, stay), actions, SHARES)):
        assert evicted(run(rivals(mine, others, wants), actions, SHARES))


ONE = ((4, 1), [(1, 3, 1, 0), (6, 1, 2, 0)], 1)
"""g0 would go first, and q0 could take the place back"""
TWO = ((6, 2), [(6, 2, 3, 0), (1, 1, 2, 1)], 2)
"""q0 could take back what it loses, had it to lose two"""


@pytest.mark.parametrize("by", ["gangreclaim", "reclaim gangreclaim", "reclaim gangreclaim, task by task"])
def test_where_one_queue_could_take_the_place_back_another_is_asked(by: str) -> None:
    made = rivals(*ONE)
    if "task" in by:
        made.put(gang("y", "r", least=0, phase=Phase.INQUEUE))
    done = run(made, by.partition(",")[0], SHARES)
    assert done.outcome.evictions == [("g1-0", "ns/y" if by == "gangreclaim" else "y-0")]


def test_a_queue_is_asked_for_as_much_as_it_could_not_take_back() -> None:
    assert evicted(run(rivals(*TWO), "gangreclaim", SHARES)) == ["g0-0", "g1-0"]
    (mine, others, wants) = TWO
    assert evicted(run(rivals(mine, others, wants, ["g1-0", "g1-1"]), "gangreclaim", SHARES)) == []
