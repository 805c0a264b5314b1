from __future__ import annotations

from kumi.bridge.out.eviction import Eviction
from tests.controllers.made import NOW_MS, admitted, condition

from .made import look, said, status_of


def test_it_says_where_a_workload_stands() -> None:
    held = look(admitted(conditions=[condition("Evicted", "True", seconds=-5)]))
    assert (held.holds_quota, held.admitted, held.evicted, held.active) == (True, True, True, True)
    assert (held.since_ms("Evicted"), held.since_ms("PodsReady")) == (NOW_MS - 5000, NOW_MS)
    free = look(spec={"active": False})
    assert (free.holds_quota, free.admitted, free.evicted, free.active) == (False, False, False, False)


def test_an_eviction_is_one_patch_with_what_changes_along() -> None:
    made = look(admitted()).evict(Eviction("PodsReadyTimeout", "late", "WaitForStart"), {"requeueState": {"count": 1}})
    assert said(made)["Evicted"] == ("True", "PodsReadyTimeout")
    assert status_of(made)["requeueState"] == {"count": 1}
    assert [n.reason for n in made.notes] == ["EvictedDueToPodsReadyTimeout"]
