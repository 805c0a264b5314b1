"""Domains: sums over nodes with one label value."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Node
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.domains import is_single, labelled, totals
from kumi.testing.builders import node
from kumi.testing.neighbours import HOST, ZONE, clusters


def table(found: list[Node]) -> Nodes:
    nodes = Nodes(Journal())
    for each in found:
        nodes.put(each)
    return nodes


@given(clusters(), st.lists(st.integers(0, 9), min_size=5, max_size=5), st.sampled_from([HOST, ZONE, "none"]))
def test_a_total_is_the_sum_over_the_nodes_with_the_same_label(found: list[Node], amounts: list[int], key: str) -> None:
    nodes = table(found)
    counts = np.zeros(nodes.used.shape[1], dtype=np.int64)
    for each, amount in zip(found, amounts, strict=False):
        counts[nodes.row_by_name[each.name]] = amount
    made = totals(nodes, key, counts)
    for each in found:
        value = dict(each.labels).get(key)
        same = [int(counts[nodes.row_by_name[n.name]]) for n in found if dict(n.labels).get(key) == value]
        assert int(made[nodes.row_by_name[each.name]]) == (sum(same) if value is not None else 0)
        assert bool(labelled(nodes, key)[nodes.row_by_name[each.name]]) is (value is not None)


def test_host_names_are_single_and_zones_are_not() -> None:
    nodes = table([node("n1", {HOST: "n1", ZONE: "z"}), node("n2", {HOST: "n2", ZONE: "z"}), node("n3")])
    assert is_single(nodes, HOST)
    assert not is_single(nodes, ZONE)
    nodes.put(node("n4", {HOST: "n1"}))
    assert not is_single(nodes, HOST)
