"""Reverse: who would come back by evicting others is not evicted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.admission.cycle import decide
from kumi.engine.decisions import Evict
from kumi.engine.model import Evictable, Preemption, Put
from kumi.engine.state import State
from tests.engine.admission.rivalry import job, pool, running, state_of

BORROWS = Preemption(reclaim=Evictable.LOWER_PRIORITY, borrowing=Evictable.LOWER_PRIORITY)
OLDER_FIRST = Preemption(within=Evictable.LOWER_OR_NEWER_EQUAL, reclaim=Evictable.ANY)


def rivals(profile: str = "kumi", theirs: Preemption = OLDER_FIRST, asks: int = 3) -> State:
    """Two queues of 2. One runs 3 and would, without the larger, have room for it again by right, once its younger sibling and
    whoever borrows are gone; in the other an urgent job borrows what it asks for beyond 2."""
    state = state_of(
        pool("a", 2, preemption=BORROWS),
        pool("b", 2, preemption=theirs),
        running("younger", "b", 1, created_ms=9, reserved_ms=1),
        running("older", "b", 2, created_ms=1, reserved_ms=5),
        profile=profile,
    )
    state.apply(Put(job("urgent", "a", asks, priority=5, created_ms=20)))
    return state


def evicted(state: State) -> list[str]:
    return [d.workload for d in decide(state, 100) if isinstance(d, Evict)]


def test_who_borrows_evicts_nobody_who_would_take_it_back() -> None:
    state = rivals()
    assert evicted(state) == []
    considered = {c.workload: c.why_not for c in state.records["ns/urgent"].considered}
    assert considered["ns/older"] == "ComesBack"


def test_in_kueue_it_does() -> None:
    assert evicted(rivals("kueue")) == ["ns/older"]


@pytest.mark.parametrize(
    "theirs", [replace(OLDER_FIRST, reclaim=Evictable.NEVER), replace(OLDER_FIRST, within=Evictable.NEVER)]
)
def test_one_who_could_not_come_back_goes(theirs: Preemption) -> None:
    assert evicted(rivals(theirs=theirs)) == ["ns/older"]


def test_one_who_would_come_back_at_the_cost_of_its_own_queue_goes() -> None:
    state = rivals(theirs=replace(OLDER_FIRST, reclaim=Evictable.LOWER_PRIORITY))
    state.apply(Put(pool("lender", 1)))
    assert evicted(state) == ["ns/older"]


def test_who_takes_back_what_is_its_own_is_not_asked() -> None:
    assert evicted(rivals(asks=2)) == ["ns/older"]


def test_the_state_is_left_as_it_was() -> None:
    state = rivals()
    held, usage = dict(state.holdings.admission), {q: dict(u) for q, u in state.quotas.usage.items()}
    decide(state, 100)
    assert (state.holdings.admission, state.quotas.usage) == (held, usage)
    assert not state.finishing
    assert not state.assumed


def test_victims_are_then_looked_for_in_other_queues() -> None:
    state = rivals()
    state.apply(Put(pool("c", 0)))
    state.apply(Put(pool("lender", 2)))
    state.apply(Put(running("other", "c", 2)))
    assert evicted(state) == ["ns/other"]
