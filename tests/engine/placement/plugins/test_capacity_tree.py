"""Capacity, as a tree: nobody gets what is above it doesn't have."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Phase, Queue
from kumi.engine.placement.plugins.capacity_tree import Tree
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

some = st.dictionaries(st.sampled_from(["cpu", "gpu"]), st.integers(1, 6), max_size=2)


def scene(*queues: Queue) -> Scene:
    return Scene(node("n", cpu=8, memory="9Gi", gpu=4, pods=10), *queues)


def tree(*queues: Queue) -> Tree:
    return Tree.of(scene(*queues).open())


@st.composite
def forests(draw: st.DrawFn) -> list[Queue]:
    """A tree of up to six queues under a root."""
    queues, names = [line("root", capability=draw(st.just({}) | some))], ["root"]
    for name in "abcdef"[: draw(st.integers(0, 6))]:
        limits: dict[str, Any] = {
            "capability": draw(some),
            "deserved": draw(some),
            "guarantee": draw(st.just({}) | some),
        }
        queues.append(line(name, parent=draw(st.sampled_from(names)), **limits))
        names.append(name)
    return queues


@given(forests())
def test_a_queue_may_have_no_more_than_the_one_above_and_than_is_written(queues: list[Queue]) -> None:
    found = tree(*queues)
    assert found.sound
    for queue in queues:
        for d, amount in found.real[queue.name].items():
            assert amount <= dict(queue.capability).get(d, math.inf)
            for above in found.above(queue.name, 1):
                assert amount <= max(found.real[above].get(d, 0), found.guarantee[queue.name].get(d, 0))


@given(forests())
def test_leaves_paths_and_depths_fit_together(queues: list[Queue]) -> None:
    found = tree(*queues)
    names = [q.name for q in queues]
    below = {name: [n for n in names if name in found.path(n)] for name in names}
    for name in names:
        assert found.path(name)[0] == name
        assert found.path(name)[-1] == "root"
        assert found.above(name, 9) == found.path(name)[1:]
        assert sorted(found.whole(name)) == sorted(below[name])
        assert found.is_inner(name) == (below[name] != [name])
        for other in names:
            assert found.depth(name, other) == found.depth(other, name)


@given(forests(), st.data())
def test_the_order_has_two_sides(queues: list[Queue], data: st.DataObject) -> None:
    made = scene(*queues)
    leaves = [q.name for q in queues if not any(o.parent == q.name for o in queues)]
    for name in leaves:
        made.put(
            gang(name, name), *(task(f"{name}-{n}", name, cpu=1, node="n") for n in range(data.draw(st.integers(0, 2))))
        )
    found = Tree.of(made.open())
    if found.sound:
        for a in queues:
            for b in queues:
                assert found.compare(a, b) == -found.compare(b, a)


def test_what_is_not_named_comes_from_above() -> None:
    found = tree(
        line("root"), line("t", parent="root", capability={"cpu": 4}), line("a", parent="t", capability={"gpu": 1})
    )
    assert found.real["a"] == {"cpu": 4000, "memory": math.inf, "nvidia.com/gpu": 1000, "pods": math.inf}


def test_a_guarantee_that_the_team_may_not_have_is_cut() -> None:
    found = tree(line("root"), line("t", capability={"cpu": 1}), line("a", parent="t", guarantee={"cpu": 2}))
    assert found.real["a"]["cpu"] == 1000


def test_the_root_has_no_limit_where_none_is_written() -> None:
    assert set(tree(line("root")).real["root"].values()) == {math.inf}
    assert tree(line("root", capability={"cpu": 2})).real["root"] == {"cpu": 2000}


def test_what_siblings_are_guaranteed_is_not_to_be_had() -> None:
    found = tree(
        line("root"),
        line("t", parent="root", capability={"cpu": 6}),
        line("a", parent="t", guarantee={"cpu": 2}),
        line("b", parent="t", guarantee={"cpu": 1}),
    )
    assert (found.real["a"]["cpu"], found.real["b"]["cpu"]) == (5000, 4000)


def test_the_root_deserves_what_its_children_do_and_they_at_least_their_guarantee() -> None:
    found = tree(
        line("root", deserved={"cpu": 99}),
        line("a", deserved={"cpu": 1}, guarantee={"cpu": 2}),
        line("b", deserved={"cpu": 3}),
    )
    assert found.deserved == {"root": {"cpu": 5000}, "a": {"cpu": 2000}, "b": {"cpu": 3000}}
    assert found.guarantee["root"] == {"cpu": 2000}


def test_deserved_is_not_cut_by_what_may_be_had() -> None:
    assert tree(line("root"), line("a", deserved={"cpu": 9}, capability={"cpu": 1})).deserved["a"] == {"cpu": 9000}


@pytest.mark.parametrize(
    "queues",
    [
        (),
        (line("a"),),
        (line("root"), line("a", parent="x")),
        (line("root"), line("a", parent="b"), line("b", parent="a")),
    ],
)
def test_without_a_root_with_a_lost_parent_or_in_a_circle_it_is_no_tree(queues: tuple[Queue, ...]) -> None:
    assert not tree(*queues).sound


def test_a_gang_in_an_inner_queue_waits_and_keeps_nobody_else_waiting() -> None:
    made = Scene(line("root"), line("t", capability={"cpu": 6}), line("a", parent="t"), node("n", cpu=9))
    for name, at in (("g", "t"), ("h", "a")):
        made.put(gang(name, at, phase=Phase.INQUEUE), task(f"{name}-0", name, cpu=3))
    tree = option("capacity", hierarchy=True)
    assert [uid for uid, _ in made.run("enqueue allocate", "gang", "predicates", tree).outcome.binds] == ["h-0"]
    made.put(task("g-1", "g", cpu=4, node="n"))  # placed before the queue became an inner one
    assert made.run("enqueue allocate", "gang", "predicates", tree).outcome.binds == []


def teams() -> Scene:
    """Teams s and t deserve 4 each; s has 1 of it, in s1, t has 2, in t1."""
    made = scene(line("root"), line("s", deserved={"cpu": 4}), line("t", deserved={"cpu": 4}))
    made.put(*(line(name, parent=name[0], deserved={"cpu": 1}) for name in ("s1", "s2", "t1", "t2")))
    made.put(
        gang("s1", "s1"), gang("t1", "t1"), task("s1-0", "s1", cpu=1, node="n"), task("t1-0", "t1", cpu=2, node="n")
    )
    return made


def test_leaves_are_compared_where_their_paths_part() -> None:
    made = teams()
    found = Tree.of(made.open())
    assert found.compare(made.queue("s1"), made.queue("t2")) < 0  # s is behind t
    assert found.compare(made.queue("s2"), made.queue("s1")) < 0
    assert found.compare(made.queue("s1"), made.queue("s")) < 0  # a leaf before an inner queue
    assert found.compare(made.queue("s"), made.queue("t")) < 0


def test_shares_of_inner_queues_are_those_of_the_beginning() -> None:
    made = teams()
    found = Tree.of(made.open())
    made.put(task("s1-1", "s1", cpu=3, node="n"))
    assert found.compare(made.queue("s1"), made.queue("t1")) < 0
    assert Tree.of(made.open()).compare(made.queue("s1"), made.queue("t1")) > 0


def test_depth_counts_from_the_root() -> None:
    found = tree(
        line("root"),
        line("t"),
        line("u", parent="t"),
        line("a", parent="u"),
        line("b", parent="u"),
        line("c", parent="t"),
    )
    assert [found.depth("a", other) for other in ("b", "c", "t", "root")] == [2, 1, 0, 0]
