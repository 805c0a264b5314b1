"""Spread: the arrays say what the rule says of each node."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Neighbours, Node, Pod, SpreadTerm, Taint
from kumi.engine.placement.hooks import Fit
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.spread import HOST, fits, is_steady, scores
from kumi.engine.selectors import all_hold
from kumi.testing.builders import node, pod, shape
from kumi.testing.neighbours import ZONE, clusters, looking, places, spreads, zone

Seated = list[tuple[Pod, str]]


def table(found: list[Node], seated: Seated) -> Nodes:
    nodes = Nodes(Journal())
    for each in found:
        nodes.put(each)
    for one, where in seated:
        nodes.residents.move(None, "", one, where)
    return nodes


def means(term: SpreadTerm, owner: Pod, other: Pod) -> bool:
    staying = other.namespace == owner.namespace and not other.terminating
    return staying and term.selector is not None and all_hold(term.selector, dict(other.labels))


def counting(found: list[Node], one: Pod, terms: list[SpreadTerm], term: SpreadTerm) -> list[Node]:
    """The nodes that count for a constraint."""
    chosen = []
    for each in found:
        labels = dict(each.labels)
        keyed = all(t.topology in labels for t in terms if not t.unlabelled)
        allowed = all(labels.get(k) == v for k, v in one.shape.node_selector) if term.by_affinity else True
        if keyed and allowed and not (term.by_taints and each.taints):
            chosen.append(each)
    return chosen


def plain_fit(found: list[Node], seated: Seated, one: Pod, at: Node) -> Fit:
    terms = [t for t in (one.shape.neighbours or Neighbours()).spread if t.hard]
    for term in terms:
        if term.topology not in dict(at.labels):
            return Fit.UNRESOLVABLE
        matched: dict[str, int] = {}
        for each in counting(found, one, terms, term):
            value = dict(each.labels)[term.topology]
            here = sum(where == each.name and means(term, one, other) for other, where in seated)
            matched[value] = matched.get(value, 0) + here
        least = min(matched.values()) if matched and len(matched) >= term.domains else 0
        now = matched.get(dict(at.labels)[term.topology], 0)
        mine = replace(one, terminating=False) if not one.terminating else one
        if now + means(term, one, mine) - least > term.skew:
            return Fit.UNSCHEDULABLE
    return Fit.OK


def plain_scores(found: list[Node], seated: Seated, one: Pod) -> list[float] | None:
    terms = [t for t in (one.shape.neighbours or Neighbours()).spread if not t.hard]
    if not terms:
        return None
    keyed = [all(t.topology in dict(n.labels) for t in terms if not t.unlabelled) for n in found]
    raw = [0.0] * len(found)
    for term in terms:
        values = {dict(n.labels).get(term.topology, "") for n, has in zip(found, keyed, strict=True) if has}
        size = sum(keyed) if term.topology == HOST else len(values)
        for at, each in enumerate(found):
            value = dict(each.labels).get(term.topology)
            if value is None:
                continue
            if term.topology == HOST:
                counted = [each]
            else:
                counted = [n for n in counting(found, one, terms, term) if dict(n.labels).get(term.topology) == value]
            names = {n.name for n in counted}
            matched = sum(where in names and means(term, one, other) for other, where in seated)
            raw[at] += matched * math.log(size + 2) + (term.skew - 1)
    whole = [math.floor(r + 0.5) for r in raw]
    known = [w for w, has in zip(whole, keyed, strict=True) if has]
    if not known:
        return [0.0] * len(found)
    least, most = min(known), max(known)
    return [
        0.0 if not has else 100.0 if not most else float(100 * (most + least - w) // most)
        for w, has in zip(whole, keyed, strict=True)
    ]


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Node], Seated, Pod]:
    tainted = draw(st.lists(st.booleans(), min_size=5, max_size=5))
    found = [
        replace(n, taints=(Taint("t", "", "NoSchedule"),)) if tainted[at] else n
        for at, n in enumerate(draw(clusters()))
    ]
    pods = draw(looking())
    where = draw(places(found, len(pods) - 1))
    return found, list(zip(pods[1:], where, strict=True)), pods[0]


@given(scenes())
def test_what_nodes_say_is_the_rule_for_each(scene: tuple[list[Node], Seated, Pod]) -> None:
    found, seated, one = scene
    nodes = table(found, seated)
    said = fits(nodes, one)
    expected = {n.name: plain_fit(found, seated, one, n) for n in found}
    if said is None:
        assert set(expected.values()) <= {Fit.OK}
    else:
        assert {name: Fit(int(said[row])) for name, row in nodes.row_by_name.items()} == expected


@given(scenes())
def test_the_scores_are_the_rule_for_each_node(scene: tuple[list[Node], Seated, Pod]) -> None:
    found, seated, one = scene
    nodes = table(found, seated)
    said = scores(nodes, one, nodes.by_name())
    expected = plain_scores([nodes.node_by_name[name] for name in nodes.names()], seated, one)
    assert (said.tolist() if said is not None else None) == expected


@given(scenes(), st.lists(spreads(), min_size=1, max_size=2))
def test_so_they_are_where_nodes_without_a_label_count_as_well(
    scene: tuple[list[Node], Seated, Pod], given_terms: list[SpreadTerm]
) -> None:
    found, seated, one = scene
    terms = tuple(replace(term, hard=False, unlabelled=True) for term in given_terms)
    one = replace(one, shape=replace(one.shape, neighbours=Neighbours(spread=terms)))
    nodes = table(found, seated)
    said = scores(nodes, one, nodes.by_name())
    assert said is not None
    assert said.tolist() == plain_scores([nodes.node_by_name[name] for name in nodes.names()], seated, one)


A = zone("app", "a").selector


def spreading(term: SpreadTerm) -> Pod:
    return pod("ns/p", shape=replace(shape(), neighbours=Neighbours(spread=(term,))), labels=(("app", "a"),))


def three() -> list[Node]:
    return [node("n1", {ZONE: "a"}), node("n2", {ZONE: "b"}), node("n3", {ZONE: "b"}), node("n4")]


def test_a_zone_that_has_more_takes_no_more() -> None:
    one = spreading(SpreadTerm(ZONE, A))
    nodes = table(three(), [(one, "n2")])
    said = fits(nodes, one)
    assert said is not None
    assert [Fit(int(said[row])) for row in nodes.by_name()] == [
        Fit.OK,
        Fit.UNSCHEDULABLE,
        Fit.UNSCHEDULABLE,
        Fit.UNRESOLVABLE,
    ]


def test_too_few_domains_count_as_an_empty_one() -> None:
    one = spreading(SpreadTerm(ZONE, A, domains=3))
    nodes = table(three(), [(one, "n1"), (one, "n2")])
    said = fits(nodes, one)
    assert said is not None
    assert said[nodes.by_name()].tolist()[:3] == [Fit.UNSCHEDULABLE] * 3


@pytest.mark.parametrize("closed_by", ["label", "taint"])
@pytest.mark.parametrize("heeded", [True, False])
def test_a_zone_that_the_pod_cannot_use_is_emptier_only_where_it_counts(closed_by: str, heeded: bool) -> None:
    """Zone a has a pod, zone b none and is closed to it: by its label, or by its taint."""
    by_label = closed_by == "label"
    taints = () if by_label else (Taint("t", "", "NoSchedule"),)
    found = [
        node("n1", {ZONE: "a", "disk": "fast"}),
        node("n2", {ZONE: "b", "disk": "slow" if by_label else "fast"}, taints=taints),
    ]
    term = SpreadTerm(ZONE, A, by_affinity=heeded and by_label, by_taints=heeded and not by_label)
    one = spreading(term)
    one = replace(one, shape=replace(one.shape, node_selector=(("disk", "fast"),)))
    nodes = table(found, [(one, "n1")])
    said = fits(nodes, one)
    assert said is not None
    assert Fit(int(said[nodes.row_by_name["n1"]])) is (Fit.OK if heeded else Fit.UNSCHEDULABLE)


@pytest.mark.parametrize("heeded", [True, False])
def test_pods_on_nodes_that_the_pod_cannot_use_make_a_zone_fuller_only_where_they_count(heeded: bool) -> None:
    found = [
        node("n1", {ZONE: "a", "disk": "fast"}),
        node("n2", {ZONE: "a", "disk": "slow"}),
        node("n3", {ZONE: "b", "disk": "fast"}),
    ]
    one = spreading(SpreadTerm(ZONE, A, hard=False, by_affinity=heeded))
    one = replace(one, shape=replace(one.shape, node_selector=(("disk", "fast"),)))
    nodes = table(found, [(one, "n2")])
    said = scores(nodes, one, nodes.by_name())
    assert said is not None
    assert said.tolist() == ([100.0, 100.0, 100.0] if heeded else [0.0, 0.0, 100.0])


def test_a_run_is_steady_only_where_the_pods_do_not_count_themselves() -> None:
    nodes = table(three(), [])
    hard, soft = SpreadTerm(ZONE, A), SpreadTerm(ZONE, A, hard=False)
    assert not is_steady(nodes, spreading(hard), hard=True)
    assert is_steady(nodes, spreading(soft), hard=True)
    assert not is_steady(nodes, spreading(soft), hard=False)
    assert is_steady(nodes, spreading(SpreadTerm(ZONE, zone("app", "b").selector)), hard=True)


def test_soft_constraints_prefer_the_emptier_zone() -> None:
    one = spreading(SpreadTerm(ZONE, A, hard=False))
    nodes = table(three(), [(one, "n2")])
    said = scores(nodes, one, nodes.by_name())
    assert said is not None
    assert said.tolist() == [100.0, 0.0, 0.0, 0.0]


def test_a_node_without_a_zone_is_neither_better_nor_worse_for_it() -> None:
    one = spreading(SpreadTerm(ZONE, A, 5, hard=False, unlabelled=True))
    nodes = table(three(), [(one, "n2"), (one, "n2"), (one, "n2")])
    said = scores(nodes, one, nodes.by_name())
    assert said is not None
    assert said.tolist() == [55.0, 0.0, 0.0, 100.0]
