"""Pod affinity: the arrays say what the rule says of each node."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Namespace, Neighbours, Node, Pod, PodTerm
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.plugins.pod_affinity import (
    crowded,
    is_score_steady,
    is_steady,
    lonely,
    scores,
    shunning,
)
from kumi.engine.selectors import all_hold
from kumi.testing.builders import node, pod, shape
from kumi.testing.neighbours import HOST, ZONE, clusters, here, looking, places, zone

Seated = list[tuple[Pod, str]]
SPACES = {"ns": {"team": "x"}, "other": {}}


def table(found: list[Node], seated: Seated) -> Nodes:
    nodes = Nodes(Journal())
    for each in found:
        nodes.put(each)
    for name, labels in SPACES.items():
        nodes.residents.put_namespace(Namespace(name, tuple(labels.items())))
    for one, where in seated:
        nodes.residents.move(None, "", one, where)
    return nodes


def means(term: PodTerm, owner: Pod, other: Pod) -> bool:
    if term.selector is None:
        return False
    own = not term.namespaces and term.namespace_selector is None
    inside = other.namespace in ((owner.namespace,) if own else term.namespaces)
    chosen = term.namespace_selector is not None and all_hold(term.namespace_selector, SPACES[other.namespace])
    return (inside or chosen) and all_hold(term.selector, dict(other.labels))


def near(found: list[Node], one: str, other: str, key: str) -> bool:
    labels = {n.name: dict(n.labels) for n in found}
    if one not in labels or other not in labels:
        return False
    return labels[one].get(key) is not None and labels[one].get(key) == labels[other].get(key)


def says(one: Pod) -> Neighbours:
    return one.shape.neighbours or Neighbours()


def is_lonely(found: list[Node], seated: Seated, one: Pod, at: str) -> bool:
    terms = says(one).near
    labels = {n.name: dict(n.labels) for n in found}
    if any(t.topology not in labels[at] for t in terms):
        return True
    friends = [where for other, where in seated if where in labels and all(means(t, one, other) for t in terms)]
    if all(any(near(found, at, where, t.topology) for where in friends) for t in terms):
        return False
    anywhere = any(t.topology in labels[where] for where in friends for t in terms)
    return anywhere or not all(means(t, one, one) for t in terms)


def is_crowded(found: list[Node], seated: Seated, one: Pod, at: str) -> bool:
    mine = any(means(t, one, o) and near(found, at, w, t.topology) for t in says(one).apart for o, w in seated)
    theirs = any(means(t, o, one) and near(found, at, w, t.topology) for o, w in seated for t in says(o).apart)
    return mine or theirs


def raw_score(found: list[Node], seated: Seated, one: Pod, at: str) -> int:
    total = 0
    for other, where in seated:
        for sign, mine, theirs in (
            (1, says(one).rather_near, says(other).rather_near),
            (-1, says(one).rather_apart, says(other).rather_apart),
        ):
            total += sum(sign * w for w, t in mine if means(t, one, other) and near(found, at, where, t.topology))
            total += sum(sign * w for w, t in theirs if means(t, other, one) and near(found, at, where, t.topology))
    return total


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Node], Seated, Pod]:
    found = draw(clusters())
    pods = draw(looking())
    where = draw(places(found, len(pods) - 1))
    return found, list(zip(pods[1:], where, strict=True)), pods[0]


@given(scenes())
def test_the_masks_are_what_the_rule_says_of_each_node(scene: tuple[list[Node], Seated, Pod]) -> None:
    found, seated, one = scene
    nodes = table(found, seated)
    no_friends, foes = lonely(nodes, one), crowded(nodes, one)
    for each in found:
        row = nodes.row_by_name[each.name]
        alone = no_friends is not None and bool(no_friends[row])
        assert alone == (bool(says(one).near) and is_lonely(found, seated, one, each.name))
        assert (foes is not None and bool(foes[row])) == is_crowded(found, seated, one, each.name)


@given(scenes())
def test_the_scores_are_what_the_rule_says_of_each_node(scene: tuple[list[Node], Seated, Pod]) -> None:
    found, seated, one = scene
    nodes = table(found, seated)
    names = nodes.names()
    raw = [raw_score(found, seated, one, name) for name in names]
    span = max(raw) - min(raw)
    expected = [int(100 * ((r - min(raw)) / span)) if span else 0 for r in raw]
    found_scores = scores(nodes, one, nodes.by_name())
    assert ([0] * len(names) if found_scores is None else found_scores.tolist()) == expected


@given(scenes())
def test_where_placing_one_is_steady_the_other_nodes_stay_as_they_are(scene: tuple[list[Node], Seated, Pod]) -> None:
    found, seated, one = scene
    one = replace(one, terminating=False)
    nodes = table(found, seated)
    names = nodes.names()
    rows = nodes.by_name()
    if not is_steady(nodes, one):
        return
    score_steady = is_score_steady(nodes, one)
    before = [lonely(nodes, one), crowded(nodes, one)]
    for name in names:
        row = nodes.row_by_name[name]
        fits = all(mask is None or not mask[row] for mask in before)
        if not fits:
            continue
        with nodes._journal.trial():
            raw = scores(nodes, one, rows)
            nodes.residents.move(None, "", one, name)
            for old, new in zip(before, [lonely(nodes, one), crowded(nodes, one)], strict=True):
                for other in names:
                    if other != name:
                        at = nodes.row_by_name[other]
                        assert (old is not None and bool(old[at])) == (new is not None and bool(new[at]))
            if score_steady:
                after = scores(nodes, one, rows)
                assert (raw.tolist() if raw is not None else None) == (after.tolist() if after is not None else None)
            alone = shunning(nodes, one)
        told = {n.name: dict(n.labels) for n in found}[name]
        assert (alone is not None and bool(alone[row])) == any(
            means(t, one, one) and t.topology in told for t in says(one).apart
        )


A = (("app", "a"),)


def small() -> list[Node]:
    return [
        node("n1", {HOST: "n1", ZONE: "z1"}),
        node("n2", {HOST: "n2", ZONE: "z1"}),
        node("n3", {HOST: "n3", ZONE: "z2"}),
    ]


def asking(labels: tuple[tuple[str, str], ...] = A, **said: object) -> Pod:
    return pod("ns/p", shape=replace(shape(), neighbours=Neighbours(**said)), labels=labels)  # type: ignore[arg-type]


def rows_of(nodes: Nodes, mask: object) -> set[str]:
    return {name for name, row in nodes.row_by_name.items() if mask is not None and mask[row]}  # type: ignore[index]


def test_the_first_of_its_kind_may_go_anywhere_and_the_second_follows() -> None:
    nodes = table(small(), [])
    one = asking(near=(zone("app", "a"),))
    assert rows_of(nodes, lonely(nodes, one)) == set()
    assert not is_steady(nodes, one)
    nodes.residents.move(None, "", replace(one, uid="x"), "n3")
    assert rows_of(nodes, lonely(nodes, one)) == {"n1", "n2"}
    assert is_steady(nodes, one)


def test_who_wants_to_be_near_strangers_finds_no_place_without_them() -> None:
    nodes = table(small(), [])
    assert rows_of(nodes, lonely(nodes, asking(near=(zone("app", "b"),)))) == {"n1", "n2", "n3"}


def test_a_pod_without_terms_heeds_those_of_others() -> None:
    keeper = asking(labels=(), apart=(zone("app", "a"),))
    nodes = table(small(), [(keeper, "n1")])
    assert rows_of(nodes, crowded(nodes, pod("ns/x", labels=A))) == {"n1", "n2"}
    assert rows_of(nodes, crowded(nodes, pod("ns/x"))) == set()


@pytest.mark.parametrize(
    ("term", "steady"), [(here("app", "a"), True), (zone("app", "a"), False), (zone("app", "b"), True)]
)
def test_only_what_a_node_says_of_itself_is_steady(term: PodTerm, steady: bool) -> None:
    nodes = table(small(), [])
    one = asking(apart=(term,))
    assert is_steady(nodes, one) is steady
    assert (shunning(nodes, one) is not None) is (term.selector == here("app", "a").selector)
    assert is_score_steady(nodes, asking(rather_apart=((1, term),))) is (term.selector != here("app", "a").selector)


def test_preferred_terms_of_both_sides_add_up() -> None:
    fan = asking(labels=(), rather_near=((3, zone("app", "a")),))
    nodes = table(small(), [(fan, "n3"), (pod("ns/b", labels=(("app", "b"),)), "n1")])
    found = scores(nodes, asking(rather_near=((1, here("app", "b")),)), nodes.by_name())
    assert found is not None
    assert found.tolist() == [33.0, 0.0, 100.0]


def test_preferred_distance_counts_against_a_node_on_both_sides() -> None:
    nodes = table(small(), [(pod("ns/b", labels=(("app", "b"),)), "n1")])
    found = scores(nodes, asking(rather_apart=((2, here("app", "b")),)), nodes.by_name())
    assert found is not None
    assert found.tolist() == [0.0, 100.0, 100.0]
    foe = asking(labels=(), rather_apart=((3, zone("app", "a")),))
    found = scores(table(small(), [(foe, "n3")]), asking(), nodes.by_name())
    assert found is not None
    assert found.tolist() == [100.0, 100.0, 0.0]
