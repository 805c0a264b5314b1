"""Gang: a placement is found exactly when there is one (one pod set), is always right, and is the best-scored one."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import HostPort, Neighbours, Node, Pod, PodSet, PodShape, Profile, SpreadTerm
from kumi.engine.placement.gang import NEIGHBOURS, Places, Site, of_all, place, refusal
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.one_of import one_of
from kumi.engine.placement.plugins import of
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.reasons import Code, Reason
from kumi.testing.builders import GPU, node, shape
from kumi.testing.diagram import _plain
from kumi.testing.neighbours import HOST, ZONE, here, zone
from kumi.testing.strategies import nodes as some_node
from kumi.testing.strategies import shapes


def site(*nodes: Node, scoring: str = "binpack") -> Site:
    journal = Journal()
    made = Nodes(journal)
    for each in nodes:
        made.put(each)
    return Site(made, journal, of(Profile(arguments={"scoring": scoring})))


def takes(where: Site, name: str, shape_: PodShape) -> bool:
    return bool(Predicates().mask(where.nodes, Pod("", "ns/p", shape_, 0))[where.nodes.row_by_name[name]])


def room_for(has: Node, counts: tuple[int, ...], pod_sets: list[PodSet]) -> bool:
    """May the node hold so many pods of each pod set at once?"""
    allocatable = dict(has.allocatable)
    asked = Counter({"pods": 1000 * sum(counts)})
    for pods, n in zip(pod_sets, counts, strict=True):
        asked.update({resource: amount * n for resource, amount in pods.shape.requests})
    return all(amount <= allocatable.get(resource, 0) for resource, amount in asked.items() if amount)


def brute(where: Site, nodes: list[Node], pod_sets: list[PodSet]) -> bool:
    """Is there any placement at all? Every way to share the pods out, node after node."""
    reached = {tuple(0 for _ in pod_sets)}
    for has in nodes:
        able = [s.count if takes(where, has.name, s.shape) else 0 for s in pod_sets]
        options = [c for c in itertools.product(*(range(n + 1) for n in able)) if room_for(has, c, pod_sets)]
        reached = {
            tuple(min(a + b, s.count) for a, b, s in zip(before, option, pod_sets, strict=True))
            for before in reached
            for option in options
        }
    return tuple(s.count for s in pod_sets) in reached


def assert_right(where: Site, nodes: list[Node], pod_sets: list[PodSet], found: tuple[Places, ...]) -> None:
    for pods, places in zip(pod_sets, found, strict=True):
        assert sum(n for _, n in places) == pods.count
        assert all(n > 0 and takes(where, name, pods.shape) for name, n in places)
    for has in nodes:
        counts = tuple(dict(places).get(has.name, 0) for places in found)
        assert room_for(has, counts, pod_sets)


clusters = st.integers(0, 4).flatmap(lambda n: st.tuples(*(some_node(f"n{i}") for i in range(n)))).map(list)
one = st.builds(PodSet, st.just("main"), st.integers(0, 7), shapes())
two = st.tuples(
    st.builds(PodSet, st.just("leader"), st.integers(1, 3), shapes()),
    st.builds(PodSet, st.just("worker"), st.integers(1, 4), shapes()),
).map(list)


@given(clusters, one)
def test_one_pod_set_is_placed_exactly_when_it_can_be(nodes: list[Node], pods: PodSet) -> None:
    where = site(*nodes)
    before = _plain(where.nodes)
    found = place(where, [pods])
    assert isinstance(found, Reason) != brute(where, nodes, [pods])
    assert isinstance(found, Reason) == (refusal(where, pods) is not None)
    if not isinstance(found, Reason):
        assert_right(where, nodes, [pods], found)
    assert _plain(where.nodes) == before


def test_two_pod_sets_are_never_placed_wrongly_and_seldom_missed() -> None:
    seen = Counter[str]()

    @settings(max_examples=400, database=None, derandomize=True)
    @given(clusters, two)
    def check(nodes: list[Node], pod_sets: list[PodSet]) -> None:
        where = site(*nodes)
        before = _plain(where.nodes)
        found = place(where, pod_sets)
        possible = brute(where, nodes, pod_sets)
        if not isinstance(found, Reason):
            assert possible
            assert_right(where, nodes, pod_sets, found)
        seen["placed" if not isinstance(found, Reason) else "missed" if possible else "impossible"] += 1
        assert _plain(where.nodes) == before

    check()
    assert seen["placed"] >= 50
    assert seen["impossible"] >= 50
    assert seen["missed"] <= seen["placed"] / 50, seen


def test_pods_go_where_the_other_pod_set_loses_least() -> None:
    where = site(node("n1", cpu=2, gpu=3), node("n2", cpu=1, gpu=1), node("n3", cpu=2, gpu=2), node("n4", cpu=3, gpu=3))
    found = place(where, [PodSet("a", 2, shape(cpu=1, gpu=2)), PodSet("b", 2, shape(cpu=2, gpu=1))])
    assert not isinstance(found, Reason)
    assert [dict(places) for places in found] == [{"n4": 1, "n1": 1}, {"n4": 1, "n3": 1}]


def test_the_fullest_node_is_filled_first_then_the_next() -> None:
    where = site(node("n1", gpu=8), node("n2", gpu=8), node("n3", gpu=8))
    where.nodes.use("n2", ((GPU, 1000),), 6)
    assert place(where, [PodSet("main", 4, shape(gpu=1))]) == ((("n2", 2), ("n1", 2)),)


def test_equal_nodes_go_by_name() -> None:
    where = site(node("n10", gpu=2), node("n1", gpu=2), node("n2", gpu=2))
    assert place(where, [PodSet("main", 5, shape(gpu=1))]) == ((("n1", 2), ("n10", 2), ("n2", 1)),)


def test_spreading_takes_the_emptiest_node() -> None:
    where = site(node("n1", gpu=8), node("n2", gpu=8), scoring="nodeorder")
    where.nodes.use("n1", ((GPU, 1000),), 4)
    assert place(where, [PodSet("main", 1, shape(gpu=1))]) == ((("n2", 1),),)


def test_the_large_pods_get_their_room_before_the_small_ones_scatter() -> None:
    where = site(node("n1", gpu=4), node("n2", gpu=4))
    small, large = PodSet("small", 4, shape(gpu=1)), PodSet("large", 1, shape(gpu=4))
    assert place(where, [small, large]) == ((("n2", 4),), (("n1", 1),))


def test_pods_that_may_go_anywhere_leave_the_node_that_others_need() -> None:
    where = site(node("n1", {"zone": "a"}, gpu=2), node("n2", {"zone": "b"}, gpu=2))
    anywhere, picky = PodSet("any", 2, shape(gpu=1)), PodSet("picky", 2, shape(selector={"zone": "a"}, gpu=1))
    assert place(where, [anywhere, picky]) == ((("n2", 2),), (("n1", 2),))


def test_a_pod_set_of_none_gets_no_node_and_blocks_nobody() -> None:
    where = site(node("n1", gpu=1))
    assert place(where, [PodSet("none", 0, shape(gpu=9)), PodSet("main", 1, shape(gpu=1))]) == ((), (("n1", 1),))
    assert place(site(), [PodSet("none", 0, shape(gpu=9))]) == ((),)


GANG = PodSet("main", 4, shape(cpu=1, gpu=2))


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([], Reason(Code.NO_NODES, pod_set="main", pods=4)),
        ([node("n1", cpu=9, gpu=9, ready=False)], Reason(Code.NODE_NOT_MATCHED, pod_set="main", pods=4)),
        (
            [node("n1", cpu=9, gpu=1), node("n2", cpu=9)],
            Reason(Code.NODE_TOO_SMALL, GPU, "", "n1", "main", 2000, 1000, 4, True),
        ),
        (
            [node("n1", cpu=9, gpu=5), node("n2", cpu=9, gpu=2)],
            Reason(Code.CAPACITY_TOO_SMALL, GPU, "", "", "main", 8000, 7000, 1, True),
        ),
        (
            [node("n1", cpu=1, gpu=9), node("n2", cpu=1, gpu=9)],
            Reason(Code.CAPACITY_TOO_SMALL, "cpu", "", "", "main", 4000, 2000, 2, True),
        ),
    ],
    ids=["no nodes", "not ready", "one pod is too large", "the gang is too large", "too little cpu"],
)
def test_why_a_gang_can_never_be_placed_on_these_nodes(nodes: list[Node], reason: Reason) -> None:
    assert place(site(*nodes), [GANG]) == reason


def test_nodes_that_are_full_now_tell_what_is_free_and_how_many_pods_lack_a_place() -> None:
    where = site(node("n1", cpu=9, gpu=6), node("n2", cpu=9, gpu=6))
    where.nodes.use("n1", ((GPU, 3000),), 1)
    where.nodes.use("n2", ((GPU, 3000),), 1)
    assert place(where, [GANG]) == Reason(Code.NODES_FULL, GPU, "", "", "main", 8000, 6000, 2)


def test_no_room_for_another_pod_is_told_as_pods() -> None:
    where = site(node("n1", gpu=8, pods=2))
    where.nodes.use("n1", (), 1)
    assert place(where, [PodSet("main", 2, shape(gpu=1))]) == Reason(
        Code.NODES_FULL, "pods", "", "", "main", 2000, 1000, 1
    )


def test_pod_sets_that_fit_alone_and_never_together_are_told_the_sum() -> None:
    where = site(node("n1", gpu=4))
    both = [PodSet("leader", 1, shape(gpu=2)), PodSet("worker", 3, shape(gpu=1))]
    assert place(where, both) == Reason(Code.CAPACITY_TOO_SMALL, GPU, "", "", "worker", 5000, 4000, 1, True)


LEADER, WORKER = PodSet("leader", 1, shape(gpu=1)), PodSet("worker", 3, shape(gpu=1))


@pytest.mark.parametrize(
    ("size", "used", "met", "told"),
    [
        (
            8,
            6,
            Reason(Code.NODES_FULL, GPU, "f", "", "worker", 3000, 2000, 1),
            Reason(Code.NODES_FULL, GPU, "f", "", "", 4000, 2000, 2),
        ),
        (
            3,
            1,
            Reason(Code.NODES_FULL, GPU, "f", "", "worker", 3000, 2000, 1),
            Reason(Code.CAPACITY_TOO_SMALL, GPU, "f", "", "", 4000, 3000, 1, True),
        ),
        (
            2,
            0,
            Reason(Code.CAPACITY_TOO_SMALL, GPU, "f", "", "worker", 3000, 2000, 1, True),
            Reason(Code.CAPACITY_TOO_SMALL, GPU, "f", "", "", 4000, 2000, 2, True),
        ),
    ],
)
def test_a_no_to_one_pod_set_is_told_of_all_pods(size: int, used: int, met: Reason, told: Reason) -> None:
    where = site(node("n1", gpu=size))
    where.nodes.use("n1", ((GPU, used * 1000),), 1)
    assert of_all(where, [LEADER, WORKER], met) == told
    assert where.nodes.used.sum() == used * 1000 + 1000


def test_a_no_stays_that_of_the_pod_set_where_all_together_there_is_enough() -> None:
    where = site(node("n1", gpu=3), node("n2", gpu=3))
    large = [PodSet("leader", 1, shape(gpu=2)), PodSet("worker", 2, shape(gpu=2))]
    met = Reason(Code.NODES_FULL, GPU, "", "", "worker", 4000, 2000, 1)
    assert of_all(where, large, met) == met


def test_pod_sets_that_do_not_fit_together_now_may_later() -> None:
    where = site(node("n1", gpu=8))
    where.nodes.use("n1", ((GPU, 4000),), 1)
    both = [PodSet("leader", 1, shape(gpu=2)), PodSet("worker", 3, shape(gpu=1))]
    assert place(where, both) == Reason(Code.NODES_FULL, GPU, "", "", "worker", 3000, 2000, 1)


def apart(key: str, count: int, **said: object) -> PodSet:
    """Pods that say something of their own kind."""
    term = zone("app", "a") if key == ZONE else here("app", "a")
    asked = replace(shape(cpu=1), neighbours=Neighbours(**(said or {"apart": (term,)})))  # type: ignore[arg-type]
    return PodSet("main", count, asked, namespace="ns", labels=(("app", "a"),))


def zones(*names: str) -> Site:
    return site(*(node(f"n{at}", {HOST: f"n{at}", ZONE: name}, cpu=4) for at, name in enumerate(names)))


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        (apart(HOST, 3), {"n0": 1, "n1": 1, "n2": 1}),
        (apart(ZONE, 2), {"n0": 1, "n2": 1}),
        (apart(ZONE, 6, near=(zone("app", "a"),)), {"n0": 4, "n1": 2}),
        (apart(ZONE, 4, spread=(SpreadTerm(ZONE, zone("app", "a").selector),)), {"n0": 2, "n2": 2}),
        (PodSet("main", 3, replace(shape(cpu=1), ports=(HostPort(80),))), {"n0": 1, "n1": 1, "n2": 1}),
    ],
)
def test_pods_that_look_at_each_other_are_placed_as_they_say(pods: PodSet, expected: dict[str, int]) -> None:
    where = zones("a", "a", "b")
    before = _plain(where.nodes.used.tolist())
    found = place(where, [pods])
    assert not isinstance(found, Reason), found
    assert dict(found[0]) == expected
    assert _plain(where.nodes.used.tolist()) == before
    assert where.may_fit(pods)


def test_where_only_pods_are_in_the_way_they_are_the_reason_and_it_may_pass() -> None:
    where = zones("a", "a", "b")
    assert place(where, [apart(ZONE, 3)]) == Reason(Code.NODE_NOT_MATCHED, pod_set="main", pods=1, detail=NEIGHBOURS)
    where.nodes.residents.seat(one_of(apart(HOST, 1)), "n0", 1)
    found = place(where, [apart(HOST, 3)])
    assert found == Reason(Code.NODE_NOT_MATCHED, pod_set="main", pods=1, detail=NEIGHBOURS)


def test_more_pods_than_hosts_that_take_one_each_can_never_be() -> None:
    found = place(zones("a", "b"), [PodSet("main", 3, replace(shape(cpu=1), ports=(HostPort(80),)))])
    assert isinstance(found, Reason)
    assert (found.code, found.permanent) == (Code.CAPACITY_TOO_SMALL, True)


def test_pod_sets_see_each_other() -> None:
    first, second = (replace(apart(HOST, 1), name=name) for name in ("a", "b"))
    found = place(zones("a", "a"), [first, second])
    assert not isinstance(found, Reason)
    assert {node for places in found for node, _ in places} == {"n0", "n1"}
