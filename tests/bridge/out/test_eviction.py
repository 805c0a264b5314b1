from __future__ import annotations

from typing import Any

import pytest

from kumi.bridge.out.eviction import Eviction, deactivation, evicted_status, notes

from .made import NOW_MS, condition, said, workload


def status(eviction: Eviction, before: dict[str, Any] | None = None) -> dict[str, Any]:
    view = workload(before)
    return evicted_status(view, eviction, view.status.conditions, NOW_MS)


def counts(made: dict[str, Any]) -> dict[tuple[str, str], int]:
    return {(e["reason"], e["underlyingCause"]): e["count"] for e in made["schedulingStats"]["evictions"]}


def test_the_cause_of_a_deactivation_is_part_of_its_reason() -> None:
    assert Eviction("Deactivated", "m", "RequeuingLimitExceeded").reason == "DeactivatedDueToRequeuingLimitExceeded"
    assert Eviction("PodsReadyTimeout", "m", "WaitForStart").reason == "PodsReadyTimeout"


def test_evictions_are_counted_by_reason_and_cause() -> None:
    first = status(Eviction("PodsReadyTimeout", "m", "WaitForStart"))
    second = status(Eviction("PodsReadyTimeout", "m", "WaitForStart"), first)
    third = status(Eviction("Preempted", "m", "InClusterQueue"), second)
    assert counts(third) == {("PodsReadyTimeout", "WaitForStart"): 2, ("Preempted", ""): 1}


def test_checks_are_asked_again_and_what_they_added_goes() -> None:
    checks = [
        {"name": "a", "state": "Ready", "podSetUpdates": [{"name": "main"}]},
        {"name": "b", "state": "Retry", "retryCount": 1, "requeueAfterSeconds": 5},
        {"name": "c", "state": "Pending", "lastTransitionTime": "2026-01-01T00:00:00Z"},
    ]
    made = status(Eviction("AdmissionCheck", "m"), {"admissionChecks": checks})["admissionChecks"]
    assert [c["state"] for c in made] == ["Pending"] * 3
    assert [c.get("retryCount") for c in made] == [None, 2, None]
    assert made[2] == checks[2]
    assert not any("podSetUpdates" in c or "requeueAfterSeconds" in c for c in made)


def test_checks_that_wait_anyway_are_not_written_again() -> None:
    before = {"admissionChecks": [{"name": "c", "state": "Pending"}]}
    assert "admissionChecks" not in status(Eviction("AdmissionCheck", "m"), before)


def test_a_target_that_is_hit_goes_with_what_was_put_back() -> None:
    before = {"conditions": [condition("DeactivationTarget", "True", "X", "m")], "requeueState": {"count": 3}}
    made = status(deactivation(workload(before), "by hand"), before)
    assert said(made) == {"Evicted": ("True", "DeactivatedDueToX")}
    assert made["requeueState"] is None
    kept = status(Eviction("PodsReadyTimeout", "m"), before)
    assert "DeactivationTarget" in said(kept)
    assert "requeueState" not in kept


def test_without_a_target_the_message_is_that_of_the_caller() -> None:
    assert deactivation(workload(), "by hand") == Eviction("Deactivated", "by hand")


@pytest.mark.parametrize(
    ("eviction", "reasons"),
    [
        (Eviction("Deactivated", "m", "X"), ["EvictedDueToDeactivatedDueToX"]),
        (Eviction("Preempted", "m", "InClusterQueue"), ["EvictedDueToPreempted", "Preempted"]),
    ],
)
def test_it_is_told_of_one_that_held_quota(eviction: Eviction, reasons: list[str]) -> None:
    assert [n.reason for n in notes(workload({"admission": {"clusterQueue": "q"}}), eviction)] == reasons
    assert notes(workload(), eviction) == ()
