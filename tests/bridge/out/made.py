"""Objects that the tests of this room write about."""

from __future__ import annotations

from typing import Any

import msgspec

from kumi.api.core import Pod
from kumi.api.kueue import Workload

NOW_MS = 1_800_000_000_000


def workload(status: dict[str, Any] | None = None, **spec: Any) -> Workload:
    meta = {
        "name": "w",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2027-01-15T07:59:50Z",
    }
    return msgspec.convert({"metadata": meta, "spec": {"queueName": "lq", **spec}, "status": status or {}}, Workload)


def pod(status: dict[str, Any] | None = None) -> Pod:
    return msgspec.convert({"metadata": {"name": "p", "namespace": "n", "uid": "pu"}, "status": status or {}}, Pod)


def condition(type: str, status: str, reason: str = "R", message: str = "") -> dict[str, str]:
    return {
        "type": type,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def said(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The conditions of a status that is written: type -> (status, reason)."""
    return {c["type"]: (c["status"], c["reason"]) for c in status["conditions"]}
