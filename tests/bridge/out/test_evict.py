from __future__ import annotations

from kumi.bridge.out.evict import evict
from kumi.engine.decisions import Evict
from kumi.engine.reasons import Code, Reason
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, condition, said, workload

HELD = {"conditions": [condition("QuotaReserved", "True"), condition("Admitted", "True")]}


def test_it_is_evicted_and_keeps_what_it_holds() -> None:
    step = evict("t", Evict("n/w", "ClusterQueueStopped"), workload(HELD), NOW_MS)
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    status = patch.body["status"]
    assert said(status) == {
        "QuotaReserved": ("True", "R"),
        "Admitted": ("True", "R"),
        "Evicted": ("True", "ClusterQueueStopped"),
    }
    assert "admission" not in status
    assert [n.reason for n in step.notes] == ["EvictedDueToClusterQueueStopped"]


def test_the_decisions_own_reason_is_told() -> None:
    step = evict("t", Evict("n/w", "NodeFailures", Reason(Code.RESERVATION_LOST, where="n1")), workload(HELD), NOW_MS)
    assert step.notes[0].message == "Node n1, which was kept for it, is gone or takes no pods."


def test_one_whose_place_is_taken_is_preempted_too() -> None:
    (patch,) = evict("t", Evict("n/w", "Preempted"), workload(HELD), NOW_MS).writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert said(patch.body["status"])["Preempted"] == ("True", "Preempted")
