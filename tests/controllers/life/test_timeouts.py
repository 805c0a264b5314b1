from __future__ import annotations

import pytest

from kumi.api.wire import JsonObject
from kumi.controllers.life.look import Policy
from kumi.controllers.life.timeouts import not_ready, too_long
from kumi.engine.settings import PodsReady
from kumi.runtime.reconcile import Outcome
from tests.controllers.made import NOW_MS, admission, at, condition

from .made import look, said, status_of

READY = PodsReady(timeout_ms=60_000, recovery_ms=10_000, backoff_base_ms=10_000, backoff_max_ms=35_000)


def held(since: float, *conditions: JsonObject, **status: object) -> JsonObject:
    both = [condition("QuotaReserved", "True"), condition("Admitted", "True", seconds=since)]
    return {"admission": admission(), "conditions": [*both, *conditions], **status}


def test_pods_have_their_time_to_get_ready() -> None:
    assert not_ready(look(held(-20), Policy(READY))) == Outcome(wake_at_ms=NOW_MS + 40_000)
    assert not_ready(look(held(-99))) is None
    assert not_ready(look(held(-99, condition("PodsReady", "True")), Policy(READY))) is None
    assert not_ready(look({}, Policy(READY))) is None


def test_past_it_they_are_stopped_and_put_back_for_a_while() -> None:
    outcome = not_ready(look(held(-60), Policy(READY)))
    assert said(outcome)["Evicted"] == ("True", "PodsReadyTimeout")
    assert status_of(outcome)["requeueState"] == {"count": 1, "requeueAt": at(10)}
    assert status_of(outcome)["schedulingStats"]["evictions"][0]["underlyingCause"] == "WaitForStart"


@pytest.mark.parametrize(("count", "seconds"), [(0, 10), (1, 20), (2, 35), (3, 35), (500, 35)])
def test_the_while_doubles_up_to_a_bound(count: int, seconds: int) -> None:
    outcome = not_ready(look(held(-60, requeueState={"count": count}), Policy(READY)))
    assert status_of(outcome)["requeueState"] == {"count": count + 1, "requeueAt": at(seconds)}


def test_without_a_bound_it_doubles_on() -> None:
    endless = PodsReady(timeout_ms=1, backoff_base_ms=10_000, backoff_max_ms=0)
    outcome = not_ready(look(held(-60, requeueState={"count": 5}), Policy(endless)))
    assert status_of(outcome)["requeueState"]["requeueAt"] == at(320)


def test_pods_that_were_lost_have_a_time_of_their_own() -> None:
    lost = condition("PodsReady", "False", "WaitForRecovery", seconds=-4)
    assert not_ready(look(held(-99, lost), Policy(READY))) == Outcome(wake_at_ms=NOW_MS + 6_000)
    long_ago = condition("PodsReady", "False", "WaitForRecovery", seconds=-10)
    outcome = not_ready(look(held(-99, long_ago), Policy(READY)))
    assert status_of(outcome)["schedulingStats"]["evictions"][0]["underlyingCause"] == "WaitForRecovery"
    patient = PodsReady(timeout_ms=60_000, recovery_ms=0)
    assert not_ready(look(held(-99, long_ago), Policy(patient))) is None


def test_what_was_put_back_too_often_is_deactivated() -> None:
    twice = PodsReady(timeout_ms=1, limit=2)
    outcome = not_ready(look(held(-60, requeueState={"count": 2}), Policy(twice)))
    assert said(outcome)["DeactivationTarget"] == ("True", "RequeuingLimitExceeded")
    assert "Evicted" not in said(outcome)
    assert "Evicted" in said(not_ready(look(held(-60, requeueState={"count": 1}), Policy(twice))))


@pytest.mark.parametrize("status", [held(-99, condition("Evicted", "True"))])
def test_one_that_goes_anyway_is_not_timed(status: JsonObject) -> None:
    assert not_ready(look(status, Policy(READY))) is None
    assert not_ready(look(held(-99), Policy(READY), spec={"active": False})) is None


def test_an_execution_has_its_bound_over_all_admissions() -> None:
    bounded = {"maximumExecutionTimeSeconds": 30}
    assert too_long(look(held(-10), spec=bounded)) == Outcome(wake_at_ms=NOW_MS + 20_000)
    used = held(-10, accumulatedPastExecutionTimeSeconds=20)
    outcome = too_long(look(used, spec=bounded))
    assert said(outcome)["DeactivationTarget"] == ("True", "MaximumExecutionTimeExceeded")
    assert status_of(outcome)["accumulatedPastExecutionTimeSeconds"] is None
    assert outcome is not None
    assert [(n.reason, n.type) for n in outcome.notes] == [("MaximumExecutionTimeExceeded", "Warning")]
    assert too_long(look(held(-99))) is None


def test_the_bound_is_passed_once() -> None:
    told = held(-99, condition("DeactivationTarget", "True", "MaximumExecutionTimeExceeded"))
    assert too_long(look(told, spec={"maximumExecutionTimeSeconds": 30})) is None
