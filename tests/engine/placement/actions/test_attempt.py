"""Attempt: nobody goes in vain, and nobody who needn't."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.model import Neighbours
from kumi.engine.placement.actions.attempt import Attempt, cost_on, is_complete, may_complete
from kumi.engine.placement.statement import Outcome
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task
from kumi.testing.neighbours import here


def hall(victims: list[int], count: int, cpu: int, nodes: int = 2) -> Scene:
    """Equal nodes of 4 cpus, filled one after the other with victims; a gang of `count` tasks of `cpu` waits."""
    made = Scene(line(), *(node(f"n{n}", cpu=4) for n in range(nodes)), gang("v", least=0))
    free = dict.fromkeys((f"n{n}" for n in range(nodes)), 4)
    for number, size in enumerate(victims):
        where = next((name for name in free if free[name] >= size), None)
        if where is not None:
            free[where] -= size
            made.put(task(f"v-{number}", "v", cpu=size, node=where, priority=number))
    made.put(gang("p", least=count, phase=Phase.INQUEUE), *(task(f"p-{n}", "p", cpu=cpu) for n in range(count)))
    return made


def running(made: Scene, name: str) -> list[str]:
    return sorted(uid for uid in made.job("v").tasks if made.state.tasks.node[uid] == name)


def served(made: Scene) -> tuple[Attempt, bool]:
    """All tasks looked for, node by node, and everything trimmed."""
    attempt = Attempt(made.open("priority", "gang"), Outcome(), made.job("p"))
    for uid in sorted(made.job("p").tasks):
        mine = made.pod(uid)
        if not attempt.place(mine):
            for name in sorted(made.state.nodes.row_by_name):
                if attempt.clear(mine, name, [made.pod(v) for v in running(made, name) if v not in attempt.gone]):
                    break
    attempt.trim([[pod] for pod, _ in attempt.gone.values()])
    return attempt, attempt.is_complete()


def places(made: Scene, gone: set[str], cpu: int) -> int:
    """How many tasks of that size fit, counted plainly, were these gone."""
    free = dict.fromkeys(made.state.nodes.row_by_name, 4)
    for uid in made.job("v").tasks:
        if uid not in gone:
            free[made.state.tasks.node[uid]] -= dict(made.pod(uid).shape.requests)["cpu"] // 1000
    return sum(left // cpu for left in free.values())


halls = st.builds(
    hall, st.lists(st.integers(1, 3), max_size=8), st.integers(1, 4), st.integers(1, 4), nodes=st.integers(1, 3)
)


@given(halls)
@settings(max_examples=60, deadline=None)
def test_victims_make_the_gang_fit_and_with_one_of_them_less_it_would_not(made: Scene) -> None:
    cpu = dict(made.pod("p-0").shape.requests)["cpu"] // 1000
    count = len(made.job("p").tasks)
    with made.state.journal.trial():
        attempt, complete = served(made)
        gone = set(attempt.gone)
        assert complete == (places(made, set(made.job("v").tasks), cpu) >= count)
        if complete:
            assert places(made, gone, cpu) >= count
            assert all(places(made, gone - {uid}, cpu) < count for uid in gone)


@given(halls)
@settings(max_examples=30, deadline=None)
def test_a_discarded_attempt_leaves_no_trace(made: Scene) -> None:
    tasks, nodes = made.state.tasks, made.state.nodes
    before = (
        dict(tasks.status),
        dict(tasks.node),
        nodes.used.tolist(),
        nodes.releasing.tolist(),
        nodes.pipelined.tolist(),
    )
    with made.state.journal.trial():
        served(made)
    after = (
        dict(tasks.status),
        dict(tasks.node),
        nodes.used.tolist(),
        nodes.releasing.tolist(),
        nodes.pipelined.tolist(),
    )
    assert after == before


def test_room_that_is_there_is_taken_before_anybody_goes() -> None:
    made = hall([4, 2], 1, 2)
    attempt, complete = served(made)
    assert (complete, attempt.gone, made.state.tasks.node["p-0"]) == (True, {}, "n1")
    assert made.state.tasks.status["p-0"] is Status.PIPELINED


def test_a_node_that_is_not_enough_even_empty_costs_nobody() -> None:
    made = hall([4], 1, 9, nodes=1)
    attempt = Attempt(made.open("gang"), Outcome(), made.job("p"))
    assert not attempt.clear(made.pod("p-0"), "n0", [made.pod("v-0")])
    assert (attempt.gone, made.state.tasks.status["v-0"]) == ({}, Status.RUNNING)


def test_the_first_of_the_victims_stay_where_a_later_one_is_enough() -> None:
    made = hall([1, 3], 1, 3, nodes=1)
    attempt = Attempt(made.open("priority"), Outcome(), made.job("p"))
    assert attempt.clear(made.pod("p-0"), "n0", [made.pod("v-0"), made.pod("v-1")])
    assert list(attempt.gone) == ["v-1"]


def test_a_task_moves_to_room_that_later_victims_left_so_that_an_earlier_one_stays() -> None:
    made = hall([2, 2, 4], 2, 2)
    attempt = Attempt(made.open("priority"), Outcome(), made.job("p"))
    assert attempt.clear(made.pod("p-0"), "n0", [made.pod("v-0")])
    assert attempt.clear(made.pod("p-1"), "n1", [made.pod("v-2")])
    attempt.trim([[made.pod("v-0")], [made.pod("v-2")]])
    assert list(attempt.gone) == ["v-2"]
    assert {made.state.tasks.node[f"p-{n}"] for n in range(2)} == {"n1"}


def test_units_leave_or_stay_whole() -> None:
    made = hall([2, 2], 1, 2, nodes=1)
    attempt = Attempt(made.open("priority"), Outcome(), made.job("p"))
    unit = [made.pod("v-0"), made.pod("v-1")]
    attempt.evict(unit, "ns/p")
    assert attempt.fill([made.pod("p-0")])
    attempt.trim([unit])
    assert sorted(attempt.gone) == ["v-0", "v-1"]


def test_fill_promises_no_more_than_the_minimum_and_nothing_without_it() -> None:
    made = hall([], 3, 4)
    attempt = Attempt(made.open("gang"), Outcome(), made.job("p"))
    tasks = [made.pod(f"p-{n}") for n in range(3)]
    assert not attempt.fill(tasks)
    assert attempt.promised == {}
    made.put(gang("p", least=1))
    assert Attempt(made.open("gang"), Outcome(), made.job("p")).fill(tasks)
    assert made.job("p").count(Status.PIPELINED) == 1


def test_a_vote_for_one_that_waited_long_enough_does_not_make_a_gang_complete() -> None:
    made = hall([], 2, 9)
    made.put(gang("p", least=2, waiting_ms=1, phase=Phase.INQUEUE))
    at = replace_now(made).open(option("sla"))
    assert at.job_pipelined(made.job("p"))
    assert not is_complete(at, made.job("p"))


def replace_now(made: Scene) -> Scene:
    made.now_ms = 10
    return made


def test_the_queue_has_to_be_allowed_the_task_afterwards() -> None:
    made = hall([2, 2], 1, 2, nodes=1)
    made.put(line(capability={"cpu": 1}))
    attempt = Attempt(made.open("capacity", "gang"), Outcome(), made.job("p"))
    assert not attempt.goes(made.pod("p-0"), "n0")
    assert not attempt.clear(made.pod("p-0"), "n0", [made.pod("v-0"), made.pod("v-1")])


def test_a_node_costs_what_its_least_victims_matter() -> None:
    made = hall([1, 1, 2], 1, 2, nodes=1)
    at = made.open("priority")
    victims = [made.pod(f"v-{n}") for n in range(3)]
    assert cost_on(at, made.pod("p-0"), "n0", victims) == ((0, 1), 2, 0)
    assert cost_on(at, made.pod("p-0"), "n0", victims[2:]) == ((0, 2), 1, 0)
    assert cost_on(at, made.pod("p-0"), "n0", victims[:1]) is None


@given(halls)
@settings(max_examples=60, deadline=None)
def test_a_gang_that_may_not_complete_finds_no_place_although_it_is_tried(made: Scene) -> None:
    session = made.open("priority", "gang", "predicates")
    attempt = Attempt(session, Outcome(), made.job("p"))
    may = may_complete(session, made.job("p"))
    assert may_complete(session, made.job("p")) == may
    with made.state.journal.trial():
        done = attempt.fill([made.pod(uid) for uid in sorted(made.job("p").tasks)])
    assert may == done  # its tasks are equal: counting is exact


def test_where_tasks_look_at_others_it_is_not_counted() -> None:
    made = hall([], 9, 4)
    assert not may_complete(made.open("gang", "predicates"), made.job("p"))
    for uid in sorted(made.job("p").tasks):
        one = made.pod(uid)
        made.put(replace(one, shape=replace(one.shape, neighbours=Neighbours(near=(here("app", "x"),)))))
    assert may_complete(made.open("gang", "predicates"), made.job("p"))
