"""Predicates: the array answer is the plain one, and every no is counted under one cause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.gangs import Phase
from kumi.engine.journal import Journal
from kumi.engine.model import (
    Exclusive,
    HostPort,
    Neighbours,
    Node,
    Pod,
    PodShape,
    Requirement,
    SpreadTerm,
    Taint,
    Toleration,
    VolumeClaim,
)
from kumi.engine.placement.framework import Framework
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.node_masks import UNSCHEDULABLE
from kumi.engine.placement.plugins.predicates import Predicates, scarcest
from kumi.engine.reasons import Code
from kumi.engine.selectors import affinity_holds, untolerated
from kumi.testing.builders import GPU, node, pod, shape
from kumi.testing.gangs import Scene, gang, line, option, task
from kumi.testing.neighbours import HOST, ZONE, here, zone
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
    mask = Predicates().mask(nodes, pod("ns/p", shape=asked))
    assert {n.name: bool(mask[nodes.row_by_name[n.name]]) for n in found} == {n.name: plain(n, asked) for n in found}
    assert int(mask.sum()) == sum(plain(n, asked) for n in found)


def test_a_node_without_the_label_is_in_no_list_of_values_and_outside_of_every_one() -> None:
    nodes = table([node("n0"), node("n1", {"zone": "a"}), node("n2", {"zone": "b"})])
    for operator, fitting in (("In", {"n1"}), ("NotIn", {"n0", "n2"})):
        mask = Predicates().mask(
            nodes, pod("ns/p", shape=PodShape((), affinity=((Requirement("zone", operator, ("a",)),),)))
        )
        assert {name for name, row in nodes.row_by_name.items() if mask[row]} == fitting


@given(some_nodes(), shapes(), st.lists(st.tuples(st.integers(0, 9), shapes()), max_size=6))
def test_every_node_that_takes_no_pod_is_counted_once(
    found: list[Node], asked: PodShape, used: list[tuple[int, PodShape]]
) -> None:
    nodes = table(found)
    for number, on_it in used:
        nodes.use(f"n{number}", on_it.requests, 1)
    fits = nodes.fits(asked.requests, Predicates().mask(nodes, pod("ns/p", shape=asked)))
    reasons = Predicates().refusals(nodes, pod("ns/p", shape=asked))
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
    reasons = Predicates().refusals(nodes, pod("ns/p", shape=shape(selector={"zone": "a"}, gpu=2)))
    said = [(r.code, r.detail, r.nodes, r.need, r.have, r.permanent) for r in reasons]
    assert said == [
        (Code.NODE_NOT_MATCHED, "not ready", 1, 0, 0, False),
        (Code.NODE_NOT_MATCHED, "cordoned", 1, 0, 0, False),
        (Code.NODE_NOT_MATCHED, "taint", 1, 0, 0, False),
        (Code.NODE_NOT_MATCHED, "selector", 1, 0, 0, False),
        (Code.NODE_TOO_SMALL, "", 1, 2000, 1000, False),
        (Code.NODES_FULL, "", 1, 2000, 1000, False),
    ]


def test_an_affinity_that_holds_nowhere_is_told_as_such() -> None:
    asked = PodShape((), affinity=((Requirement("zone", "Exists"),),))
    assert [r.detail for r in Predicates().refusals(table([node("n1")]), pod("ns/p", shape=asked))] == ["affinity"]


def test_too_small_for_good_is_permanent_only_if_no_node_will_do_later() -> None:
    reasons = Predicates().refusals(table([node("n1", gpu=1)]), pod("ns/p", shape=shape(gpu=2)))
    assert [(r.code, r.permanent) for r in reasons] == [(Code.NODE_TOO_SMALL, True)]


def test_the_scarcest_resource_is_the_one_that_the_fewest_nodes_have() -> None:
    nodes = table([node("n1", gpu=1, cpu=8), node("n2", gpu=4, cpu=1)])
    asked = shape(cpu=1, gpu=2)
    rows = np.flatnonzero(Predicates().mask(nodes, pod("ns/p", shape=asked)))
    assert scarcest(nodes, asked, rows, empty=True) == (GPU, 2000, 4000)
    assert scarcest(nodes, shape(cpu=1, memory="1Gi"), rows, empty=True) == ("memory", 2**30, 0)


def test_a_full_pod_count_is_a_cause_like_any_other() -> None:
    nodes = table([Node("n1", (), ((GPU, 8000), ("pods", 1000)))])
    nodes.use("n1", (), 1)
    reasons = Predicates().refusals(nodes, pod("ns/p", shape=shape(gpu=1)))
    assert [(r.code, r.resource) for r in reasons] == [(Code.NODES_FULL, "pods")]


A = (("app", "a"),)


def scene(*nodes: Node) -> Scene:
    return Scene(*nodes, line(), gang("g", phase=Phase.INQUEUE))


def said(session: Framework, one: Pod) -> dict[str, Fit]:
    found = session.predicate(one)
    return {name: Fit(int(found[row])) for name, row in session.nodes.row_by_name.items()}


def test_what_evicting_may_mend_is_told_from_what_it_does_not() -> None:
    made = scene(
        node("n1", {"zone": "a"}),
        node("n2", {"zone": "b"}),
        node("n3", {"zone": "b"}, pods=0),
        node("n4", {"zone": "a"}, pods=0),
    )
    made.put(task("t", "g"), replace(task("u", "g"), shape=shape(selector={"zone": "a"})))
    session = made.open("predicates")
    full = Fit.UNSCHEDULABLE
    assert said(session, made.pod("t")) == {"n1": Fit.OK, "n2": Fit.OK, "n3": full, "n4": full}
    assert said(session, made.pod("u")) == {"n1": Fit.OK, "n2": Fit.UNRESOLVABLE, "n3": Fit.BEYOND, "n4": full}


def test_ports_pods_and_spread_are_asked_in_turn() -> None:
    made = scene(node("n1", {HOST: "n1", ZONE: "a"}), node("n2", {HOST: "n2", ZONE: "b"}))
    near = Neighbours(near=(zone("app", "b"),))
    clash = PodShape((), ports=(HostPort(80),), neighbours=near)
    made.put(
        replace(task("r", "g", node="n1"), shape=PodShape((), ports=(HostPort(80),))),
        replace(task("t", "g"), shape=clash),
    )
    assert said(made.open("predicates"), made.pod("t")) == {"n1": Fit.BEYOND, "n2": Fit.UNRESOLVABLE}
    made.put(replace(task("b", "g", node="n1"), labels=(("app", "b"),)))
    assert said(made.open("predicates"), made.pod("t")) == {"n1": Fit.UNSCHEDULABLE, "n2": Fit.UNRESOLVABLE}


@pytest.mark.parametrize(
    ("switch", "asked"),
    [
        ("NodeAffinity", PodShape((), node_selector=(("zone", "x"),))),
        ("TaintToleration", PodShape((), node_selector=(("taint", "x"),))),
        ("NodePorts", PodShape((), ports=(HostPort(80),))),
        ("PodAffinity", PodShape((), neighbours=Neighbours(apart=(here("app", "a"),)))),
        ("PodTopologySpread", PodShape((), neighbours=Neighbours(spread=(SpreadTerm("none", ()),)))),
        ("VolumeBinding", PodShape((), volume_claims=("ns/none",))),
    ],
)
def test_a_switch_leaves_its_rule_out(switch: str, asked: PodShape) -> None:
    has = node("n1", {HOST: "n1", "taint": "x"})
    if switch == "TaintToleration":
        has = replace(has, taints=(Taint("t", "", "NoSchedule"),))
    made = scene(has)
    made.put(replace(task("r", "g", node="n1"), shape=PodShape((), ports=(HostPort(80),)), labels=A))
    made.put(replace(task("t", "g"), shape=asked))
    without = option("predicates", **{f"predicate.{switch}Enable": False})
    for plugin, takes in ((option("predicates"), False), (without, True)):
        session = made.open(plugin)
        fits = session.pre_predicate(made.pod("t")) is Fit.OK and said(session, made.pod("t"))["n1"] is Fit.OK
        assert fits is takes


def test_a_claim_that_no_node_can_serve_is_nobodys_fault_but_one_that_is_in_use_may_be_freed() -> None:
    made = scene(node("n1"))
    made.put(VolumeClaim("ns/waits", waits="unbound"), VolumeClaim("ns/one", exclusive=Exclusive.POD))
    for name, claim in (("t", "ns/waits"), ("u", "ns/one"), ("v", "ns/none")):
        made.put(replace(task(name, "g"), shape=PodShape((), volume_claims=(claim,))))
    made.put(replace(task("r", "g", node="n1"), shape=PodShape((), volume_claims=("ns/one",))))
    session = made.open("predicates")
    assert [session.pre_predicate(made.pod(name)) for name in "tuv"] == [Fit.ERROR, Fit.OK, Fit.ERROR]
    assert said(session, made.pod("u")) == {"n1": Fit.UNSCHEDULABLE}


def test_what_a_session_places_is_there_for_the_next_and_gone_with_the_trial() -> None:
    made = scene(node("n1", {HOST: "n1"}))
    asked = PodShape((), ports=(HostPort(80),), neighbours=Neighbours(apart=(here("app", "a"),)))
    made.put(*(replace(task(name, "g", labels=A), shape=asked) for name in "tu"))
    session = made.open("predicates")
    assert session.most(made.pod("t")).tolist()[:1] == [1]  # type: ignore[union-attr]
    with session.journal.trial():
        session.seated(made.pod("t"), "n1", 1)
        assert said(session, made.pod("u")) == {"n1": Fit.UNSCHEDULABLE}
        session.seated(made.pod("t"), "n1", -1)
        assert said(session, made.pod("u")) == {"n1": Fit.OK}
        session.seated(made.pod("t"), "n1", 1)
    assert said(session, made.pod("u")) == {"n1": Fit.OK}


def test_a_run_is_steady_where_nobody_of_it_looks_at_the_others() -> None:
    made = scene(node("n1", {HOST: "n1", ZONE: "a"}))
    made.put(VolumeClaim("ns/one", exclusive=Exclusive.NODE))
    rule = Predicates()
    nodes = made.state.nodes
    for asked, steady in (
        (PodShape((), neighbours=Neighbours(apart=(here("app", "a"),))), True),
        (PodShape((), neighbours=Neighbours(apart=(zone("app", "b"),))), True),
        (PodShape((), neighbours=Neighbours(spread=(SpreadTerm(ZONE, zone("app", "a").selector),))), False),
        (PodShape((), volume_claims=("ns/one",)), False),
        (PodShape((), volume_claims=("ns/none",)), True),
    ):
        assert rule.is_steady(nodes, pod("ns/p", shape=asked, labels=A)) is steady
    zone_apart = pod("ns/p", shape=PodShape((), neighbours=Neighbours(apart=(here("app", "a"),))), labels=A)
    nodes.put(node("n2", {HOST: "n1"}))
    assert not rule.is_steady(nodes, zone_apart)


def test_pods_that_stand_in_the_way_are_named_as_a_cause() -> None:
    made = scene(node("n1", {HOST: "n1", ZONE: "a"}), node("n2", {HOST: "n2", ZONE: "b"}))
    made.put(replace(task("r", "g", node="n1"), shape=PodShape((), ports=(HostPort(80),)), labels=A))
    nodes = made.state.nodes
    for asked, details in (
        (PodShape((), ports=(HostPort(80),)), ["ports"]),
        (PodShape((), neighbours=Neighbours(apart=(here("app", "a"),))), ["pod affinity"]),
        (PodShape((), neighbours=Neighbours(near=(zone("app", "b"),))), ["pod affinity"]),
        (PodShape((), neighbours=Neighbours(spread=(SpreadTerm(ZONE, zone("app", "a").selector),))), ["spread"]),
    ):
        reasons = Predicates().refusals(nodes, pod("ns/p", shape=asked, labels=A))
        assert [reason.detail for reason in reasons] == details
        assert {reason.code for reason in reasons} == {Code.NODE_NOT_MATCHED}


def test_what_nodes_are_stays_so_whoever_is_on_them() -> None:
    made = scene(node("n1", {HOST: "n1", ZONE: "a"}), node("n2", {HOST: "n2"}))
    made.put(replace(task("r", "g", node="n1"), shape=PodShape((), ports=(HostPort(80),))))
    one = pod("ns/p", shape=PodShape((), node_selector=((ZONE, "a"),), ports=(HostPort(80),)))
    nodes = made.state.nodes
    assert not Predicates().mask(nodes, one).any()
    assert Predicates().standing(nodes, one)[nodes.by_name()].tolist() == [True, False]
    assert not Predicates().standing(nodes, pod("ns/p", shape=PodShape((), volume_claims=("ns/none",)))).any()


@given(
    st.lists(st.sampled_from(["n1", "n2"]), min_size=1, max_size=5),
    st.sampled_from([None, Neighbours(apart=(zone("app", "a"),)), Neighbours(near=(here("app", "a"),))]),
    st.booleans(),
)
def test_a_run_that_is_seated_is_there_as_its_tasks_one_by_one_would_be(
    where: list[str], said: Neighbours | None, claims: bool
) -> None:
    asked = replace(shape(cpu=1), neighbours=said, volume_claims=("ns/claim",) if claims else ())
    made = scene(*(node(name, {HOST: name, ZONE: "a"}, cpu=9) for name in ("n1", "n2")))
    made.put(*(replace(task(f"t{n}", "g"), shape=asked, labels=(("app", "a"),)) for n in range(len(where))))
    session, nodes = made.open("predicates"), made.state.nodes
    tasks = [made.pod(f"t{n}") for n in range(len(where))]

    def there() -> object:
        kinds = {kind: dict(met.rows) for kind, met in nodes.residents._kinds.items()}
        counters = [*nodes.residents._groups.values(), *nodes.residents._owned.values()]
        return kinds, [c.counts.tolist() for c in counters], {k: dict(u) for k, u in nodes.volume_claims.users.items()}

    before = there()
    with nodes._journal.trial():
        session.seated_run(tasks, [nodes.row_by_name[name] for name in where])
        at_once = there()
    assert there() == before
    with nodes._journal.trial():
        for one, name in zip(tasks, where, strict=True):
            session.seated(one, name, 1)
        assert there() == at_once
    assert at_once != before
