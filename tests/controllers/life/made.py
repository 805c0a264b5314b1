"""Looks that the tests of this room start from."""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.kueue import ClusterQueue, LocalQueue, Workload
from kumi.api.wire import JsonObject
from kumi.controllers.life.look import Look, Policy
from kumi.runtime.reconcile import Outcome, Patch
from tests.controllers.made import NOW_MS, cluster_queue, local_queue, workload


def look(
    status: JsonObject | None = None,
    policy: Policy | None = None,
    queue: JsonObject | None = None,
    cluster: JsonObject | None = None,
    **fields: Any,
) -> Look:
    """A look at one Workload with both of its queues; `queue`, `cluster`: their specs."""
    view = msgspec.convert(workload(status=status or {}, **fields), Workload)
    door = msgspec.convert(local_queue(**(queue or {})), LocalQueue)
    pool = msgspec.convert(cluster_queue(**(cluster or {})), ClusterQueue)
    return Look(view, door, pool, policy or Policy(), NOW_MS, list(view.status.conditions))


def status_of(outcome: Outcome | None) -> JsonObject:
    """The status that its one write leaves."""
    assert outcome is not None
    (patch,) = outcome.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert patch.body["metadata"] == {"resourceVersion": "1"}
    status: JsonObject = patch.body["status"]
    return status


def said(outcome: Outcome | None) -> dict[str, tuple[str, str]]:
    """The conditions that its one write leaves."""
    return {c["type"]: (c["status"], c["reason"]) for c in status_of(outcome)["conditions"]}
