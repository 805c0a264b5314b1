from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kumi.controllers.daemon_rollout import Place, replaced, surged

STATES = st.sampled_from([None, False, True])
PLACES = st.lists(st.tuples(STATES, STATES), max_size=12).map(
    lambda found: [Place(f"n{i:02}", old, new) for i, (old, new) in enumerate(found)]
)
BOUND = st.integers(1, 4)


def unserved(places: list[Place]) -> int:
    return sum(not place.served for place in places)


@given(PLACES, BOUND)
def test_without_surge_no_more_nodes_are_left_alone_than_may_be_or_were(places: list[Place], missing: int) -> None:
    gone = replaced(places, missing).removed
    after = [Place(p.node, None if p.node in gone else p.old, p.new) for p in places]
    assert unserved(after) <= max(missing, unserved(places))


@given(PLACES, BOUND)
def test_with_surge_no_node_loses_an_available_pod_before_it_has_another(places: list[Place], surge: int) -> None:
    turn = surged(places, surge)
    after = [Place(p.node, None if p.node in turn.removed else p.old, p.new) for p in places]
    assert unserved(after) == unserved(places)
    waiting = sum(p.old is not None and p.new is False for p in places)
    beside = [p.node for p in places if p.node in turn.added and p.old]
    assert len(beside) <= max(0, surge - waiting)


@given(st.lists(STATES.filter(lambda old: old is not None), min_size=1, max_size=8), BOUND, st.booleans())
def test_a_rollout_ends_when_new_pods_become_available(olds: list[bool], bound: int, surge: bool) -> None:
    places = [Place(f"n{i}", old, None) for i, old in enumerate(olds)]
    for _ in range(3 * len(places)):
        turn = surged(places, bound) if surge else replaced(places, bound)
        there = {p.node: p for p in places}
        for node in turn.added:
            there[node] = Place(node, there[node].old, True)
        for node in turn.removed:
            there[node] = Place(node, None, True)
        places = list(there.values())
    assert places == [Place(p.node, None, True) for p in places]


def test_old_pods_that_are_not_available_go_first_and_take_no_room() -> None:
    places = [Place("a", True), Place("b", False), Place("c", True), Place("d", None, True)]
    assert replaced(places, 1).removed == ("b",)
    assert replaced(places, 2).removed == ("b", "a")


def test_a_node_that_has_neither_pod_takes_room() -> None:
    assert replaced([Place("a", True), Place("b")], 1).removed == ()


def test_with_surge_the_old_pod_goes_once_the_new_one_is_available() -> None:
    places = [Place("a", True, True), Place("b", True, False), Place("c", True), Place("d", True)]
    assert (surged(places, 1).removed, surged(places, 1).added) == (("a",), ())
    assert surged(places, 2).added == ("c",)
