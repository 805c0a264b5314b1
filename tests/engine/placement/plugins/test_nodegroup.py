"""Node group: queues and the nodes that they may use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kumi.engine.gangs import NodeGroups, Phase
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.plugins.nodegroup import LABEL
from kumi.testing.builders import node
from kumi.testing.gangs import Scene, gang, line, option, task

SAYS = NodeGroups(required=("g1",), preferred=("g2", "g4"), anti_required=("g3", "g4"), anti_preferred=("g4",))


def scene(*queues: Any) -> Scene:
    nodes = [node(f"n{at}", {LABEL: f"g{at}"}, cpu=8) for at in range(1, 5)]
    return Scene(*nodes, node("n5", cpu=8), *queues, gang("g", "q", phase=Phase.INQUEUE))


def takes(session: Framework, name: str = "t") -> list[str]:
    said = session.predicate(session.tasks.pods[name])
    assert set(said.tolist()) <= {Fit.OK, Fit.UNRESOLVABLE, Fit.ERROR}
    return [n for n in session.nodes.names() if said[session.nodes.row_by_name[n]] == Fit.OK]


def scores(session: Framework) -> list[float]:
    rows = session.nodes.by_name()
    return session.node_scores(session.tasks.pods["t"], rows, np.zeros(rows.size, dtype=np.int64)).tolist()


def test_required_and_preferred_groups_are_taken_and_ruled_out_ones_are_not() -> None:
    made = scene(line("q", groups=SAYS))
    made.put(task("t", "g", cpu=1))
    session = made.open("nodegroup")
    assert takes(session) == ["n1", "n2", "n4"]
    assert scores(session) == [100.0, 50.0, 0.0, -1.0, 0.0]


def test_preferred_groups_count_by_their_place() -> None:
    made = scene(line("q", groups=NodeGroups(required=("g1",), preferred=("g2", "g1"))))
    made.put(task("t", "g", cpu=1))
    assert scores(made.open(option("nodegroup", enablePreferredOrder=True))) == [125.0, 50.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("strict", "groups", "expected"), [(True, None, []), (False, None, ["n5"]), (False, SAYS, ["n1", "n2", "n4"])]
)
def test_nodes_without_a_group_are_for_those_who_say_nothing(
    strict: bool, groups: NodeGroups | None, expected: list[str]
) -> None:
    made = scene(line("q", groups=groups))
    made.put(task("t", "g", cpu=1))
    assert takes(made.open(option("nodegroup", strict=strict))) == expected


def test_a_queue_that_says_nothing_takes_what_its_nearest_ancestor_says() -> None:
    made = scene(line("root", groups=SAYS), line("mid"), line("q", parent="mid"))
    made.put(task("t", "g", cpu=1))
    assert takes(made.open("nodegroup")) == []
    inherits = option("nodegroup", hierarchy=True)
    assert takes(made.open(inherits)) == ["n1", "n2", "n4"]
    made.put(line("mid", groups=NodeGroups(required=("g3",))))
    assert takes(made.open(inherits)) == ["n3"]
    made.put(line("mid", parent="q"))
    assert takes(made.open(inherits)) == []


def test_a_limit_counts_what_the_queue_has_on_the_group_and_was_promised() -> None:
    both = NodeGroups(required=("g1", "g2"))
    made = scene(line("q", groups=both, group_limits=(("g1", (("cpu", 3000),)),)))
    made.put(task("r", "g", node="n1", cpu=1), task("t", "g", cpu=1), task("u", "g", cpu=2), task("v", "g", cpu=3))
    session = made.open("nodegroup")
    assert [takes(session, name) for name in "tuv"] == [["n1", "n2"], ["n1", "n2"], ["n2"]]
    assert not session.is_steady(made.pod("t"))
    with session.journal.trial():
        session.seated(made.pod("u"), "n1", 1)
        assert takes(session) == ["n2"]
        session.seated(made.pod("u"), "n1", -1)
        assert takes(session) == ["n1", "n2"]
        session.seated(made.pod("u"), "n1", 1)
        session.seated(made.pod("v"), "n5", 1)
    assert takes(session) == ["n1", "n2"]


def test_a_limit_that_can_not_be_read_lets_nobody_in() -> None:
    made = scene(line("q", groups=SAYS, group_limits=None))
    made.put(task("t", "g", cpu=1))
    assert takes(made.open("nodegroup")) == []


def test_a_task_whose_gang_nobody_knows_is_an_error() -> None:
    made = scene(line("q", groups=SAYS))
    made.put(task("t", "g", cpu=1))
    session = made.open("nodegroup")
    stranger = task("x", "nowhere", cpu=1)
    assert (session.predicate(stranger)[session.nodes.by_name()] == Fit.ERROR).all()
    assert session.is_steady(stranger)
