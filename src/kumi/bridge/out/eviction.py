"""What an eviction leaves in a Workload's status, whoever decides it: the engine (kumi.bridge.out.evict) or its own life.

The rule   Evicted           True; reason: why it goes, with `DueTo<cause>` where it was deactivated for a cause
           Preempted         True as well, where another workload takes its place; its reason is the rule that allowed it
           admissionChecks   each turns Pending, and what it added to pods goes; one that was Retry has retryCount one higher
           schedulingStats   the number of evictions by reason and cause, one higher
           of Deactivated    its target (condition DeactivationTarget) is hit and goes; so does requeueState
           the rest          stays: QuotaReserved and the admission go only when the job has stopped
Events     EvictedDueTo<reason>, on the Workload, if it held quota; Preempted too, where it was.
Source     Kueue: Workload conditions, admission checks, scheduling statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumi.api import kueue
from kumi.api.meta import Condition, find_condition, format_time
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, set_all, to_json
from kumi.bridge.out.reference import reference
from kumi.runtime.reconcile import Note

DEACTIVATED = "Deactivated"
TARGET = "DeactivationTarget"
PREEMPTED = "Preempted"


@dataclass(frozen=True)
class Eviction:
    """Why a workload goes. `cause`: what is behind it (of Deactivated: its target's reason; of PodsReadyTimeout:
    WaitForStart, WaitForRecovery; of Preempted: the rule, InClusterQueue ...)."""

    why: str
    message: str
    cause: str = ""

    @property
    def reason(self) -> str:
        """Of the condition Evicted."""
        return f"{self.why}DueTo{self.cause}" if self.why == DEACTIVATED and self.cause else self.why


def deactivation(view: kueue.Workload, message: str) -> Eviction:
    """The eviction of one that is not active: its target's reason is the cause, where it has one."""
    target = find_condition(view.status.conditions, TARGET)
    if target is None:
        return Eviction(DEACTIVATED, message)
    return Eviction(DEACTIVATED, f"The workload is deactivated: {target.message}", target.reason)


def evicted_status(
    view: kueue.Workload, eviction: Eviction, conditions: Sequence[Condition], now_ms: int
) -> JsonObject:
    """The fields of the status that change; `conditions` are those to start from."""
    wanted = [Wanted("Evicted", "True", eviction.reason, eviction.message)]
    if eviction.why == PREEMPTED:
        wanted.append(Wanted("Preempted", "True", eviction.cause or PREEMPTED, eviction.message))
    kept = [c for c in set_all(conditions, wanted, now_ms) if eviction.why != DEACTIVATED or c.type != TARGET]
    status: JsonObject = {
        "conditions": to_json(kept),
        "schedulingStats": {"evictions": _counted(view, eviction)},
    }
    if eviction.why == DEACTIVATED and view.status.requeue_state is not None:
        status["requeueState"] = None
    if any(c.get("state") != "Pending" for c in view.status.admission_checks):
        status["admissionChecks"] = [_reset(c, now_ms) for c in view.status.admission_checks]
    return status


def notes(view: kueue.Workload, eviction: Eviction) -> tuple[Note, ...]:
    """What is told of it."""
    if view.status.admission is None:
        return ()
    told = [Note(reference(view), f"EvictedDueTo{eviction.reason}", eviction.message)]
    if eviction.why == PREEMPTED:
        told.append(Note(reference(view), PREEMPTED, eviction.message))
    return tuple(told)


def _reset(check: JsonObject, now_ms: int) -> JsonObject:
    if check.get("state") == "Pending":
        return check
    made: JsonObject = {
        "name": check["name"],
        "state": "Pending",
        "message": f"Pending again after the eviction; it was {check['state']}.",
        "lastTransitionTime": format_time(now_ms),
    }
    retries = int(check.get("retryCount") or 0) + (check["state"] == "Retry")
    return {**made, "retryCount": retries} if retries else made


def _counted(view: kueue.Workload, eviction: Eviction) -> list[JsonObject]:
    """Of Preempted the cause is told by its own condition, and not counted apart."""
    cause = "" if eviction.why == PREEMPTED else eviction.cause
    rows = [dict(row) for row in (view.status.scheduling_stats or {}).get("evictions") or ()]
    for row in rows:
        if (row.get("reason"), row.get("underlyingCause")) == (eviction.why, cause):
            row["count"] = int(row.get("count") or 0) + 1
            return rows
    return [*rows, {"reason": eviction.why, "underlyingCause": cause, "count": 1}]
