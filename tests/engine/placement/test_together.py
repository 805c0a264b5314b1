"""Pods that share a volume of one node go to one node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.model import Exclusive, Node, Pod, PodSet, PodShape, Profile, VolumeClaim
from kumi.engine.placement.gang import Places, Site, place
from kumi.engine.placement.nodes import Nodes
from kumi.engine.placement.one_of import one_of
from kumi.engine.placement.plugins import of
from kumi.engine.placement.together import Pinned, shared
from kumi.engine.reasons import Code, Reason

KEY = "ns/data"


def site(*cpus: int, exclusive: Exclusive = Exclusive.NODE) -> Site:
    """Nodes n0, n1 ... with so many cpus."""
    journal = Journal()
    nodes = Nodes(journal)
    for number, cpu in enumerate(cpus):
        nodes.put(Node(f"n{number}", (), (("cpu", cpu * 1000), ("pods", 110_000))))
    nodes.put_claim(VolumeClaim(KEY, exclusive=exclusive))
    return Site(nodes, journal, of(Profile()))


def pods(count: int, cpu: int = 1, claims: tuple[str, ...] = (KEY,), name: str = "main") -> PodSet:
    return PodSet(name, count, PodShape((("cpu", cpu * 1000),), volume_claims=claims))


def nodes_of(found: tuple[Places, ...] | Reason) -> list[dict[str, int]]:
    assert not isinstance(found, Reason), found
    return [dict(places) for places in found]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.integers(1, 3), st.integers(0, 3), st.integers(0, 3))
def test_a_place_is_found_exactly_when_a_node_has_room_for_all_that_share(
    cpus: list[int], masters: int, workers: int, others: int
) -> None:
    gang = [pods(masters, name="a"), pods(workers, name="b"), pods(others, 2, (), name="c")]
    sharing = masters + workers
    wanted = any(
        cpu >= sharing and sum((c - (sharing if i == home else 0)) // 2 for i, c in enumerate(cpus)) >= others
        for home, cpu in enumerate(cpus)
    )
    found = place(site(*cpus), gang)
    assert isinstance(found, Reason) != wanted
    if not isinstance(found, Reason):
        assert len({node for places in found[:2] for node, _ in places}) == 1
        assert [sum(n for _, n in places) for places in found] == [masters, workers, others]


def test_what_is_not_shared_is_spread_as_ever() -> None:
    assert nodes_of(place(site(2, 2), [pods(4, claims=())])) == [{"n0": 2, "n1": 2}]
    assert nodes_of(place(site(2, 2, exclusive=Exclusive.NO), [pods(4)])) == [{"n0": 2, "n1": 2}]


def test_no_node_that_is_large_enough_is_the_reason() -> None:
    assert place(site(2, 2), [pods(3)]) == Reason(Code.CLAIM_SHARED, where=KEY, detail="node")


def test_what_stands_in_the_way_of_each_alone_is_told_first() -> None:
    found = place(site(2, 2), [pods(2, 3)])
    assert isinstance(found, Reason)
    assert found.code is Code.NODE_TOO_SMALL


@pytest.mark.parametrize("gang", [[pods(2)], [pods(1, name="a"), pods(1, name="b")]])
def test_a_volume_of_one_pod_can_not_be_shared(gang: list[PodSet]) -> None:
    found = place(site(9, exclusive=Exclusive.POD), gang)
    assert found == Reason(Code.CLAIM_SHARED, where=KEY, detail="pod", permanent=True)


def test_one_pod_shares_with_nobody() -> None:
    assert nodes_of(place(site(9, exclusive=Exclusive.POD), [pods(1)])) == [{"n0": 1}]


def test_where_it_is_used_already_they_go() -> None:
    where = site(4, 4, 4)
    where.nodes.volume_claims.seat(Pod("u", "ns/u", pods(1).shape, 0), "n1")
    assert shared(where.nodes, [pods(3)]) == ()
    assert nodes_of(place(where, [pods(3)])) == [{"n1": 3}]


def test_a_pinned_filter_lets_others_go_anywhere() -> None:
    where = site(1, 1)
    pinned = Pinned(where.plugins.filter, (KEY,), where.nodes.row_by_name["n1"])
    rows = [where.nodes.row_by_name[n] for n in ("n0", "n1")]
    assert pinned.mask(where.nodes, one_of(pods(1)))[rows].tolist() == [False, True]
    assert pinned.mask(where.nodes, one_of(pods(1, claims=())))[rows].tolist() == [True, True]
    one = one_of(pods(1))
    assert pinned.refusals(where.nodes, one) == where.plugins.filter.refusals(where.nodes, one)
