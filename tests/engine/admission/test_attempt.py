"""Attempt: taking, putting back, and what is known without looking at anybody."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from kumi.engine.admission.attempt import Attempt, spare_all, spare_once
from kumi.engine.admission.candidates import IN_QUEUE, RECLAIM, Candidate
from kumi.engine.model import Preemption, Profile
from kumi.engine.settings import Settings
from kumi.engine.state import State

from . import trees
from .small import pool, preemptor, state_of
from .test_victims import search
from .trees import ANY, LOWER, NEVER, SPOT, World, held


def attempt_of(*amounts: int, asks: int, nominal: int) -> Attempt:
    """Everybody of its queue, with these amounts, is taken already."""
    jobs = [held(f"w{n}", "q", {SPOT: amount}) for n, amount in enumerate(amounts)]
    state = state_of(pool("q", nominal, Preemption(LOWER)), *jobs)
    made = Attempt(state, preemptor(state, asks=asks))
    for n in range(len(amounts)):
        made.take(candidate(state, f"w{n}", "q"))
    return made


def candidate(state: State, name: str, queue: str, *, lends: bool = True) -> Candidate:
    return Candidate(state.holdings.standing[f"ns/{name}"][0], queue, IN_QUEUE if queue == "q" else RECLAIM, lends)


def left(attempt: Attempt) -> list[str]:
    return [one.key.removeprefix("ns/") for one in attempt.taken]


def test_taken_is_off_the_tree_and_put_back_is_on_it() -> None:
    made = attempt_of(1, 2, asks=3, nominal=3)
    assert made.state.quotas.used("q", SPOT) == 0
    assert made.put_back().key == "ns/w1"
    assert made.state.quotas.used("q", SPOT) == 2
    assert made.put_back(0).key == "ns/w0"
    assert (made.state.quotas.used("q", SPOT), made.taken) == (3, [])


@pytest.mark.parametrize("spare", [spare_once, spare_all])
def test_who_is_not_needed_is_put_back_the_last_taken_first(spare: object) -> None:
    made = attempt_of(1, 1, 2, 3, asks=5, nominal=7)
    spare(made, borrowing=True)  # type: ignore[operator]
    assert sorted(left(made)) == ["w0", "w1", "w3"]
    assert [one.key for one in made.spared] == ["ns/w2"]


def test_going_once_the_last_taken_stays_and_fills_the_place_of_who_is_put_back() -> None:
    made = attempt_of(2, 1, 2, asks=2, nominal=5)
    spare_once(made, borrowing=True)
    assert left(made) == ["w2"]
    made = attempt_of(3, 1, 2, asks=5, nominal=6)
    spare_once(made, borrowing=True)
    assert left(made) == ["w0", "w2"]


def test_going_on_nobody_is_kept_whom_a_seat_does_not_need() -> None:
    """A seat that only w0 frees: the last taken goes back as well."""
    made = attempt_of(1, 1, 1, asks=1, nominal=9)
    made.seat = lambda gone: made if any(c.key == "ns/w0" for c in gone) else None  # type: ignore[assignment,return-value]
    spare_all(made, borrowing=True)
    assert left(made) == ["w0"]
    assert made.plan is made  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(("spare", "kept"), [(spare_once, ["own2", "own1"]), (spare_all, ["own1"])])
def test_it_may_borrow_once_nobody_is_left_for_whom_it_may_not(spare: object, kept: list[str]) -> None:
    """Both of its own had to go for p's sake, and then p was not needed."""
    nouns = (pool("q", 3, Preemption(LOWER, ANY)), pool("p", 0), pool("rest", 3))
    jobs = (
        held("own1", "q", {SPOT: 1}),
        held("own2", "q", {SPOT: 1}),
        held("p", "p", {SPOT: 1}),
        held("r", "rest", {SPOT: 1}),
    )
    state = state_of(*nouns, *jobs)
    made = Attempt(state, preemptor(state, asks=3))
    made.take(candidate(state, "p", "p", lends=False))
    for name in ("own1", "own2"):
        made.take(candidate(state, name, "q"))
    spare(made, borrowing=False)  # type: ignore[operator]
    assert left(made) == kept


def test_without_borrowing_the_queue_must_stay_within_its_own() -> None:
    state = state_of(pool("q", 2, Preemption(LOWER)), pool("rest", 4), held("w", "q", {SPOT: 1}))
    made = Attempt(state, preemptor(state, asks=2))
    assert made.enough(borrowing=True)
    assert not made.enough(borrowing=False)
    made.take(candidate(state, "w", "q"))
    assert made.enough(borrowing=False)


def test_usage_that_is_shown_counts_for_shares_and_not_for_what_fits() -> None:
    state = state_of(pool("q", 2))
    made = Attempt(state, preemptor(state, asks=2))
    made.show(added=True)
    made.show(added=True)
    assert state.quotas.used("q", SPOT) == 2
    assert made.enough()
    assert state.quotas.used("q", SPOT) == 2
    made.show(added=False)
    assert state.quotas.used("q", SPOT) == 0


def test_seats_are_looked_at_when_twice_as_many_were_taken() -> None:
    made = attempt_of(asks=1, nominal=9)
    looks: list[int] = []
    made.seat = lambda gone: looks.append(len(gone))  # type: ignore[assignment,func-returns-value]
    jobs = [held(f"w{n}", "q", {SPOT: 1}) for n in range(5)]
    state = state_of(pool("q", 9, Preemption(LOWER)), *jobs)
    made.state = state
    for n in range(5):
        made.take(candidate(state, f"w{n}", "q"))
        assert not made.enough(look=False)
    assert looks == [1, 2, 4]
    assert not made.enough()
    assert looks == [1, 2, 4, 5]


def test_hopeless_is_who_would_not_fit_even_with_all_of_them_gone() -> None:
    nouns = (pool("q", 3, Preemption(LOWER, LOWER)), pool("p", 0))
    jobs = (held("low", "q", {SPOT: 1}), held("high", "q", {SPOT: 1}, priority=9), held("p", "p", {SPOT: 1}))
    state = state_of(*nouns, *jobs)
    assert not Attempt(state, preemptor(state, asks=2)).hopeless(["p"])
    assert Attempt(state, preemptor(state, asks=2)).hopeless([])
    assert Attempt(state, preemptor(state, asks=3)).hopeless(["p"])
    assert not Attempt(state, preemptor(state, asks=0)).hopeless([])
    state = state_of(pool("q", 3, Preemption(NEVER, LOWER)), pool("p", 0), *jobs)
    assert Attempt(state, preemptor(state, asks=2)).hopeless(["p"])


def test_knowing_that_it_is_hopeless_never_costs_victims() -> None:
    given_up = []

    @settings(max_examples=150, database=None, derandomize=True)
    @given(trees.worlds(), trees.settings)
    def check(world: World, chosen: Settings) -> None:
        state = world.state(Profile("kueue", places=False, settings=chosen))
        found = search(state, world)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Attempt, "hopeless", lambda *_: False)
            assert search(state, world).targets == found.targets
        given_up.append(not found.targets)

    check()
    assert 0.1 < sum(given_up) / len(given_up) < 0.9
