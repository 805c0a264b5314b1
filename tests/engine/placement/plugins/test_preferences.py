"""Preferences: what pods would like of nodes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Node, PodShape, Requirement, Taint, Toleration
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.preferences import ADVICE, LARGE, SMALL, images, node_affinity, taints
from kumi.testing.builders import node

MIB = 2**20


def table(*found: Node) -> Nodes:
    nodes = Nodes(Journal())
    for each in found:
        nodes.put(each)
    return nodes


def prefers(*terms: tuple[int, str, str]) -> PodShape:
    return PodShape((), preferred=tuple((w, (Requirement(k, "In", (v,)),)) for w, k, v in terms))


@given(
    st.lists(st.sampled_from(["a", "b", ""]), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(1, 100), st.sampled_from(["a", "b"])), min_size=1, max_size=3),
)
def test_node_affinity_is_the_weights_in_proportion_to_the_most(
    zones: list[str], wanted: list[tuple[int, str]]
) -> None:
    nodes = table(*(node(f"n{at}", {"zone": z} if z else {}) for at, z in enumerate(zones)))
    raw = [sum(w for w, v in wanted if v == z) for z in zones]
    found = node_affinity(nodes, prefers(*((w, "zone", v) for w, v in wanted)), nodes.by_name())
    assert (found.tolist() if found is not None else None) == ([100 * r // max(raw) for r in raw] if max(raw) else None)


def test_who_prefers_nothing_finds_all_alike() -> None:
    nodes = table(node("n"))
    assert node_affinity(nodes, PodShape(()), nodes.by_name()) is None


def advice(*keys: str) -> tuple[Taint, ...]:
    return tuple(Taint(key, "", ADVICE) for key in keys)


def test_taints_that_are_advice_cost_what_they_are_of_the_most() -> None:
    nodes = table(
        node("n0"),
        replace(node("n1"), taints=advice("a")),
        replace(node("n2"), taints=(*advice("a", "b", "c"), Taint("d", "", "NoSchedule"))),
    )
    rows = nodes.by_name()
    found = taints(nodes, PodShape(()), rows)
    assert found is not None
    assert found.tolist() == [0, -33, -100]
    endures = Toleration("a", "Exists", "", "")
    found = taints(nodes, PodShape((), tolerations=(endures,)), rows)
    assert found is not None
    assert found.tolist() == [0, 0, -100]
    blocking = Toleration("a", "Exists", "", "NoSchedule")
    found = taints(nodes, PodShape((), tolerations=(blocking,)), rows)
    assert found is not None
    assert found.tolist() == [0, -33, -100]


def test_where_all_is_endured_nodes_are_alike() -> None:
    nodes = table(node("n0"), replace(node("n1"), taints=advice("a")))
    everything = PodShape((), tolerations=(Toleration("", "Exists", "", ""),))
    assert taints(nodes, everything, nodes.by_name()) is None
    assert taints(nodes, PodShape(()), nodes.by_name()[:1]) is None


def test_images_count_by_their_bytes_and_by_how_many_nodes_have_them() -> None:
    everywhere, once = ("common:1", 600 * MIB), ("rare:1", 600 * MIB)
    nodes = table(replace(node("n0"), images=(everywhere, once)), replace(node("n1"), images=(everywhere,)))
    rows = nodes.by_name()

    def score(mib: float, containers: int) -> int:
        most = LARGE * containers
        return int(100 * (min(max(int(mib * MIB), SMALL), most) - SMALL) // (most - SMALL))

    found = images(nodes, PodShape((), images=("common:1",)), rows)
    assert found is not None
    assert found.tolist() == [score(600, 1)] * 2
    found = images(nodes, PodShape((), images=("common:1", "rare:1"), containers=2), rows)
    assert found is not None
    assert found.tolist() == [score(900, 2), score(600, 2)]
    assert images(nodes, PodShape((), images=("unknown:1",)), rows) is None


def test_an_image_that_comes_later_counts() -> None:
    nodes = table(node("n0"))
    asked = PodShape((), images=("x:1",))
    assert images(nodes, asked, nodes.by_name()) is None
    nodes.put(replace(node("n0"), images=(("x:1", 2 * LARGE),)))
    found = images(nodes, asked, nodes.by_name())
    assert found is not None
    assert found.tolist() == [100]
