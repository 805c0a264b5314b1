from __future__ import annotations

import pytest

from kumi.bridge.out.requeued import on_eviction, requeued

from .made import condition, workload


@pytest.mark.parametrize(("why", "status"), [("Preempted", "True"), ("NodeFailures", "True"), ("Deactivated", "False")])
def test_an_eviction_says_whether_it_is_back_at_once(why: str, status: str) -> None:
    wanted = on_eviction(why)
    assert (wanted.type, wanted.status, wanted.reason) == ("Requeued", status, why)


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("Deactivated", "Reactivated"),
        ("ClusterQueueStopped", "ClusterQueueRestarted"),
        ("LocalQueueStopped", "LocalQueueRestarted"),
        ("PodsReadyTimeout", "BackoffFinished"),
    ],
)
def test_it_comes_back_for_the_reason_that_it_went(why: str, reason: str) -> None:
    (wanted,) = requeued(workload({"conditions": [condition("Requeued", "False", why)]}))
    assert (wanted.status, wanted.reason) == ("True", reason)


def test_nothing_is_said_of_one_that_never_left_its_queue() -> None:
    assert requeued(workload()) == []
    assert requeued(workload({"conditions": [condition("Requeued", "True", "Preempted")]})) == []
