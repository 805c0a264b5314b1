"""Back-off and activity: until when a workload stays out of its queue, and what happens to one that must not run.

The rule, first that holds:
    asked      an admission check that is Retry asks for a time: requeueAt = the latest of (its change + requeueAfterSeconds),
               where that is still to come and later than what is there: it never moves back
    targeted   active, with condition DeactivationTarget: it is made inactive
    waiting    active, and requeueAt is to come: nothing until then (of what holds quota too, in Kueue; Kumi has it give its
               quota back first: `waiting_pending`)
    over       active, holds nothing, requeueAt is past: requeueAt goes
    back       active, Requeued False: True again, Reactivated after it was deactivated, BackoffFinished after checks or pods
               that were not ready
    inactive   not active: evicted as Deactivated, DueTo its target's reason; target and requeue state go (in Kumi the engine
               evicts what holds quota: `inactive_pending` is about the rest)
Why        One write a look: each leads to the next.
Source     Kueue: Workload's active field, requeue state.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import format_time, parse_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, set_all, to_json
from kumi.bridge.out.eviction import DEACTIVATED, TARGET, deactivation
from kumi.controllers.life.look import Look
from kumi.runtime.reconcile import Outcome, Patch

BACK_AFTER = {
    DEACTIVATED: "Reactivated",
    "PodsReadyTimeout": "BackoffFinished",
    "AdmissionCheck": "BackoffFinished",
}
"""reason of Requeued=False -> reason of True"""


def asked(look: Look) -> Outcome | None:
    """See the module."""
    times = [
        (parse_time(c.get("lastTransitionTime")) or look.now_ms) + int(c["requeueAfterSeconds"]) * 1000
        for c in look.workload.status.admission_checks
        if c.get("state") == "Retry" and c.get("requeueAfterSeconds") is not None
    ]
    latest = max(times, default=0)
    if latest <= max(look.now_ms, requeue_at_ms(look.workload)):
        return None
    state = {**(look.workload.status.requeue_state or {}), "requeueAt": format_time(latest)}
    return look.written({"requeueState": state})


def targeted(look: Look) -> Outcome | None:
    """See the module."""
    target = look.condition(TARGET)
    if not look.active or target is None or target.status != "True":
        return None
    meta = look.workload.metadata
    body: JsonObject = {"metadata": {"resourceVersion": meta.resource_version}, "spec": {"active": False}}
    return Outcome((Patch(SCHEME.of(kueue.Workload), meta.namespace, meta.name, body),))


def waiting(look: Look) -> Outcome | None:
    """See the module."""
    until = requeue_at_ms(look.workload)
    return Outcome(wake_at_ms=until) if look.active and until > look.now_ms else None


def waiting_pending(look: Look) -> Outcome | None:
    """See the module."""
    return None if look.holds_quota else waiting(look)


def over(look: Look) -> Outcome | None:
    """See the module."""
    if not look.active or look.holds_quota or not requeue_at_ms(look.workload):
        return None
    return look.written({"requeueState": {**(look.workload.status.requeue_state or {}), "requeueAt": None}})


def back(look: Look) -> Outcome | None:
    """See the module."""
    found = look.condition("Requeued")
    if not look.active or found is None or found.status != "False" or found.reason not in BACK_AFTER:
        return None
    return look.written({"conditions": requeued(look, BACK_AFTER[found.reason])})


def inactive(look: Look) -> Outcome | None:
    """See the module."""
    if look.active:
        return None
    if not look.evicted:
        eviction = deactivation(look.workload, "The workload is deactivated (spec.active is false).")
        return look.evict(eviction)
    if look.workload.status.requeue_state is None:
        return None
    kept = [c for c in look.conditions if c.type != TARGET]
    return look.written({"conditions": to_json(kept), "requeueState": None})


def inactive_pending(look: Look) -> Outcome | None:
    """See the module."""
    return None if look.holds_quota else inactive(look)


def requeued(look: Look, reason: str) -> list[JsonObject]:
    """The conditions, with Requeued True."""
    wanted = Wanted("Requeued", "True", reason, "It is back in its queue.")
    return to_json(set_all(look.conditions, [wanted], look.now_ms))


def requeue_at_ms(workload: kueue.Workload) -> int:
    """The end of its back-off; 0 for none."""
    return parse_time((workload.status.requeue_state or {}).get("requeueAt")) or 0
