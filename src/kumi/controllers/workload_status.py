"""What a Workload's own loop writes of it: finished, given back, pods ready, gone.

The rule   finished     condition Finished True: Succeeded or Failed, with the kind's message; FailedToStart when what was
                        admitted can't be merged into the job. It holds no quota from then on.
           given back   after an eviction, once the job is not active: status.admission goes, QuotaReserved and Admitted
                        turn False, Requeued says whether it is back in its queue. The whole seconds for which it was
                        admitted are added to accumulatedPastExecutionTimeSeconds, where its time is bounded. One patch.
           running      condition PodsReady: True when the kind says so (Started, Recovered after it was lost); False
                        (WaitForRecovery) when it is lost. Nothing is said before the first time. reclaimablePods: pods
                        that have ended and won't be replaced, never fewer than before.
           gone         the finalizer kueue.x-k8s.io/resource-in-use, which keeps the quota of a deleted Workload until its
                        job holds no pods, goes by a JSON patch that tests what it removes.
Source     Kueue: Workload conditions and finalizer.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import find_condition, is_true, parse_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, says, set_all, status_patch, to_json
from kumi.bridge.out.requeued import on_eviction
from kumi.controllers.finalizers import without
from kumi.jobs.base import Standing
from kumi.runtime.reconcile import Patch

FINALIZER = kueue.IN_USE


def finished(workload: kueue.Workload, reason: str, message: str, now_ms: int) -> Patch:
    """Finished for good."""
    return _conditions(workload, [Wanted("Finished", "True", reason, message)], now_ms)


def given_back(workload: kueue.Workload, now_ms: int) -> Patch:
    """An evicted Workload whose job has stopped gives its quota back."""
    conditions = workload.status.conditions
    evicted = find_condition(conditions, "Evicted")
    why = evicted.reason if evicted is not None else "Evicted"
    message = evicted.message if evicted is not None else ""
    reason = "Deactivated" if why.startswith("Deactivated") else "PendingEvaluation"
    wanted = [
        Wanted("QuotaReserved", "False", reason, message),
        Wanted("Admitted", "False", "NoReservation", "No quota is reserved."),
        on_eviction(why),
    ]
    if is_true(conditions, "PodsReady"):
        wanted.append(Wanted("PodsReady", "False", "WaitForStart", "Its pods were stopped."))
    status: JsonObject = {"admission": None, "conditions": to_json(set_all(conditions, wanted, now_ms))}
    if workload.spec.maximum_execution_time_seconds is not None and workload.spec.active:
        status["accumulatedPastExecutionTimeSeconds"] = used_seconds(workload, now_ms)
    if workload.status.decision is not None:
        status["decision"] = None
    return status_patch(SCHEME.of(kueue.Workload), workload, status)


def running(workload: kueue.Workload, standing: Standing, now_ms: int) -> Patch | None:
    """What there is to tell of one whose job runs: PodsReady, and pods that are given back."""
    ready, given_back = _pods_ready(workload, standing), _reclaimable(workload, standing)
    status: JsonObject = {}
    if ready is not None:
        status["conditions"] = to_json(set_all(workload.status.conditions, [ready], now_ms))
    if given_back is not None:
        status["reclaimablePods"] = given_back
    return status_patch(SCHEME.of(kueue.Workload), workload, status) if status else None


def _pods_ready(workload: kueue.Workload, standing: Standing) -> Wanted | None:
    """The change of PodsReady, if there is one to tell."""
    conditions = workload.status.conditions
    found = find_condition(conditions, "PodsReady")
    if standing.pods_ready:
        lost = found is not None and found.reason == "WaitForRecovery"
        wanted = Wanted(
            "PodsReady", "True", "Recovered" if lost else "Started", "All pods are ready or have succeeded."
        )
        if found is not None and found.status == "True":
            return None
    elif found is not None and found.status == "True":
        wanted = Wanted("PodsReady", "False", "WaitForRecovery", "At least one pod is not ready any more.")
    else:
        return None
    return None if says(conditions, wanted) else wanted


def _reclaimable(workload: kueue.Workload, standing: Standing) -> list[JsonObject] | None:
    """The pods given back, where they are more than before: what is given back stays so while quota is held."""
    said = {str(r["name"]): int(r["count"]) for r in workload.status.reclaimable_pods}
    counts = {pod_set.name: pod_set.count for pod_set in workload.spec.pod_sets}
    wanted = {name: max(count, said.get(name, 0)) for name, count in standing.reclaimable.items() if name in counts}
    made = {**said, **{name: min(count, counts[name]) for name, count in wanted.items()}}
    return [{"name": name, "count": count} for name, count in sorted(made.items())] if made != said else None


def without_finalizer(workload: kueue.Workload) -> Patch | None:
    """Lets a Workload go that is being deleted."""
    return without(workload, FINALIZER) if workload.metadata.deletion_timestamp is not None else None


def used_seconds(workload: kueue.Workload, now_ms: int) -> int:
    """For how many whole seconds it has been admitted, in all."""
    found = find_condition(workload.status.conditions, "Admitted")
    since = parse_time(found.last_transition_time) if found is not None and found.status == "True" else None
    before = workload.status.accumulated_past_execution_time_seconds or 0
    return before + (max(0, now_ms - since) // 1000 if since is not None else 0)


def _conditions(workload: kueue.Workload, wanted: list[Wanted], now_ms: int) -> Patch:
    made = to_json(set_all(workload.status.conditions, wanted, now_ms))
    return status_patch(SCHEME.of(kueue.Workload), workload, {"conditions": made})
