from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kumi.api.kueue import Workload
from kumi.api.wire import JsonObject
from kumi.controllers import workload_status
from kumi.jobs.base import Standing
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, admitted, at, condition, workload


def view(**fields: Any) -> Workload:
    return msgspec.convert(workload(**fields), Workload)


def said(patch: Patch | None) -> dict[str, tuple[str, str]]:
    assert patch is not None
    return {c["type"]: (c["status"], c["reason"]) for c in status_of(patch)["conditions"]}


def status_of(patch: Patch) -> JsonObject:
    assert patch.subresource == "status"
    assert isinstance(patch.body, dict)
    assert patch.body["metadata"] == {"resourceVersion": "1"}
    status: JsonObject = patch.body["status"]
    return status


def test_finished_says_how_it_ended_and_keeps_the_rest() -> None:
    patch = workload_status.finished(view(status=admitted()), "Succeeded", "all done", NOW_MS)
    assert said(patch)["Finished"] == ("True", "Succeeded")
    assert said(patch)["Admitted"] == ("True", "R")
    assert "admission" not in status_of(patch)


def test_given_back_is_one_patch() -> None:
    held = admitted(
        conditions=[condition("Evicted", "True", "ClusterQueueStopped", message="m"), condition("PodsReady", "True")]
    )
    patch = workload_status.given_back(view(status={**held, "decision": {"code": "X"}}), NOW_MS)
    assert said(patch) == {
        "QuotaReserved": ("False", "PendingEvaluation"),
        "Admitted": ("False", "NoReservation"),
        "Evicted": ("True", "ClusterQueueStopped"),
        "PodsReady": ("False", "WaitForStart"),
        "Requeued": ("False", "ClusterQueueStopped"),
    }
    assert status_of(patch)["admission"] is None
    assert status_of(patch)["decision"] is None


def test_one_that_was_deactivated_says_so() -> None:
    held = admitted(conditions=[condition("Evicted", "True", "DeactivatedDueToRequeuingLimitExceeded")])
    assert said(workload_status.given_back(view(status=held), NOW_MS))["QuotaReserved"] == ("False", "Deactivated")


READY, NOT_READY = (Standing(suspended=False, active=True, pods_ready=r, finished=False) for r in (True, False))


@pytest.mark.parametrize(
    ("before", "standing", "after"),
    [
        ([], READY, ("True", "Started")),
        ([condition("PodsReady", "False", "WaitForStart")], READY, ("True", "Started")),
        ([condition("PodsReady", "True", "Started")], NOT_READY, ("False", "WaitForRecovery")),
        ([condition("PodsReady", "False", "WaitForRecovery")], READY, ("True", "Recovered")),
    ],
)
def test_pods_ready_is_told_when_it_turns(before: list[JsonObject], standing: Standing, after: tuple[str, str]) -> None:
    patch = workload_status.running(view(status=admitted(conditions=before)), standing, NOW_MS)
    assert said(patch)["PodsReady"] == after


@pytest.mark.parametrize(
    ("before", "standing"),
    [
        ([], NOT_READY),
        ([condition("PodsReady", "True", "Started")], READY),
        ([condition("PodsReady", "False", "WaitForRecovery")], NOT_READY),
    ],
)
def test_nothing_is_told_where_nothing_turned(before: list[JsonObject], standing: Standing) -> None:
    assert workload_status.running(view(status=admitted(conditions=before)), standing, NOW_MS) is None


def test_the_finalizer_goes_by_a_patch_that_tests_it() -> None:
    going = view(deletionTimestamp=at(0), finalizers=["theirs", workload_status.FINALIZER])
    patch = workload_status.without_finalizer(going)
    assert patch is not None
    assert patch.type == "json"
    assert patch.body == [
        {"op": "test", "path": "/metadata/finalizers/1", "value": workload_status.FINALIZER},
        {"op": "remove", "path": "/metadata/finalizers/1"},
    ]


def test_one_that_stays_keeps_its_finalizer() -> None:
    assert workload_status.without_finalizer(view(finalizers=[workload_status.FINALIZER])) is None
    assert workload_status.without_finalizer(view(deletionTimestamp=at(0))) is None


def test_pods_that_are_given_back_never_become_fewer() -> None:
    def given(count: int, before: list[JsonObject]) -> list[JsonObject] | None:
        standing = Standing(suspended=False, active=True, pods_ready=False, finished=False, reclaimable={"main": count})
        held = view(status={**admitted(), "reclaimablePods": before})
        patch = workload_status.running(held, standing, NOW_MS)
        return status_of(patch)["reclaimablePods"] if patch is not None else None

    assert given(2, []) == [{"name": "main", "count": 2}]
    assert given(1, [{"name": "main", "count": 2}]) is None
    assert given(9, [{"name": "main", "count": 2}]) == [{"name": "main", "count": 4}]


def test_the_time_for_which_it_was_admitted_is_kept_where_it_is_bounded() -> None:
    since = condition("Admitted", "True", seconds=-7)
    gone = condition("Evicted", "True", "Preempted")
    held = {**admitted(), "accumulatedPastExecutionTimeSeconds": 3, "conditions": [gone, since]}
    bounded = view(status=held, spec={"maximumExecutionTimeSeconds": 60})
    patch = workload_status.given_back(bounded, NOW_MS)
    assert status_of(patch)["accumulatedPastExecutionTimeSeconds"] == 3 + 7
    assert "accumulatedPastExecutionTimeSeconds" not in status_of(workload_status.given_back(view(status=held), NOW_MS))
