"""What a Workload's own loop writes of it: finished, given back, pods ready, gone.

The rule   finished     condition Finished True: Succeeded or Failed, with the kind's message; FailedToStart when what was
                        admitted can't be merged into the job. It holds no quota from then on.
           given back   after an eviction, once the job is not active: status.admission goes, QuotaReserved and Admitted
                        turn False, Requeued says whether it is back in its queue. One patch.
           pods ready   condition PodsReady: True when the kind says so (Started, Recovered after it was lost); False
                        (WaitForRecovery) when it is lost. Nothing is said before the first time.
           gone         the finalizer kueue.x-k8s.io/resource-in-use, which keeps the quota of a deleted Workload until its
                        job holds no pods, goes by a JSON patch that tests what it removes.
Source     Kueue: Workload conditions and finalizer.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import find_condition, is_true
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, says, set_all, status_patch, to_json
from kumi.bridge.out.requeued import on_eviction
from kumi.jobs.base import Standing
from kumi.runtime.reconcile import Patch

FINALIZER = "kueue.x-k8s.io/resource-in-use"


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
    if workload.status.decision is not None:
        status["decision"] = None
    return status_patch(SCHEME.of(kueue.Workload), workload, status)


def pods_ready(workload: kueue.Workload, standing: Standing, now_ms: int) -> Patch | None:
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
    return None if says(conditions, wanted) else _conditions(workload, [wanted], now_ms)


def without_finalizer(workload: kueue.Workload) -> Patch | None:
    """Lets a Workload go that is being deleted."""
    meta = workload.metadata
    if meta.deletion_timestamp is None or FINALIZER not in meta.finalizers:
        return None
    path = f"/metadata/finalizers/{meta.finalizers.index(FINALIZER)}"
    body: list[JsonObject] = [{"op": "test", "path": path, "value": FINALIZER}, {"op": "remove", "path": path}]
    return Patch(SCHEME.of(kueue.Workload), meta.namespace, meta.name, body, type="json")


def _conditions(workload: kueue.Workload, wanted: list[Wanted], now_ms: int) -> Patch:
    made = to_json(set_all(workload.status.conditions, wanted, now_ms))
    return status_patch(SCHEME.of(kueue.Workload), workload, {"conditions": made})
