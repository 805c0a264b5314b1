"""Binpack: the fullest that fits."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Node, PodShape
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.binpack import Binpack
from kumi.engine.placement.plugins.nodeorder import NodeOrder
from kumi.testing.builders import GPU, node, shape
from kumi.testing.diagram import _plain
from kumi.testing.strategies import nodes as some_node
from kumi.testing.strategies import shapes


def table(*nodes: Node) -> Nodes:
    made = Nodes(Journal())
    for each in nodes:
        made.put(each)
    return made


@given(st.lists(st.integers(0, 9).map(lambda n: f"n{n}").flatmap(some_node), unique_by=lambda n: n.name), shapes())
def test_scores_stay_in_range_and_change_nothing(found: list[Node], asked: PodShape) -> None:
    nodes = table(*found)
    before = _plain(nodes)
    for plugin in (Binpack(), NodeOrder()):
        scores = plugin.score(nodes, asked.requests, np.ones(nodes.used.shape[1], dtype=np.int64))
        assert ((scores >= 0) & (scores <= 100)).all()
        again = plugin.score(nodes, asked.requests, np.ones(nodes.used.shape[1], dtype=np.int64))
        assert (scores == again).all()
    assert _plain(nodes) == before


def test_the_score_is_the_mean_fullness_over_what_is_asked_for() -> None:
    nodes = table(node("n1", gpu=8, cpu=10))
    nodes.use("n1", ((GPU, 2000), ("cpu", 1000)), 1)
    scores = Binpack().score(nodes, shape(gpu=2, cpu=4).requests, np.ones(8, dtype=np.int64))
    assert scores[0] == 100 * (4 / 8 + 5 / 10) / 2
    only_gpu = Binpack().score(nodes, shape(gpu=2).requests, np.ones(8, dtype=np.int64))
    assert only_gpu[0] == 100 * 4 / 8


def test_a_node_that_is_used_already_beats_an_empty_one() -> None:
    nodes = table(node("n1", gpu=8), node("n2", gpu=8))
    nodes.use("n2", ((GPU, 1000),), 3)
    scores = Binpack().score(nodes, shape(gpu=1).requests, np.ones(8, dtype=np.int64))
    assert scores[nodes.row_by_name["n2"]] > scores[nodes.row_by_name["n1"]]


def test_who_asks_for_nothing_finds_all_nodes_equal() -> None:
    nodes = table(node("n1", gpu=8), node("n2", gpu=1))
    assert not Binpack().score(nodes, (), np.ones(8, dtype=np.int64)).any()
