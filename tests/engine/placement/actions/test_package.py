from __future__ import annotations

from kumi.engine.placement.actions import ACTIONS, LEAST

OF_A_LINE = {"strict", "easy", "conservative"}
EVICTING = {"preempt", "reclaim", "gangpreempt", "gangreclaim"}


def test_both_tables_have_every_action_and_differ_in_those_that_evict_and_in_what_is_kept() -> None:
    assert set(ACTIONS) == set(LEAST) == {"enqueue", "allocate", "backfill", "shuffle", *EVICTING, *OF_A_LINE}
    assert {name for name in ACTIONS if ACTIONS[name] is not LEAST[name]} == {*EVICTING, "allocate"}
