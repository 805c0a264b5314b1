"""Task topology: roles that like each other go together."""

from __future__ import annotations

import numpy as np
import pytest

from kumi.engine.gangs import Phase, PodGroup
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.plugins.task_topology import Topology, is_wrong, topology_of
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

Roles = tuple[tuple[str, ...], ...]


def says(near: Roles = (), apart: Roles = (), order: tuple[str, ...] = ()) -> PodGroup:
    return gang("g", phase=Phase.INQUEUE, affinity=near, anti_affinity=apart, role_order=order)


def scene(group: PodGroup, **roles: int) -> Scene:
    made = Scene(*(node(f"n{at}", cpu=8) for at in (1, 2)), line(), group)
    for role, count in roles.items():
        for number in range(count):
            made.put(task(f"{role}{number}", "g", cpu=1, annotated_role=role, role=role))
    return made


def order(session: Framework) -> list[str]:
    job = session.tasks.jobs["ns/g"]
    return [t.name for t in session.sorted_tasks([session.tasks.pods[uid] for uid in job.tasks])]


def scores(session: Framework, name: str) -> list[float]:
    rows = session.nodes.by_name()
    return session.node_scores(session.tasks.pods[name], rows, np.zeros(rows.size, dtype=np.int64)).tolist()


@pytest.mark.parametrize(
    ("group", "wrong"),
    [
        (says(near=(("a", "b"),)), False),
        (says(near=(("a", "c"),)), True),
        (says(apart=(("a", "a"),)), True),
        (says(order=("a", "c")), True),
        (says(near=(("a",), ("a", "b")), order=("b", "a")), False),
    ],
)
def test_roles_that_nobody_has_or_that_come_twice_are_wrong(group: PodGroup, wrong: bool) -> None:
    assert is_wrong(group, ["a", "b"]) is wrong
    assert (topology_of(group, ["a", "b"]) is None) is wrong


def test_roles_rank_by_the_order_asked_for_then_by_what_they_need_most() -> None:
    topology = Topology(says(near=(("b", "c"), ("d",)), apart=(("a",), ("e", "f")), order=("e",)))
    ranked = sorted("fedcba", key=lambda role: (topology.order(role), role))
    assert ranked == ["e", "a", "b", "c", "d", "f"]
    assert not topology.names("x")


def test_liking_counts_each_and_is_mutual() -> None:
    topology = Topology(says(near=(("a", "b"), ("c",)), apart=(("a",), ("b", "c"))))
    assert topology.liking("a", {"b": 2, "a": 1}) == 1
    assert topology.liking("c", {"c": 2, "b": 3, "x": 9}) == -1
    assert topology.disliked("b", {"c": 3, "a": 1}) == 3


def test_tasks_that_like_each_other_share_a_bucket_and_come_together() -> None:
    session = scene(says(near=(("ps", "worker"),), apart=(("worker",),)), ps=2, worker=2, chief=1).open("task-topology")
    assert order(session) == ["worker0", "ps0", "worker1", "ps1", "chief0"]


def test_the_larger_bucket_goes_first() -> None:
    session = scene(says(near=(("a", "b"),), apart=(("b", "c"),)), a=1, b=2, c=1).open("task-topology")
    assert order(session) == ["a0", "b0", "b1", "c0"]


def test_a_node_scores_by_who_of_the_bucket_is_there_and_still_fits() -> None:
    made = scene(says(near=(("a",),)), a=3)
    made.put(task("r", "g", node="n2", cpu=1, annotated_role="a"), task("x", "g", node="n1", cpu=6))
    session = made.open(option("task-topology", **{"task-topology.weight": 10}))
    assert scores(session, "a0") == [500.0, 1000.0]
    made.put(task("y", "g", node="n1", cpu=2))
    assert scores(made.open("task-topology"), "a0") == [0.0, 100.0]


def test_what_the_session_placed_counts_for_and_against() -> None:
    made = scene(says(near=(("a", "b"),), apart=(("a",),)), a=2, b=1)
    session = made.open("task-topology")
    assert scores(session, "b0") == [100.0, 100.0]
    with session.journal.trial():
        session.seated(made.pod("a0"), "n1", 1)
        assert scores(session, "b0") == [100.0, 50.0]
        assert scores(session, "a1") == [0.0, 50.0]
        session.seated(made.pod("a0"), "n1", -1)
        assert scores(session, "a1") == [50.0, 50.0]
        session.seated(made.pod("a0"), "n1", 1)
    assert scores(session, "b0") == [100.0, 100.0]


def test_a_gang_without_a_topology_or_without_pending_tasks_has_no_say() -> None:
    made = scene(says(), a=1)
    session = made.open("task-topology")
    assert scores(session, "a0") == [0.0, 0.0]
    assert not session.moves_scores(made.pod("a0"))
    done = scene(says(near=(("a",),)))
    done.put(task("a0", "g", node="n1", cpu=1, annotated_role="a"))
    assert not done.open("task-topology").moves_scores(done.pod("a0"))


def test_a_gang_goes_where_its_buckets_go() -> None:
    made = scene(says(near=(("a", "b"),), apart=(("a",),)), a=2, b=2)
    made.put(gang("g", least=4, phase=Phase.INQUEUE, affinity=(("a", "b"),), anti_affinity=(("a",),)))
    done = made.run("allocate", "gang", "predicates", "task-topology")
    where = dict(done.outcome.binds)
    assert where["a0"] == where["b0"]
    assert where["a1"] == where["b1"]
    assert where["a0"] != where["a1"]
