from __future__ import annotations

import msgspec

from kumi.api.kueue import LocalQueue
from kumi.bridge.into.localqueue import localqueue
from kumi.engine import model


def test_a_door_opens_to_its_cluster_queue() -> None:
    view = msgspec.convert(
        {"metadata": {"name": "q", "namespace": "n"}, "spec": {"clusterQueue": "c", "stopPolicy": "Hold"}}, LocalQueue
    )
    assert localqueue(view) == model.LocalQueue("n/q", "c", model.StopPolicy.HOLD)


def test_one_that_is_being_deleted_holds() -> None:
    view = msgspec.convert(
        {"metadata": {"name": "q", "namespace": "n", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, LocalQueue
    )
    assert localqueue(view).stop is model.StopPolicy.HOLD


def test_its_share_and_what_it_used() -> None:
    past = {"consumedResources": {"memory": "1Ki", "cpu": "1500m"}, "lastUpdate": "1970-01-01T00:00:07Z"}
    view = msgspec.convert(
        {
            "metadata": {"name": "q", "namespace": "n"},
            "spec": {"clusterQueue": "c", "fairSharing": {"weight": "500m"}},
            "status": {"fairSharing": {"weightedShare": 3, "admissionFairSharingStatus": past}},
        },
        LocalQueue,
    )
    made = localqueue(view)
    assert (made.weight, made.consumed, made.consumed_ms) == (0.5, (("cpu", 1.5), ("memory", 1024.0)), 7000)
