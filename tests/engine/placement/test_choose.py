"""Choose: a run in one pass is what single steps give."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.model import Neighbours, Node, PodShape, PodTerm, Requirement, SpreadTerm, Taint
from kumi.engine.placement.choose import NOTHING, choose, nominated, spread
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.tasks import Status
from kumi.testing.builders import amounts, node, shape
from kumi.testing.gangs import Scene, gang, line, option, task
from kumi.testing.neighbours import HOST, ZONE, clusters, here, labels, looking, neighbours, places, ports, zone

PLUGINS = (
    "predicates",
    "nodeorder",
    "binpack",
    "nodegroup",
    "resource-strategy-fit",
    "usage",
    "numa-aware",
    "task-topology",
)


def rows_one_by_one(session: Framework, name: str, run: int) -> tuple[list[int], Status]:
    """The reference: a task, then the next like it, each seen by the one after."""
    found: list[int] = []
    first = Status.PENDING
    one = session.tasks.pods[name]
    with session.journal.trial():
        for _ in range(run):
            rows, status = choose(session, one, 1)
            if not rows or (found and status is not first):
                break
            first = status
            found += rows
            at = session.nodes.name_by_row()[rows[0]]
            if status is Status.ALLOCATED:
                session.nodes.use(at, one.shape.requests, 1)
            else:
                session.nodes.pipeline(at, one.shape.requests, 1)
            session.seated(one, at, 1)
    return found, first


def rows_by_runs(session: Framework, name: str, run: int) -> tuple[list[int], Status]:
    """As an action does it: runs, as long as each gives something of the same kind."""
    found: list[int] = []
    first = Status.PENDING
    one = session.tasks.pods[name]
    with session.journal.trial():
        while len(found) < run:
            rows, status = choose(session, one, run - len(found))
            if not rows or (found and status is not first):
                break
            first = status
            found += rows
            for row in rows:
                at = session.nodes.name_by_row()[row]
                if status is Status.ALLOCATED:
                    session.nodes.use(at, one.shape.requests, 1)
                else:
                    session.nodes.pipeline(at, one.shape.requests, 1)
                session.seated(one, at, 1)
    return found, first


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    found = [
        replace(n, taints=draw(st.sampled_from([(), (), (Taint("t", "", "PreferNoSchedule"),)])))
        for n in draw(clusters())
    ]
    made = Scene(*found, line(), gang("g", phase=Phase.INQUEUE), gang("r"))
    pods = draw(looking())
    for one, where in zip(pods, draw(places(found, len(pods))), strict=True):
        made.put(
            replace(task(one.uid, "r", node=where), shape=one.shape, labels=one.labels, terminating=one.terminating)
        )
    asked = PodShape(
        amounts(cpu=draw(st.integers(0, 2)), memory=draw(st.sampled_from([0, 5]))),
        node_selector=draw(st.sampled_from([(), (), ((ZONE, "z0"),)])),
        neighbours=draw(st.none() | neighbours),
        ports=draw(st.sampled_from([()]) | ports),
        scored=draw(st.sampled_from([None, (2000, 10)])),
    )
    made.put(replace(task("t", "g"), shape=asked, labels=draw(labels)))
    return made


@settings(max_examples=150)
@given(scenes(), st.integers(1, 6), st.sampled_from([PLUGINS[:2], PLUGINS[:3], ("predicates",), PLUGINS[1:3]]))
def test_a_run_gets_what_single_steps_get(made: Scene, run: int, names: tuple[str, ...]) -> None:
    session = made.open(*names)
    assert rows_by_runs(session, "t", run) == rows_one_by_one(session, "t", run)


@given(scenes(), st.integers(1, 4))
def test_choosing_changes_nothing(made: Scene, run: int) -> None:
    session = made.open("predicates", "nodeorder")
    first = choose(session, made.pod("t"), run)
    assert choose(session, made.pod("t"), run) == first


def small(*nodes: Node, **asked: object) -> Scene:
    made = Scene(*nodes, line(), gang("g", phase=Phase.INQUEUE), gang("r"))
    made.put(replace(task("t", "g"), **asked))
    return made


def names_of(session: Framework, rows: list[int]) -> list[str]:
    return [session.nodes.name_by_row()[row] for row in rows]


def test_what_releases_is_promised_where_nothing_is_free() -> None:
    made = small(node("n1", cpu=1), node("n2", cpu=1), shape=shape(cpu=1))
    made.put(task("a", "r", node="n1", cpu=1), task("b", "r", node="n2", cpu=1, terminating=True))
    session = made.open("predicates")
    rows, status = choose(session, made.pod("t"), 3)
    assert (names_of(session, rows), status) == (["n2"], Status.PIPELINED)
    assert choose(session, replace(made.pod("t"), shape=shape(cpu=2)), 1) == NOTHING


def test_a_nominated_node_is_taken_if_it_has_room() -> None:
    made = small(node("n1", cpu=4), node("n2", cpu=4))
    made.put(task("u", "g", cpu=1, nominated="n2"), task("v", "g", cpu=1, nominated="gone"))
    session = made.open("predicates")
    assert names_of(session, choose(session, made.pod("u"), 1)[0]) == ["n2"]
    assert names_of(session, choose(session, made.pod("v"), 1)[0]) == ["n1"]
    assert nominated(session, made.pod("t"), session.nodes.used[0]) is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Neighbours(apart=(here("app", "a"),)), ["n1", "n2", "n3"]),
        (Neighbours(apart=(PodTerm("none", here("app", "a").selector),)), ["n1", "n2", "n3", "n1"]),
        (Neighbours(apart=(zone("app", "a"),)), ["n1", "n3"]),
        (Neighbours(near=(zone("app", "a"),)), ["n1", "n2", "n1", "n2"]),
        (Neighbours(spread=(SpreadTerm(ZONE, zone("app", "a").selector),)), ["n1", "n3", "n2", "n3"]),
    ],
)
def test_pods_of_a_run_see_each_other(said: Neighbours, expected: list[str]) -> None:
    made = small(
        *(node(f"n{at}", {HOST: f"n{at}", ZONE: z}, cpu=8, memory="8Gi") for at, z in ((1, "a"), (2, "a"), (3, "b"))),
        shape=replace(shape(cpu=1, memory="1Gi"), neighbours=said),
        labels=(("app", "a"),),
    )
    session = made.open("predicates", "nodeorder")
    rows, status = rows_by_runs(session, "t", 4)
    assert names_of(session, rows) == expected
    assert status is Status.ALLOCATED


def test_equal_scores_go_by_name() -> None:
    made = small(node("n2", cpu=2), node("n1", cpu=2), node("n3", cpu=2), shape=shape(cpu=1))
    session = made.open(option("predicates"))
    assert names_of(session, choose(session, made.pod("t"), 5)[0]) == ["n1", "n1", "n2", "n2", "n3"]
    one = session.nodes.fits(made.pod("t").shape.requests, session.nodes.used[0] == 0)
    assert names_of(session, spread(session, made.pod("t"), one, 1)) == ["n1"]


def test_where_a_node_is_full_the_others_are_compared_anew() -> None:
    """n1 is full after one. Of what is left n2 is preferred most, and so it is as good as n1 was; beside n1 it was half as good,
    and n3, which is emptier, better."""
    preferred = tuple((weight, (Requirement("disk", "In", (disk,)),)) for weight, disk in ((100, "a"), (50, "b")))
    made = small(
        node("n1", {"disk": "a"}, cpu=8, memory="8Gi", pods=1),
        node("n2", {"disk": "b"}, cpu=8, memory="8Gi"),
        node("n3", cpu=8, memory="8Gi"),
        shape=replace(shape(cpu=1, memory="1Gi"), preferred=preferred),
    )
    made.put(task("r", "r", node="n2", cpu=3, memory="3Gi"))
    session = made.open("predicates", option("nodeorder", **{"nodeaffinity.weight": 1, "leastrequested.weight": 2}))
    assert names_of(session, rows_by_runs(session, "t", 2)[0]) == ["n1", "n2"]
    assert names_of(session, rows_one_by_one(session, "t", 2)[0]) == ["n1", "n2"]
