"""Node masks: what nodes are."""

from __future__ import annotations

from dataclasses import replace

from kumi.engine.journal import Journal
from kumi.engine.model import Node, PodShape, Requirement, Taint, Toleration
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.node_masks import (
    UNSCHEDULABLE,
    affine,
    cordon,
    enduring,
    holding,
    ready,
    selected,
    taint_lists,
)
from kumi.testing.builders import node, shape


def table(*found: Node) -> Nodes:
    nodes = Nodes(Journal())
    for each in found:
        nodes.put(each)
    return nodes


def names(nodes: Nodes, mask: object) -> list[str]:
    return [name for name in nodes.names() if mask[nodes.row_by_name[name]]]  # type: ignore[index]


def test_a_cordon_is_endured_like_its_taint() -> None:
    nodes = table(node("n1"), replace(node("n2"), unschedulable=True), replace(node("n3"), ready=False))
    assert names(nodes, cordon(nodes, shape())) == ["n1", "n3"]
    endures = shape(tolerations=(Toleration(UNSCHEDULABLE.key, "Exists", "", ""),))
    assert names(nodes, cordon(nodes, endures)) == ["n1", "n2", "n3"]
    assert names(nodes, ready(nodes)) == ["n1", "n2"]


def test_advice_blocks_nobody_and_is_listed() -> None:
    advice, block = Taint("a", "", "PreferNoSchedule"), Taint("b", "", "NoExecute")
    nodes = table(replace(node("n1"), taints=(advice,)), replace(node("n2"), taints=(advice, block)))
    assert names(nodes, enduring(nodes, ())) == ["n1"]
    assert names(nodes, enduring(nodes, (Toleration("b", "Exists", "", ""),))) == ["n1", "n2"]
    codes, lists = taint_lists(nodes)
    assert [lists[codes[row]] for row in nodes.by_name()] == [(advice,), (advice, block)]


def test_labels_are_selected_and_terms_are_alternatives() -> None:
    nodes = table(node("n1", {"zone": "a", "gpu": "x"}), node("n2", {"zone": "a"}), node("n3", {"zone": "b"}))
    zone_a, gpu = Requirement("zone", "In", ("a",)), Requirement("gpu", "Exists")
    assert names(nodes, selected(nodes, shape(selector={"zone": "a", "gpu": "x"}))) == ["n1"]
    assert names(nodes, holding(nodes, (zone_a, gpu))) == ["n1"]
    either = PodShape((), affinity=((zone_a, gpu), (Requirement("zone", "In", ("b",)),), ()))
    assert names(nodes, affine(nodes, either)) == ["n1", "n3"]
    assert names(nodes, affine(nodes, PodShape((), affinity=()))) == []
    assert names(nodes, affine(nodes, PodShape(()))) == ["n1", "n2", "n3"]


def test_a_row_without_a_node_is_not_ready() -> None:
    nodes = table(node("n1"), node("n2"))
    row = nodes.row_by_name["n1"]
    nodes.remove("n1")
    assert not ready(nodes)[row]
