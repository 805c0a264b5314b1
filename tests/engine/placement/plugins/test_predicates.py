"""Predicates: the array answer is the plain one, and every no is counted under one cause."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Node, PodShape, Requirement, Toleration
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.predicates import UNSCHEDULABLE, Predicates, scarcest
from kumi.engine.reasons import Code
from kumi.engine.selectors import affinity_holds, untolerated
from kumi.testing.builders import GPU, node, shape
from kumi.testing.strategies import ENDURES, TAINT, shapes
from kumi.testing.strategies import nodes as some_node

OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Unknown"]
requirements = st.builds(
    Requirement,
    st.sampled_from(["zone", "kubernetes.io/hostname", "rank", "none"]),
    st.sampled_from(OPERATORS),
    st.lists(st.sampled_from(["a", "b", "n1", "3", "x"]), max_size=2).map(tuple),
)
affinities = st.none() | st.lists(st.lists(requirements, max_size=2).map(tuple), max_size=2).map(tuple)
tolerations = st.lists(
    st.sampled_from([ENDURES, Toleration("", "Exists", "", ""), Toleration(UNSCHEDULABLE.key, "Exists", "", "")]),
    max_size=2,
).map(tuple)
ranked = st.sampled_from([(), (("rank", "2"),), (("rank", "10"),)])


def table(nodes: list[Node]) -> Nodes:
    made = Nodes(Journal())
    for each in nodes:
        made.put(each)
    return made


def plain(has: Node, asked: PodShape) -> bool:
    labels = dict(has.labels)
    taints = has.taints + ((UNSCHEDULABLE,) if has.unschedulable else ())
    return (
        has.ready
        and untolerated(taints, asked.tolerations) is None
        and all(labels.get(k) == v for k, v in asked.node_selector)
        and affinity_holds(asked.affinity, labels)
    )


@st.composite
def some_nodes(draw: st.DrawFn) -> list[Node]:
    made = []
    for number in range(draw(st.integers(0, 10))):
        drawn = draw(some_node(f"n{number}"))
        labels = drawn.labels + draw(ranked)
        made.append(Node(drawn.name, labels, drawn.allocatable, drawn.taints, draw(st.booleans()), draw(st.booleans())))
    return made


@given(some_nodes(), shapes(), affinities, tolerations)
def test_the_mask_is_what_the_rule_says_of_each_node(
    found: list[Node], asked: PodShape, affinity: tuple[tuple[Requirement, ...], ...] | None, endured: tuple[Toleration]
) -> None:
    asked = PodShape(asked.requests, asked.node_selector, endured, affinity)
    nodes = table(found)
    mask = Predicates().mask(nodes, asked)
    assert {n.name: bool(mask[nodes.row_by_name[n.name]]) for n in found} == {n.name: plain(n, asked) for n in found}
    assert int(mask.sum()) == sum(plain(n, asked) for n in found)


def test_a_node_without_the_label_is_in_no_list_of_values_and_outside_of_every_one() -> None:
    nodes = table([node("n0"), node("n1", {"zone": "a"}), node("n2", {"zone": "b"})])
    for operator, fitting in (("In", {"n1"}), ("NotIn", {"n0", "n2"})):
        mask = Predicates().mask(nodes, PodShape((), affinity=((Requirement("zone", operator, ("a",)),),)))
        assert {name for name, row in nodes.row_by_name.items() if mask[row]} == fitting


@given(some_nodes(), shapes(), st.lists(st.tuples(st.integers(0, 9), shapes()), max_size=6))
def test_every_node_that_takes_no_pod_is_counted_once(
    found: list[Node], asked: PodShape, used: list[tuple[int, PodShape]]
) -> None:
    nodes = table(found)
    for number, on_it in used:
        nodes.use(f"n{number}", on_it.requests, 1)
    fits = nodes.fits(asked.requests, Predicates().mask(nodes, asked))
    reasons = Predicates().refusals(nodes, asked)
    if found:
        assert sum(reason.nodes for reason in reasons) == len(found) - int((fits > 0).sum())
    else:
        assert [reason.code for reason in reasons] == [Code.NO_NODES]


def test_each_cause_has_its_own_reason() -> None:
    nodes = table(
        [
            node("down", {"zone": "a"}, gpu=8, ready=False),
            node("tainted", {"zone": "a"}, gpu=8, taints=(TAINT,)),
            node("cordoned", {"zone": "a"}, gpu=8, unschedulable=True),
            node("elsewhere", {"zone": "b"}, gpu=8),
            node("small", {"zone": "a"}, gpu=1),
            node("full", {"zone": "a"}, gpu=4),
        ]
    )
    nodes.use("full", ((GPU, 3000),), 1)
    reasons = Predicates().refusals(nodes, shape(selector={"zone": "a"}, gpu=2))
    said = [(r.code, r.detail, r.nodes, r.need, r.have, r.permanent) for r in reasons]
    assert said == [
        (Code.NODE_NOT_MATCHED, "not ready", 1, 0, 0, False),
        (Code.NODE_NOT_MATCHED, "taint", 2, 0, 0, False),
        (Code.NODE_NOT_MATCHED, "selector", 1, 0, 0, False),
        (Code.NODE_TOO_SMALL, "", 1, 2000, 1000, False),
        (Code.NODES_FULL, "", 1, 2000, 1000, False),
    ]


def test_an_affinity_that_holds_nowhere_is_told_as_such() -> None:
    asked = PodShape((), affinity=((Requirement("zone", "Exists"),),))
    assert [r.detail for r in Predicates().refusals(table([node("n1")]), asked)] == ["affinity"]


def test_too_small_for_good_is_permanent_only_if_no_node_will_do_later() -> None:
    reasons = Predicates().refusals(table([node("n1", gpu=1)]), shape(gpu=2))
    assert [(r.code, r.permanent) for r in reasons] == [(Code.NODE_TOO_SMALL, True)]


def test_the_scarcest_resource_is_the_one_that_the_fewest_nodes_have() -> None:
    nodes = table([node("n1", gpu=1, cpu=8), node("n2", gpu=4, cpu=1)])
    asked = shape(cpu=1, gpu=2)
    mask = Predicates().mask(nodes, asked)
    assert scarcest(nodes, asked, mask, empty=True) == (GPU, 2000, 4000)
    assert scarcest(nodes, shape(cpu=1, memory="1Gi"), mask, empty=True) == ("memory", 2**30, 0)


def test_a_full_pod_count_is_a_cause_like_any_other() -> None:
    nodes = table([Node("n1", (), ((GPU, 8000), ("pods", 1000)))])
    nodes.use("n1", (), 1)
    reasons = Predicates().refusals(nodes, shape(gpu=1))
    assert [(r.code, r.resource) for r in reasons] == [(Code.NODES_FULL, "pods")]
