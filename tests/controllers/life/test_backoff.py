from __future__ import annotations

import pytest

from kumi.api.wire import JsonObject
from kumi.controllers.life import backoff
from kumi.runtime.reconcile import Outcome, Patch
from tests.controllers.made import NOW_MS, admitted, at, condition

from .made import look, said, status_of


def retry(after: int | None, seconds: float = 0) -> JsonObject:
    check = {"name": f"c{after}", "state": "Retry", "lastTransitionTime": at(seconds)}
    return check if after is None else {**check, "requeueAfterSeconds": after}


@pytest.mark.parametrize(
    ("checks", "before", "at_seconds"),
    [
        ([retry(5), retry(7)], None, 7),
        ([retry(5, seconds=10), retry(10)], None, 15),
        ([retry(5)], 3, 5),
        ([retry(5)], 9, None),
        ([retry(5, seconds=-6)], None, None),
        ([retry(None)], None, None),
    ],
)
def test_the_latest_time_that_checks_ask_for_never_moves_back(
    checks: list[JsonObject], before: int | None, at_seconds: int | None
) -> None:
    state = {"requeueState": {"count": 2, "requeueAt": at(before)}} if before is not None else {}
    outcome = backoff.asked(look({"admissionChecks": checks, **state}))
    if at_seconds is None:
        assert outcome is None
    else:
        assert status_of(outcome)["requeueState"]["requeueAt"] == at(at_seconds)


def test_a_target_makes_it_inactive_once() -> None:
    target = {"conditions": [condition("DeactivationTarget", "True", "X")]}
    outcome = backoff.targeted(look(target))
    assert outcome is not None
    (patch,) = outcome.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert patch.body["spec"] == {"active": False}
    assert backoff.targeted(look(target, spec={"active": False})) is None
    assert backoff.targeted(look()) is None


def test_it_waits_for_its_time_and_what_holds_quota_only_in_kueue() -> None:
    later = {"requeueState": {"requeueAt": at(60)}}
    assert backoff.waiting(look(later)) == Outcome(wake_at_ms=NOW_MS + 60_000)
    assert backoff.waiting(look({**admitted(), **later})) == Outcome(wake_at_ms=NOW_MS + 60_000)
    assert backoff.waiting_pending(look(later)) == Outcome(wake_at_ms=NOW_MS + 60_000)
    assert backoff.waiting_pending(look({**admitted(), **later})) is None
    assert backoff.waiting(look({"requeueState": {"requeueAt": at(0)}})) is None


def test_a_time_that_is_past_goes_and_the_count_stays() -> None:
    outcome = backoff.over(look({"requeueState": {"count": 2, "requeueAt": at(-1)}}))
    assert status_of(outcome) == {"requeueState": {"count": 2, "requeueAt": None}}
    assert backoff.over(look({"requeueState": {"count": 2}})) is None


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("Deactivated", "Reactivated"),
        ("PodsReadyTimeout", "BackoffFinished"),
        ("AdmissionCheck", "BackoffFinished"),
        ("ClusterQueueStopped", None),
    ],
)
def test_it_is_back_for_the_reason_that_it_went(why: str, reason: str | None) -> None:
    outcome = backoff.back(look({"conditions": [condition("Requeued", "False", why)]}))
    if reason is None:
        assert outcome is None
    else:
        assert said(outcome)["Requeued"] == ("True", reason)


def test_one_that_is_not_active_is_evicted_once_and_forgets_its_back_off() -> None:
    held = {"requeueState": {"count": 1}, "conditions": [condition("DeactivationTarget", "True", "AdmissionCheck")]}
    outcome = backoff.inactive(look(held, spec={"active": False}))
    assert said(outcome) == {"Evicted": ("True", "DeactivatedDueToAdmissionCheck")}
    assert status_of(outcome)["requeueState"] is None
    evicted = {"conditions": [condition("Evicted", "True", "Deactivated")]}
    assert backoff.inactive(look(evicted, spec={"active": False})) is None
    late = backoff.inactive(look({**evicted, "requeueState": {"count": 1}}, spec={"active": False}))
    assert status_of(late)["requeueState"] is None
    assert backoff.inactive(look(held)) is None
    assert backoff.inactive_pending(look(admitted(), spec={"active": False})) is None
