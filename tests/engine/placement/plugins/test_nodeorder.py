"""Node order: weighted scores of the Kubernetes scheduler."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumi.engine.gangs import Phase
from kumi.engine.model import Neighbours, Node, Pod, SpreadTerm, Taint
from kumi.engine.placement.conf import Arguments, Option
from kumi.engine.placement.nodes import Ints
from kumi.engine.placement.plugins.nodeorder import NodeOrder
from kumi.testing.builders import node, pod, shape
from kumi.testing.gangs import Scene, gang, line, option, task
from kumi.testing.neighbours import ZONE, here, zone

OFF = dict.fromkeys(("least", "most", "balanced", "affinity", "taints", "images", "pods", "spread"), 0)


def only(**weights: int) -> NodeOrder:
    return NodeOrder(**{**OFF, **weights})


def scene(*nodes: Node) -> Scene:
    return Scene(*nodes, line(), gang("g", phase=Phase.INQUEUE))


def none(rows: Ints) -> Ints:
    return np.zeros(rows.size, dtype=np.int64)


def test_arguments_are_weights() -> None:
    said = {
        "leastrequested.weight": 0,
        "mostrequested.weight": "7",
        "balancedresource.weight": 2,
        "nodeaffinity.weight": 3,
        "tainttoleration.weight": 4,
        "imagelocality.weight": 5,
        "podaffinity.weight": 6,
        "podtopologyspread.weight": 8,
    }
    assert NodeOrder.configured(Option("nodeorder", arguments=Arguments(said))) == NodeOrder(0, 7, 2, 3, 4, 5, 6, 8)
    assert NodeOrder.configured(Option("nodeorder")) == NodeOrder()


def test_what_is_on_nodes_and_what_all_get_for_taints_adds_up() -> None:
    nodes = scene(node("n1", cpu=4, memory="4Gi")).state.nodes
    one = pod("ns/p", cpu=1, memory="1Gi")
    rows = nodes.by_name()
    for rule, expected in (
        (only(least=2), 2 * 75),
        (only(most=3), 3 * 25),
        (only(balanced=1), 75),
        (only(taints=3), 300),
        (NodeOrder(), 75 + 75 + 300),
    ):
        assert rule.by_load(nodes, nodes.seen, one, rows, none(rows)).tolist() == [expected]


def test_wishes_are_weighed_and_nothing_where_nodes_are_alike() -> None:
    advice = Taint("a", "", "PreferNoSchedule")
    nodes = scene(node("n1", {ZONE: "a"}), replace(node("n2", {ZONE: "b"}), taints=(advice,))).state.nodes
    rows = nodes.by_name()
    plain = pod("ns/p")
    assert only(taints=3).by_wish(nodes, plain, rows[:1]) is None
    assert only().by_wish(nodes, plain, rows) is None
    found = only(taints=3).by_wish(nodes, plain, rows)
    assert found is not None
    assert found.tolist() == [0.0, -300.0]
    there = replace(pod("ns/x"), labels=(("app", "a"),))
    nodes.residents.seat(there, "n2", 1)
    near = replace(plain, shape=replace(shape(), neighbours=Neighbours(rather_near=((1, zone("app", "a")),))))
    found = only(pods=2).by_wish(nodes, near, rows)
    assert found is not None
    assert found.tolist() == [0.0, 200.0]


def looking(neighbours: Neighbours) -> Pod:
    return replace(pod("ns/p"), shape=replace(shape(), neighbours=neighbours), labels=(("app", "a"),))


@pytest.mark.parametrize(
    ("rule", "neighbours", "steady"),
    [
        (NodeOrder(), Neighbours(rather_near=((1, zone("app", "a")),)), False),
        (only(pods=0, spread=1), Neighbours(rather_near=((1, zone("app", "a")),)), True),
        (NodeOrder(), Neighbours(spread=(SpreadTerm(ZONE, zone("app", "a").selector, hard=False),)), False),
        (only(pods=1), Neighbours(spread=(SpreadTerm(ZONE, zone("app", "a").selector, hard=False),)), True),
        (NodeOrder(), Neighbours(rather_near=((1, zone("app", "b")),)), True),
    ],
)
def test_a_run_is_steady_where_pods_do_not_like_themselves(
    rule: NodeOrder, neighbours: Neighbours, steady: bool
) -> None:
    nodes = scene(node("n1", {ZONE: "a"})).state.nodes
    assert rule.is_steady(nodes, looking(neighbours)) is steady


def test_what_a_session_places_is_seen_only_with_predicates() -> None:
    """Volcano's view of the pods on nodes moves with that plug-in."""
    made = scene(node("n1", cpu=4, memory="4Gi"))
    made.put(task("t", "g", cpu=1, memory="1Gi"))
    for names, expected in ((("nodeorder",), 450), (("predicates", "nodeorder"), 425)):
        session = made.open(*names)
        rows = session.nodes.by_name()
        with session.journal.trial():
            session.nodes.use("n1", (("cpu", 1000), ("memory", 2**30)), 1)
            assert session.node_scores(made.pod("t"), rows, none(rows)).tolist() == [expected]
            placed = session.node_scores(made.pod("t"), rows, none(rows) + 1).tolist()
            assert placed == [expected if expected == 450 else 400]


def test_images_alone_count_outside_of_the_batch() -> None:
    made = scene(replace(node("n1", cpu=4, memory="4Gi"), images=(("x:1", 1000 * 2**20),)))
    one = task("t", "g", cpu=1)
    made.put(replace(one, shape=replace(one.shape, images=("x:1",))))
    session = made.open(option("nodeorder", **{"imagelocality.weight": 2}))
    rows = session.nodes.by_name()
    assert session.single_scores(made.pod("t"), rows, none(rows)).tolist() == [200.0]


def test_a_session_asks_it_whether_a_run_is_steady() -> None:
    made = scene(node("n1", {ZONE: "a"}))
    one = task("t", "g", labels=(("app", "a"),))
    made.put(replace(one, shape=replace(one.shape, neighbours=Neighbours(rather_apart=((1, here("app", "a")),)))))
    assert not made.open("nodeorder").is_steady(made.pod("t"))
    assert made.open("predicates").is_steady(made.pod("t"))
