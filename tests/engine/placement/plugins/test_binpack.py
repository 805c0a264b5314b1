"""Binpack: the fullest that fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Node, PodShape
from kumi.engine.placement.conf import Arguments, Option
from kumi.engine.placement.nodes import Nodes, Scores
from kumi.engine.placement.plugins.binpack import Binpack
from kumi.testing.builders import GPU, node, pod, shape
from kumi.testing.diagram import _plain
from kumi.testing.strategies import nodes as some_node
from kumi.testing.strategies import shapes


def table(*nodes: Node) -> Nodes:
    made = Nodes(Journal())
    for each in nodes:
        made.put(each)
    return made


def scores_of(nodes: Nodes, asked: PodShape, rule: Binpack | None = None, placed: int = 0) -> Scores:
    """By the nodes' names."""
    rows = nodes.by_name()
    return (rule or Binpack()).by_load(nodes, nodes.seen, pod("ns/p", shape=asked), rows, np.full(rows.size, placed))


def plain(nodes: Nodes, name: str, asked: PodShape, weights: dict[str, int] | None) -> float:
    """The rule for one node."""
    row, total, known = nodes.row_by_name[name], 0.0, 0
    for resource, amount in asked.requests:
        weight = 1 if weights is None else weights.get(resource)
        if weight is None or not amount:
            continue
        known += weight
        line = nodes.line_by_resource.get(resource)
        have = int(nodes.allocatable[line, row]) if line is not None else 0
        if have:
            used = int(nodes.used[line, row]) + amount
            if used > have and weight:
                return 0.0
            total += weight * used / have
    return 100 * total / known if known else 0.0


@given(
    st.lists(st.integers(0, 9).map(lambda n: f"n{n}").flatmap(some_node), unique_by=lambda n: n.name),
    shapes(),
    st.none() | st.dictionaries(st.sampled_from(["cpu", "memory", GPU]), st.integers(0, 4)),
    st.lists(st.tuples(st.integers(0, 9), shapes()), max_size=4),
)
def test_the_scores_are_the_rule_for_each_node_and_change_nothing(
    found: list[Node], asked: PodShape, weights: dict[str, int] | None, used: list[tuple[int, PodShape]]
) -> None:
    nodes = table(*found)
    for number, on_it in used:
        nodes.use(f"n{number}", on_it.requests, 1)
    before = _plain(nodes)
    rule = Binpack(1, tuple(weights.items()) if weights is not None else None)
    assert scores_of(nodes, asked, rule).tolist() == pytest.approx(
        [plain(nodes, name, asked, weights) for name in nodes.names()]
    )
    assert _plain(nodes) == before


@given(st.lists(some_node("n"), min_size=1, max_size=1), shapes(), st.integers(1, 3))
def test_placed_pods_count_as_if_they_were_there(found: list[Node], asked: PodShape, placed: int) -> None:
    nodes = table(*found)
    ahead = scores_of(nodes, asked, placed=placed)
    nodes.use("n", asked.requests, placed)
    assert ahead.tolist() == pytest.approx(scores_of(nodes, asked).tolist())


def test_the_score_is_the_mean_fullness_over_what_is_asked_for() -> None:
    nodes = table(node("n1", gpu=8, cpu=10))
    nodes.use("n1", ((GPU, 2000), ("cpu", 1000)), 1)
    assert scores_of(nodes, shape(gpu=2, cpu=4))[0] == 100 * (4 / 8 + 5 / 10) / 2
    assert scores_of(nodes, shape(gpu=2))[0] == 100 * 4 / 8


def test_a_node_that_is_used_already_beats_an_empty_one() -> None:
    nodes = table(node("n1", gpu=8), node("n2", gpu=8))
    nodes.use("n2", ((GPU, 1000),), 3)
    first, second = scores_of(nodes, shape(gpu=1))
    assert second > first


def test_who_asks_for_nothing_finds_all_nodes_equal() -> None:
    nodes = table(node("n1", gpu=8), node("n2", gpu=1))
    assert not scores_of(nodes, shape()).any()


def test_what_would_not_fit_scores_nothing() -> None:
    assert scores_of(table(node("n1", cpu=4, gpu=1)), shape(cpu=2, gpu=2)).tolist() == [0.0]


def test_arguments_name_the_weights() -> None:
    said = {
        "binpack.weight": 10,
        "binpack.cpu": "2",
        "binpack.memory": -1,
        "binpack.resources": "nvidia.com/gpu, example.com/foo",
        "binpack.resources.nvidia.com/gpu": 7,
    }
    weights = (("cpu", 2), ("memory", 1), (GPU, 7), ("example.com/foo", 1))
    assert Binpack.configured(Option("binpack", arguments=Arguments(said))) == Binpack(10, weights)


def test_a_resource_without_a_weight_is_left_out() -> None:
    nodes = table(node("n1", cpu=4, gpu=1))
    rule = Binpack.configured(Option("binpack"))
    assert scores_of(nodes, shape(cpu=2, gpu=1), rule).tolist() == [50.0]
