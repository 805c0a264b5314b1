"""Shares: how much of the cluster a namespace holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.engine.journal import Journal
from kumi.engine.placement.nodes import Nodes
from kumi.engine.shares import Shares
from kumi.testing.builders import amounts, node


def shares(**has: int) -> Shares:
    nodes = Nodes(Journal())
    nodes.put(node("n", **has))
    return Shares(Journal(), nodes)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=5))
def test_a_share_is_the_largest_part_of_a_resource_and_what_comes_and_goes_leaves_nothing(
    held: list[tuple[int, int]],
) -> None:
    kept = shares(cpu=10, gpu=4)
    for cpu, gpu in held:
        kept.seat("a", amounts(cpu=cpu, gpu=gpu), 1)
    assert kept.by_now()("a") == max([sum(c for c, _ in held) / 10, sum(g for _, g in held) / 4])
    for cpu, gpu in held:
        kept.seat("a", amounts(cpu=cpu, gpu=gpu), -1)
    assert kept.held == {}


def test_pods_are_no_resource_and_what_no_node_has_is_wholly_held() -> None:
    kept = shares(cpu=10)
    kept.seat("a", amounts(pods=50), 1)
    kept.seat("b", amounts(memory=1), 1)
    assert [kept.by_now()(name) for name in "abc"] == [0.0, 1.0, 0.0]
