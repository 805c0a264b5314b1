"""Time that runs out for an admitted workload: until its pods are ready, and in all.

Ready      admitted, not evicted, active; the time is counted from
             WaitForStart       Admitted, while its pods have not been ready yet: `timeout`
             WaitForRecovery    the loss of readiness: `recovery`; 0: as long as it takes
           Past it: n = requeueState.count + 1. n over the limit: DeactivationTarget, RequeuingLimitExceeded. Else evicted,
           PodsReadyTimeout, and requeueAt = now + min(base * 2^(n-1), most); most 0: no bound.
Longest    maximumExecutionTimeSeconds, less what earlier admissions used (whole seconds), from Admitted on. Past it:
           DeactivationTarget, MaximumExecutionTimeExceeded; what was used is forgotten.
Why        A gang that never starts whole would hold its quota for ever.
Source     Kueue: all-or-nothing with ready pods; maximum execution time.
Not here   jitter of the back-off (a ten-thousandth in Kueue): decisions use no randomness.
"""

from __future__ import annotations

from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, set_all, to_json
from kumi.bridge.out.eviction import TARGET, Eviction
from kumi.controllers.life.look import Look
from kumi.engine.settings import PodsReady
from kumi.runtime.reconcile import Outcome

TIMED_OUT = "PodsReadyTimeout"
MOST_DOUBLINGS = 40
"""beyond that a back-off is longer than anything lives"""


def not_ready(look: Look) -> Outcome | None:
    """See the module."""
    policy = look.policy.pods_ready
    if policy is None or not look.active or not look.admitted or look.evicted:
        return None
    found = look.condition("PodsReady")
    if found is not None and found.status == "True":
        return None
    recovering = found is not None and found.reason == "WaitForRecovery"
    if recovering and not policy.recovery_ms:
        return None
    since, bound = (
        (look.since_ms("PodsReady"), policy.recovery_ms)
        if recovering
        else (look.since_ms("Admitted"), policy.timeout_ms)
    )
    if since + bound > look.now_ms:
        return Outcome(wake_at_ms=since + bound)
    return _too_late(look, policy, "WaitForRecovery" if recovering else "WaitForStart")


def too_long(look: Look) -> Outcome | None:
    """See the module."""
    workload = look.workload
    longest = workload.spec.maximum_execution_time_seconds
    if longest is None or not look.admitted:
        return None
    used = workload.status.accumulated_past_execution_time_seconds or 0
    due_ms = look.since_ms("Admitted") + (longest - used) * 1000
    if due_ms > look.now_ms:
        return Outcome(wake_at_ms=due_ms)
    target = look.condition(TARGET)
    if target is not None and target.status == "True":
        return None
    why, message = "MaximumExecutionTimeExceeded", f"It ran for longer than it may: {longest}s."
    status = _target(look, why, message)
    if used:
        status["accumulatedPastExecutionTimeSeconds"] = None
    return look.written(status, look.note(why, message, "Warning"))


def _too_late(look: Look, policy: PodsReady, cause: str) -> Outcome:
    state = look.workload.status.requeue_state or {}
    count = int(state.get("count") or 0) + 1
    if policy.limit is not None and count > policy.limit:
        message = f"Its pods were not ready in time, as often as it may be put back ({policy.limit})."
        return look.written(_target(look, "RequeuingLimitExceeded", message))
    wait_ms = policy.backoff_base_ms * 2 ** min(count - 1, MOST_DOUBLINGS)
    if policy.backoff_max_ms:
        wait_ms = min(wait_ms, policy.backoff_max_ms)
    message = "Its pods did not get ready in time."
    if cause == "WaitForRecovery":
        message = "Its pods did not get ready again in time."
    put_back = {"count": count, "requeueAt": format_time(look.now_ms + wait_ms)}
    return look.evict(Eviction(TIMED_OUT, message, cause), {"requeueState": put_back})


def _target(look: Look, reason: str, message: str) -> JsonObject:
    wanted = [Wanted(TARGET, "True", reason, message)]
    return {"conditions": to_json(set_all(look.conditions, wanted, look.now_ms))}
