"""Why a workload waits, as Kueue's own controller says it, where no engine is asked: the profile `kueue`.

The rule   gated      an admission gate: QuotaReserved False, AdmissionGated; the last one gone: PendingEvaluation
           waiting    QuotaReserved False with the first that holds: Deactivated; Misconfigured (no LocalQueue); Suspended
                      (it is stopped); Misconfigured (no ClusterQueue); Suspended (it is not active); Misconfigured (the queue
                      leaves its namespace out, or its requests are above their limits); AdmissionGated; what the scheduler
                      said last; PendingEvaluation. A workload that is held (OnHold) stays so. One of which nothing
                      is wrong and nothing was said yet says nothing, unless all must say something at once
Events     AdmissionGated, AdmissionGateCleared.
Source     Kueue: Workload conditions.
Not here   the profile `kumi`: there the decision record says why (kumi.bridge.out.hold).
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import is_true
from kumi.bridge.conditions import Wanted, set_all, to_json
from kumi.bridge.into.clusterqueue import namespaces
from kumi.bridge.into.within_limits import above_limits
from kumi.bridge.into.workload import words
from kumi.controllers.life.look import Look
from kumi.controllers.life.queues import NO_RESERVATION, is_stopped
from kumi.engine.selectors import all_hold
from kumi.runtime.reconcile import Outcome

GATED = "AdmissionGated"
PENDING = "PendingEvaluation"
FROM_THE_SCHEDULER = (
    "NoMatchingFlavor",
    "ExceedsMaxQuota",
    "WaitingForQuota",
    "TopologyPlacementFailed",
    "WaitingForPreemptedWorkloads",
    "WaitingForPodsReady",
    "PreemptionGated",
)
"""reasons that only a scheduling attempt finds, kept until the next one"""


def gated(look: Look) -> Outcome | None:
    """See the module."""
    found = look.condition("QuotaReserved")
    said = found is not None and found.status == "False" and found.reason == GATED
    gates = words(look.workload.metadata.annotations.get(kueue.GATES_ANNOTATION))
    if look.holds_quota or bool(gates) == said:
        return None
    if gates:
        wanted, event = _gated(gates), GATED
    else:
        wanted, event = (
            Wanted("QuotaReserved", "False", PENDING, "No gate keeps it back any more."),
            "AdmissionGateCleared",
        )
    status = {"conditions": to_json(set_all(look.conditions, [wanted, NO_RESERVATION], look.now_ms))}
    return look.written(status, look.note(event, wanted.message))


def waiting(look: Look) -> Wanted | None:
    """What condition QuotaReserved should say of one that holds no quota; None: nothing."""
    found = look.condition("QuotaReserved")
    if not look.active:
        return _no("Deactivated", "The workload is deactivated (spec.active is false).")
    if found is not None and found.reason == "OnHold":
        return None
    blocked = _blocked(look) or _unacceptable(look)
    if blocked is not None:
        return blocked
    gates = words(look.workload.metadata.annotations.get(kueue.GATES_ANNOTATION))
    if gates:
        return _gated(gates)
    if found is not None and found.reason in FROM_THE_SCHEDULER:
        return None
    if found is None and not look.policy.explicit:
        return None
    return _no(PENDING, "It waits for its turn in the queue.")


def _blocked(look: Look) -> Wanted | None:
    queue, cluster_queue = look.queue, look.cluster_queue
    if queue is None:
        return _no("Misconfigured", f"LocalQueue {look.workload.spec.queue_name} does not exist.")
    if is_stopped(queue):
        return _no("Suspended", f"LocalQueue {queue.metadata.name} is stopped.")
    if cluster_queue is None:
        return _no("Misconfigured", f"ClusterQueue {queue.spec.cluster_queue} does not exist.")
    if not is_true(cluster_queue.status.conditions, "Active"):
        return _no("Suspended", f"ClusterQueue {cluster_queue.metadata.name} is not active.")
    return None


def _unacceptable(look: Look) -> Wanted | None:
    assert look.cluster_queue is not None
    selector = namespaces(look.cluster_queue.spec.namespace_selector)
    if selector is None or not all_hold(selector, look.labels):
        return _no("Misconfigured", f"ClusterQueue {look.cluster_queue.metadata.name} leaves this namespace out.")
    for p, pod_set in enumerate(look.workload.spec.pod_sets):
        wrong = next(above_limits(pod_set.template, f"spec.podSets[{p}].template.spec"), None)
        if wrong is not None:
            return _no("Misconfigured", f"{wrong.path}: {wrong.detail}.")
    return None


def _gated(gates: tuple[str, ...]) -> Wanted:
    return _no(GATED, f"Gates keep it back: {', '.join(gates)}.")


def _no(reason: str, message: str) -> Wanted:
    return Wanted("QuotaReserved", "False", reason, message)
