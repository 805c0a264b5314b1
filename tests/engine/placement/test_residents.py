"""Residents: the tables hold what a count over all pods would."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import HostPort, Namespace, Neighbours, Node, Pod, PodShape, PodTerm, Requirement
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.residents import (
    Kind,
    Owned,
    Target,
    asked,
    beyond_requests,
    had,
    in_the_way,
    kind_of,
    target,
)
from kumi.engine.selectors import all_hold
from kumi.testing.builders import node, pod, shape
from kumi.testing.neighbours import clusters, here, looking, places, zone

SPACES = (Namespace("ns", (("team", "x"),)), Namespace("other", ()))


def table(*found: Node) -> Nodes:
    nodes = Nodes(Journal())
    for each in found:
        nodes.put(each)
    for space in SPACES:
        nodes.residents.put_namespace(space)
    return nodes


def means(one: Target, found: Pod) -> bool:
    """The rule."""
    if one.selector is None or (one.staying and found.terminating):
        return False
    team = {space.name: dict(space.labels) for space in SPACES}[found.namespace]
    inside = found.namespace in one.namespaces
    chosen = one.namespace_selector is not None and all_hold(one.namespace_selector, team)
    return (inside or chosen) and all_hold(one.selector, dict(found.labels))


def counted(nodes: Nodes, seated: list[tuple[Pod, str]], whom: object) -> dict[str, int]:
    found = dict.fromkeys(nodes.row_by_name, 0)
    for one, where in seated:
        if where in found and whom(one):  # type: ignore[operator]
            found[where] += 1
    return found


def by_node(nodes: Nodes, counts: object) -> dict[str, int]:
    return {name: int(counts[row]) for name, row in nodes.row_by_name.items()}  # type: ignore[index]


@given(st.data())
def test_what_is_kept_is_what_a_count_over_all_pods_gives(data: st.DataObject) -> None:
    found = data.draw(clusters())
    pods = data.draw(looking())
    where = data.draw(places(found, len(pods)))
    moved = data.draw(places(found, len(pods)))
    nodes = table(*found)
    residents = nodes.residents
    for one, first, then in zip(pods, where, moved, strict=True):
        residents.move(None, "", one, first)
        residents.move(one, first, one, then)
    gone = data.draw(st.integers(0, len(pods)))
    for one, place in list(zip(pods, moved, strict=True))[:gone]:
        residents.move(one, place, None, "")
    seated = list(zip(pods, moved, strict=True))[gone:]
    for one in pods:
        for group in asked(one.shape, one.namespace):
            expected = counted(nodes, seated, lambda other, group=group: all(means(t, other) for t in group))
            assert by_node(nodes, residents.matched(group)) == expected
        for port in one.shape.ports:
            clashes = sum(
                where in nodes.row_by_name for o, where in seated for p in o.shape.ports if in_the_way(port, p)
            )
            assert int(residents.listening(port).sum()) == clashes
    for one in pods:
        over = {owned: by_node(nodes, counts) for owned, counts in residents.over(kind_of(one))}
        known = {t: None for other, _ in seated for t in had(other.shape, other.namespace) if means(t.target, one)}
        for owned in known:
            expected = counted_times(nodes, seated, owned)
            assert over[owned] == expected
        assert all(not any(counts.values()) for owned, counts in over.items() if owned not in known)
    for line in (0, 1):
        extra = dict.fromkeys(nodes.row_by_name, 0)
        for one, place in seated:
            if place in extra:
                extra[place] += beyond_requests(one.shape)[line]
        assert by_node(nodes, residents.little()[line]) == extra


def counted_times(nodes: Nodes, seated: list[tuple[Pod, str]], owned: Owned) -> dict[str, int]:
    found = dict.fromkeys(nodes.row_by_name, 0)
    for one, where in seated:
        if where in found:
            found[where] += had(one.shape, one.namespace).count(owned)
    return found


@given(st.data())
def test_a_lost_trial_leaves_everything_as_it_was(data: st.DataObject) -> None:
    found = data.draw(clusters())
    pods = data.draw(looking())
    nodes = table(*found)
    residents = nodes.residents
    where = data.draw(places(found, len(pods)))
    half = len(pods) // 2
    for one, place in list(zip(pods, where, strict=True))[:half]:
        residents.move(None, "", one, place)
    before = told(nodes)
    with nodes._journal.trial():
        for one, place in list(zip(pods, where, strict=True))[half:]:
            for group in asked(one.shape, one.namespace):
                residents.matched(group)
            residents.move(None, "", one, place)
        residents.put_namespace(Namespace("ns", ()))
        for one, place in list(zip(pods, where, strict=True))[:half]:
            residents.move(one, place, None, "")
    assert told(nodes) == before
    for one in pods:
        for group in asked(one.shape, one.namespace):
            seated = list(zip(pods, where, strict=True))[:half]
            expected = counted(nodes, seated, lambda other, group=group: all(means(t, other) for t in group))
            assert by_node(nodes, residents.matched(group)) == expected


def told(nodes: Nodes) -> list[object]:
    """All that is kept, without what was only looked up."""
    residents = nodes.residents
    return [
        {kind: dict(met.rows) for kind, met in residents._kinds.items()},
        *(
            {one: (counter.users, counter.counts.tolist()) for one, counter in counters.items()}
            for counters in (residents._groups, residents._owned, residents._ports)
        ),
        {label: set(kinds) for label, kinds in residents._by_label.items()},
        {label: set(asking) for label, asking in residents._asking.items()},
        (set(residents._open), residents._namespaces.copy(), residents.stamp),
        residents.little()[:, nodes.by_name()].tolist(),
    ]


def test_a_new_term_counts_who_is_there_already() -> None:
    nodes = table(node("n1"), node("n2"))
    nodes.residents.seat(pod("ns/x", labels=(("app", "a"),)), "n1", 2)
    nodes.residents.seat(pod("other/x", labels=(("app", "a"),)), "n2", 1)
    assert by_node(nodes, nodes.residents.matched((target(here("app", "a"), "ns"),))) == {"n1": 2, "n2": 0}


def test_rows_that_come_later_have_nobody() -> None:
    nodes = table(node("n0"))
    group = (target(here("app", "a"), "ns"),)
    nodes.residents.meet(pod("ns/y", shape=replace(shape(), neighbours=Neighbours(apart=(here("app", "a"),)))))
    nodes.residents.matched(group)
    for number in range(1, 20):
        nodes.put(node(f"n{number}"))
    nodes.residents.seat(pod("ns/x", labels=(("app", "a"),)), "n19", 1)
    assert by_node(nodes, nodes.residents.matched(group))["n19"] == 1


def test_a_namespace_that_changes_its_labels_changes_who_is_meant() -> None:
    nodes = table(node("n1"))
    one = PodTerm("zone", (), (), (Requirement("team", "In", ("x",)),))
    nodes.residents.meet(pod("ns/y", shape=replace(shape(), neighbours=Neighbours(near=(one,)))))
    group = (target(one, "ns"),)
    nodes.residents.seat(pod("other/x"), "n1", 1)
    assert by_node(nodes, nodes.residents.matched(group)) == {"n1": 0}
    nodes.residents.put_namespace(Namespace("other", (("team", "x"),)))
    assert by_node(nodes, nodes.residents.matched(group)) == {"n1": 1}
    nodes.residents.remove_namespace("other")
    assert by_node(nodes, nodes.residents.matched(group)) == {"n1": 0}


def test_what_nobody_looks_at_any_more_is_forgotten() -> None:
    nodes = table(node("n1"))
    one = pod("ns/y", shape=replace(shape(), neighbours=Neighbours(apart=(here("app", "a"),))))
    nodes.residents.move(None, "", one, "n1")
    nodes.residents.move(one, "n1", None, "")
    kept = nodes.residents
    assert [kept._groups, kept._owned, kept._kinds, kept._asking, kept._by_label, kept._open] == [{}] * 6


def test_who_is_leaving_is_another_kind() -> None:
    nodes = table(node("n1"))
    stays = Target((), ("ns",), staying=True)
    one = pod("ns/x")
    nodes.residents.move(None, "", one, "n1")
    nodes.residents.matched((stays,))
    nodes.residents.move(one, "n1", replace(one, terminating=True), "n1")
    assert by_node(nodes, nodes.residents.matched((stays,))) == {"n1": 0}
    assert kind_of(replace(one, terminating=True)) == Kind("ns", (), True)


def test_pods_are_alike_to_those_who_look_at_the_same_of_them() -> None:
    nodes = table(node("n1"))
    residents = nodes.residents
    one, other = (pod(f"ns/{n}", labels=(("app", "a"), ("index", n))) for n in "01")
    stranger = pod("ns/2", labels=(("app", "b"),))
    assert residents.alike(one, stranger)
    residents.meet(pod("ns/y", shape=replace(shape(), neighbours=Neighbours(apart=(here("app", "a"),)))))
    assert residents.alike(one, other)
    assert not residents.alike(one, stranger)


def test_pods_that_look_at_others_are_alike_where_they_mean_themselves_alike() -> None:
    residents = table(node("n1")).residents
    looks = replace(shape(), neighbours=Neighbours(near=(zone("index", "0"),)))
    one, other, third = (pod(f"ns/{n}", shape=looks, labels=(("app", "a"), ("index", n))) for n in "012")
    assert not residents.alike(one, other)
    assert residents.alike(other, third)


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        (HostPort(80), HostPort(80), True),
        (HostPort(80), HostPort(81), False),
        (HostPort(80), HostPort(80, "UDP"), False),
        (HostPort(80), HostPort(80, ip="10.0.0.1"), True),
        (HostPort(80, ip="10.0.0.2"), HostPort(80, ip="10.0.0.1"), False),
        (HostPort(80, ip="10.0.0.1"), HostPort(80, ip="10.0.0.1"), True),
    ],
)
def test_ports_are_in_each_others_way(one: HostPort, other: HostPort, clash: bool) -> None:
    assert in_the_way(one, other) is clash
    assert in_the_way(other, one) is clash


def test_a_term_that_says_nothing_of_namespaces_means_its_own() -> None:
    assert target(here("app", "a"), "ns").namespaces == ("ns",)
    assert target(PodTerm("zone", (), ("x",)), "ns").namespaces == ("x",)
    assert target(PodTerm("zone", (), (), ()), "ns").namespaces == ()


def test_what_counts_beyond_the_request() -> None:
    assert beyond_requests(PodShape((("cpu", 100),), scored=(150, 7))) == (50, 7)
    assert beyond_requests(PodShape((("cpu", 100),))) == (0, 0)
