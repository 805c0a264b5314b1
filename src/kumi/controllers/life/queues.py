"""What the state of its queues means for a workload: stopped and started again, drained, gone.

The rule   restarted    Requeued is False since its LocalQueue (or ClusterQueue) was stopped, and that runs again: True
           drained      admitted, and the LocalQueue (else the ClusterQueue) is HoldAndDrain: evicted, LocalQueueStopped
                        (ClusterQueueStopped)
           given back   quota reserved but not admitted, and the LocalQueue (else the ClusterQueue) is gone or going:
                        QuotaReserved False, Misconfigured; stopped in any way: Suspended. Nothing runs yet, so the quota
                        is free at once
Not here   the profile `kumi` has the engine drain queues (kumi.engine.admission.stops), in the same cycle as all else.
Source     Kueue: stopPolicy of ClusterQueue and LocalQueue.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.bridge.conditions import Wanted, set_all, to_json
from kumi.bridge.out.eviction import Eviction
from kumi.controllers.life.backoff import requeued
from kumi.controllers.life.look import Look
from kumi.runtime.reconcile import Outcome

DRAINED = {
    "LocalQueue": Eviction("LocalQueueStopped", "Its LocalQueue is drained by its stopPolicy."),
    "ClusterQueue": Eviction("ClusterQueueStopped", "Its ClusterQueue is drained by its stopPolicy."),
}
NO_RESERVATION = Wanted("Admitted", "False", "NoReservation", "No quota is reserved.")

Queue = kueue.LocalQueue | kueue.ClusterQueue


def local_restarted(look: Look) -> Outcome | None:
    """See the module."""
    return _restarted(look, "LocalQueue", look.queue)


def cluster_restarted(look: Look) -> Outcome | None:
    """See the module."""
    return _restarted(look, "ClusterQueue", look.cluster_queue)


def local_drained(look: Look) -> Outcome | None:
    """See the module."""
    return _drained(look, "LocalQueue", look.queue)


def cluster_drained(look: Look) -> Outcome | None:
    """See the module."""
    return _drained(look, "ClusterQueue", look.cluster_queue)


def local_gone(look: Look) -> Outcome | None:
    """Given back."""
    return _gone(look, "LocalQueue", look.queue)


def cluster_gone(look: Look) -> Outcome | None:
    """Given back."""
    return _gone(look, "ClusterQueue", look.cluster_queue)


def is_stopped(queue: Queue) -> bool:
    """Whether its stop policy admits nothing new."""
    return queue.spec.stop_policy not in ("", "None")


def _restarted(look: Look, kind: str, queue: Queue | None) -> Outcome | None:
    found = look.condition("Requeued")
    if queue is None or is_stopped(queue) or found is None:
        return None
    if (found.status, found.reason) != ("False", f"{kind}Stopped"):
        return None
    return look.written({"conditions": requeued(look, f"{kind}Restarted")})


def _drained(look: Look, kind: str, queue: Queue | None) -> Outcome | None:
    drains = queue is not None and queue.spec.stop_policy == "HoldAndDrain"
    return look.evict(DRAINED[kind]) if drains and look.admitted and not look.evicted else None


def _gone(look: Look, kind: str, queue: Queue | None) -> Outcome | None:
    if look.admitted:
        return None
    if queue is None or queue.metadata.deletion_timestamp is not None:
        return _given_back(look, "Misconfigured", f"Its {kind} is gone, or being deleted.")
    if is_stopped(queue):
        return _given_back(look, "Suspended", f"Its {kind} is stopped: its stopPolicy is {queue.spec.stop_policy}.")
    return None


def _given_back(look: Look, reason: str, message: str) -> Outcome:
    wanted = [Wanted("QuotaReserved", "False", reason, message), NO_RESERVATION]
    return look.written({"admission": None, "conditions": to_json(set_all(look.conditions, wanted, look.now_ms))})
