from __future__ import annotations

from typing import Any

from kumi.bridge.out.evict import evict
from kumi.engine.decisions import Evict
from kumi.engine.reasons import Code, Reason
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, condition, said, workload

HELD: dict[str, Any] = {
    "admission": {"clusterQueue": "q"},
    "conditions": [condition("QuotaReserved", "True"), condition("Admitted", "True")],
}


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


def test_the_rule_that_allowed_it_is_the_reason_of_preempted() -> None:
    (patch,) = evict("t", Evict("n/w", "Preempted", cause="InCohortReclamation"), workload(HELD), NOW_MS).writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert said(patch.body["status"])["Preempted"] == ("True", "InCohortReclamation")
    assert said(patch.body["status"])["Evicted"] == ("True", "Preempted")


def test_one_that_was_deactivated_for_a_cause_says_so() -> None:
    target = condition("DeactivationTarget", "True", "AdmissionCheck", "it was rejected")
    view = workload({**HELD, "conditions": [*HELD["conditions"], target]})
    step = evict("t", Evict("n/w", "Deactivated", Reason(Code.INACTIVE)), view, NOW_MS)
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert said(patch.body["status"])["Evicted"] == ("True", "DeactivatedDueToAdmissionCheck")
    assert "DeactivationTarget" not in said(patch.body["status"])
    assert step.notes[0].message == "The workload is deactivated: it was rejected"


def test_whose_place_is_taken_by_whom_and_why_is_told() -> None:
    decision = Evict("n/w", "Preempted", cause="InClusterQueue", by="n/high")
    told = {n.message for n in evict("t", decision, workload(HELD), NOW_MS).notes}
    assert told == {"Workload n/high takes its place: it goes before this one in their ClusterQueue."}
