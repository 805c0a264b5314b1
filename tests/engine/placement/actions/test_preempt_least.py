"""Preempt, least: only what is needed, only for who then goes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.placement import rounds
from kumi.engine.placement.actions import preempt_least
from kumi.engine.placement.actions.attempt import NOTHING
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

from .least import CLASSES, crowds, evicted, is_mendable, run

STARVING = option("gang", without=("enableJobStarving",))


def hall(*cpus: int, count: int = 1, cpu: int = 1, least: int | None = None) -> Scene:
    """A node of that size for each of a low gang's tasks; another one that matters more waits."""
    made = Scene(line(), *CLASSES, *(node(f"n{n}", cpu=c) for n, c in enumerate(cpus)))
    made.put(gang("l", least=0, priority_class="p1", phase=Phase.RUNNING))
    made.put(*(task(f"l-{n}", "l", cpu=c, node=f"n{n}") for n, c in enumerate(cpus)))
    made.put(gang("h", least=count if least is None else least, priority_class="p9", phase=Phase.INQUEUE))
    made.put(*(task(f"h-{n}", "h", cpu=cpu) for n in range(count)))
    return made


def served(made: Scene) -> rounds.Round:
    return run(made, "preempt", "priority", STARVING)


@given(
    cpus=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    idle=st.lists(st.integers(1, 4), max_size=2),
    count=st.integers(1, 5),
    cpu=st.integers(1, 3),
)
@settings(max_examples=40, deadline=None)
def test_either_all_have_a_place_for_which_all_who_go_had_to_or_nobody_goes(
    cpus: list[int], idle: list[int], count: int, cpu: int
) -> None:
    made = hall(*cpus, count=count, cpu=cpu)
    made.put(*(node(f"z{n}", cpu=c) for n, c in enumerate(idle)))
    done = served(made)
    free, full = sum(c // cpu for c in idle), [c // cpu for c in cpus]
    gone = [int(uid[2:]) for uid in evicted(done)]
    if free + sum(full) < count:
        assert gone == []
        assert [done.status[f"h-{n}"] for n in range(count)] == [Status.PENDING] * count
    else:
        assert [done.status[f"h-{n}"] for n in range(count)] == [Status.PIPELINED] * count
        assert all(free + sum(full[n] for n in gone if n != one) < count for one in gone)


def test_the_highest_victim_matters_as_little_as_can_be() -> None:
    made = hall(1)
    made.put(node("m", cpu=2), gang("m", least=0, priority_class="p5"))
    made.put(*(task(f"m-{n}", "m", cpu=1, node="m") for n in range(2)))
    assert evicted(served(made)) == ["l-0"]


def test_a_gang_with_its_minimum_gets_the_rest_one_by_one() -> None:
    made = hall(1, 1, count=3, least=1)
    assert evicted(served(made)) == ["l-0", "l-1"]
    assert served(made).status["h-2"] is Status.PENDING


def test_where_only_the_minimum_starves_no_more_than_that_is_served() -> None:
    made = hall(1, 1, count=3, least=1)
    assert len(evicted(run(made, "preempt", "priority", "gang"))) == 1


def test_one_that_never_preempts_takes_what_is_free() -> None:
    made = hall(1, count=1)
    made.put(task("h-0", "h", cpu=1, never_preempts=True))
    assert evicted(served(made)) == []
    made.put(node("idle", cpu=1))
    assert served(made).node["h-0"] == "idle"


def test_equal_tasks_of_a_gang_do_not_take_from_each_other_whatever_plug_ins_say() -> None:
    made = Scene(line(), node("n", cpu=1))
    made.put(gang("g", least=0, phase=Phase.RUNNING), task("g-0", "g", cpu=1, node="n"), task("g-1", "g", cpu=1))
    assert evicted(run(made, "preempt", option("priority", without=("enablePreemptable",)), STARVING)) == []


def test_a_later_task_takes_from_tasks_of_its_own_gang_that_matter_less() -> None:
    made = Scene(line(), *CLASSES, node("n", cpu=2), gang("h", least=1, phase=Phase.RUNNING))
    made.put(*(task(f"h-{n}", "h", cpu=1, node="n", priority=n) for n in range(2)), task("h-2", "h", cpu=1, priority=9))
    assert evicted(served(made)) == ["h-0"]


def test_a_gang_that_waited_long_enough_evicts_nobody_for_half_of_it() -> None:
    made = hall(1, count=2)
    made.put(gang("h", least=2, priority_class="p9", phase=Phase.INQUEUE, waiting_ms=1))
    made.now_ms = 5
    assert evicted(run(made, "preempt", "priority", STARVING, "sla")) == []


def test_plugins_that_let_go_so_and_so_many_mean_the_same_ones() -> None:
    made = Scene(line(deserved={"cpu": 4}), *CLASSES, node("n", cpu=3), gang("l", least=1, priority_class="p1"))
    made.put(*(task(f"l-{n}", "l", cpu=1, node="n", priority=-n) for n in range(3)))
    made.put(
        gang("h", least=2, priority_class="p9", phase=Phase.INQUEUE), *(task(f"h-{n}", "h", cpu=1) for n in range(2))
    )
    assert evicted(served(made)) == ["l-1", "l-2"]


@given(crowds())
@settings(max_examples=80, deadline=None)
def test_nodes_that_could_not_be_cheaper_need_not_be_looked_at(made: Scene) -> None:
    lazily = served(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            preempt_least, "least_costs", lambda framework, among: dict.fromkeys(framework.nodes.row_by_name, NOTHING)
        )
        patch.setattr(preempt_least, "is_large_enough", is_mendable)
        assert served(made) == lazily
