"""Fair sharing: shares by their definition, and the tournament."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from kumi.api.quantity import MAX
from kumi.engine.admission.fair_sharing import Asker, Share, borrows_on, lendable, share, tournament, weight_of
from kumi.engine.admission.quota import COHORT, FlavorResource, cohort_node
from kumi.engine.model import ClusterQueue, Cohort, Profile, Put, Quota
from kumi.engine.settings import FairSharing, Settings
from kumi.engine.state import State
from kumi.testing.builders import flavor

from . import trees
from .trees import FIXED, SPOT, World

FAIR = Profile(places=False, settings=Settings(fair=FairSharing()))


def plain(state: State, node: str) -> tuple[bool, Fraction]:
    """The definition, in fractions."""
    quotas, parent = state.quotas, state.quotas.parent.get(node)
    weight = Fraction(weight_of(state, node))
    if not parent:
        return False, Fraction(0)
    borrowed = sum(max(0, quotas.used(node, fr) - quotas.subtree(node, fr)) for fr in quotas.subtrees.get(node, ()))
    lent = sum(quotas.potential(parent, fr) for fr in quotas.subtrees.get(quotas.root(node), ()))
    ratio = Fraction(1000 * borrowed, lent) if lent else Fraction(0)
    return (weight == 0 and ratio > 0), ratio / weight if weight else ratio


@settings(max_examples=150)
@given(trees.worlds())
def test_a_share_is_what_is_borrowed_of_what_could_be_lent(world: World) -> None:
    state = world.state(FAIR)
    for node in [*trees.QUEUES, *map(cohort_node, trees.COHORTS)]:
        unlimited, value = plain(state, node)
        found = share(state, node)
        assert found.unlimited == unlimited
        assert found.value == pytest.approx(float(value))
        assert (found.resource != "") == (value > 0)
        with state.trial():
            if not node.startswith(COHORT):
                for fr, amount in world.asks.items():
                    state.quotas.add(node, fr, amount)
            asked = share(state, node)
        if not node.startswith(COHORT):
            assert share(state, node, world.asks) == asked


def pool(name: str, cohort: str, nominal: int, weight: float = 1.0, **more: Quota) -> ClusterQueue:
    quotas: dict[FlavorResource, Quota] = {SPOT: Quota(nominal), **({FIXED: more["fixed"]} if more else {})}
    return ClusterQueue(name, trees.groups(quotas), cohort=cohort, weight=weight)


def state_of(*nouns: Any) -> State:
    state = State(FAIR)
    for noun in (flavor("spot"), flavor("fixed"), *nouns):
        state.apply(Put(noun))
    return state


def test_the_weight_divides() -> None:
    state = state_of(pool("q", "all", 0, 2.0), pool("p", "all", 10))
    state.quotas.add("q", SPOT, 4)
    assert share(state, "q") == Share(400.0, 2.0, "cpu", borrowing=True)
    assert share(state, "q").rounded == 200


def test_shares_are_rounded_upwards_and_compared_as_they_are() -> None:
    state = state_of(pool("q", "all", 0), pool("p", "all", 0), pool("r", "all", 3000))
    state.quotas.add("q", SPOT, 1)
    state.quotas.add("p", SPOT, 2)
    assert share(state, "q").rounded == share(state, "p").rounded == 1
    assert share(state, "q").order < share(state, "p").order


def test_without_weight_any_borrowing_is_past_every_share() -> None:
    state = state_of(pool("none", "all", 0, 0.0), pool("also", "all", 0, 0.0), pool("q", "all", 1000))
    state.quotas.add("none", SPOT, 1)
    state.quotas.add("also", SPOT, 2)
    state.quotas.add("q", SPOT, 1500)
    assert share(state, "q").order < share(state, "none").order < share(state, "also").order
    assert share(state, "none").rounded == MAX


def test_without_weight_who_borrows_nothing_that_can_be_lent_has_no_share() -> None:
    state = state_of(pool("q", "all", 0, 0.0))
    state.quotas.add("q", SPOT, 1)
    assert share(state, "q") == Share(0.0, 0.0, "", borrowing=True)
    assert not share(state, "q").unlimited
    assert share(state, "q").rounded == 0


def test_a_flavor_that_the_queue_has_no_quota_of_does_not_count() -> None:
    state = state_of(pool("q", "all", 0), pool("p", "all", 0, fixed=Quota(5)))
    state.quotas.add("q", FIXED, 3)
    assert not share(state, "q").borrowing
    assert not borrows_on(state.quotas, "q", [FIXED])
    assert not share(state, "q", {FIXED: 1}).borrowing


def test_what_can_be_lent_is_of_all_flavors_of_the_root_and_up_to_date() -> None:
    state = state_of(pool("q", "all", 1, fixed=Quota(2)), Cohort("all", groups=trees.groups({SPOT: Quota(4)})))
    assert lendable(state.quotas, cohort_node("all")) == {"cpu": 7}
    with state.trial():
        state.quotas.set("q", {SPOT: Quota(2)}, cohort_node("all"))
        assert lendable(state.quotas, cohort_node("all")) == {"cpu": 6}
    assert lendable(state.quotas, cohort_node("all")) == {"cpu": 7}


# the tournament


def asker(queue: str, amount: int, *rank: int, waits: bool = False) -> Asker:
    return Asker(f"ns/{queue}", queue, {SPOT: amount}, (*rank, queue), waits)


def order(state: State, *askers: Asker) -> list[str]:
    """The winners, each of which takes what it asked for."""
    won = []
    for winner in tournament(state, askers):
        won.append(winner.queue)
        for fr, amount in winner.usage.items():
            state.quotas.add(winner.queue, fr, amount)
    return won


def test_the_smaller_share_with_what_is_asked_for_goes_first() -> None:
    state = state_of(pool("q", "all", 2), pool("p", "all", 2), pool("rest", "all", 10))
    assert order(state, asker("q", 6, 0), asker("p", 5, 1)) == ["p", "q"]


def test_who_need_not_borrow_goes_first_where_settings_say_so() -> None:
    nouns = (pool("q", "all", 2, fixed=Quota(2)), pool("p", "all", 2, fixed=Quota(2)), pool("rest", "all", 9))
    for first, winner in ((True, "q"), (False, "p")):
        state = state_of(*nouns)
        state.profile = replace(FAIR, settings=Settings(fair=FairSharing(non_borrowing_first=first)))
        state.quotas.add("q", FIXED, 5)  # it borrows, but not of what it asks for
        assert order(state, asker("q", 1), asker("p", 3))[0] == winner


def test_who_waits_for_its_victims_goes_before_all() -> None:
    state = state_of(pool("q", "all", 2), pool("p", "all", 2), pool("rest", "all", 10))
    assert order(state, asker("q", 6, waits=True), asker("p", 5)) == ["q", "p"]


def test_among_equals_the_rank_decides() -> None:
    state = state_of(pool("q", "all", 2), pool("p", "all", 2))
    assert order(state, asker("q", 1, 0), asker("p", 1, 1)) == ["q", "p"]
    state = state_of(pool("q", "all", 2), pool("p", "all", 2))
    assert order(state, asker("q", 1, 1), asker("p", 1, 0)) == ["p", "q"]


def test_it_is_decided_by_the_shares_of_cohorts_above_them() -> None:
    """small's asker has the larger share in its own cohort, and is alone there; above, it is small's share that counts."""
    nouns = (Cohort("small", "top"), Cohort("large", "top"), pool("s", "small", 0), pool("l", "large", 0))
    state = state_of(*nouns, pool("rest", "top", 20), pool("busy", "large", 0))
    state.quotas.add("busy", SPOT, 5)
    assert order(state, asker("s", 2, 1), asker("l", 1, 0)) == ["s", "l"]


def test_it_is_played_anew_after_each_winner() -> None:
    state = state_of(*(pool(name, "all", 0) for name in "abc"), pool("rest", "all", 20))
    for name, before in (("a", 0), ("b", 1), ("c", 2)):
        state.quotas.add(name, SPOT, before)
    askers = [asker("a", 9), asker("b", 4), asker("c", 2)]
    seen = []
    for winner in tournament(state, askers):
        seen.append(winner.queue)
        state.quotas.add("b", SPOT, 10)
    assert seen == ["c", "a", "b"]


def test_two_of_one_queue_both_have_their_turn() -> None:
    state = state_of(pool("q", "all", 2), pool("p", "all", 2))
    second = Asker("ns/second", "q", {SPOT: 2}, (5, "q"))
    assert order(state, asker("q", 1, 1), second, asker("p", 1, 9)) == ["q", "p", "q"]


def test_trees_do_not_compete_by_shares() -> None:
    state = state_of(pool("q", "", 1), pool("p", "other", 0), pool("rest", "other", 9))
    assert order(state, asker("p", 5, 0), asker("q", 1, 1)) == ["p", "q"]
