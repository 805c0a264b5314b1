"""Do queues admit? The condition Active of ClusterQueues and LocalQueues.

ClusterQueue   False: Terminating; Stopped; FlavorNotFound; AdmissionCheckNotFound; AdmissionCheckInactive;
               CohortCycleDetected; the first that holds, as the engine's catalog says. Else True: Ready
LocalQueue     False: Stopped; ClusterQueueDoesNotExist; ClusterQueueIsInactive. Else True: Ready
Source         Kueue: ClusterQueue status, LocalQueue status.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.bridge.conditions import Wanted
from kumi.bridge.messages import sentence
from kumi.engine.catalog import Catalog
from kumi.engine.reasons import Code

CLOSED: dict[Code, str] = {
    Code.CLUSTER_QUEUE_STOPPED: "Stopped",
    Code.FLAVOR_NOT_FOUND: "FlavorNotFound",
    Code.CHECK_NOT_FOUND: "AdmissionCheckNotFound",
    Code.CHECK_INACTIVE: "AdmissionCheckInactive",
    Code.COHORT_CYCLE: "CohortCycleDetected",
}


def of_cluster_queue(queue: kueue.ClusterQueue, catalog: Catalog) -> Wanted:
    """Its condition Active."""
    if queue.metadata.deletion_timestamp is not None:
        return _no("Terminating", "It is being deleted and admits nothing new.")
    closed = catalog.closed(queue.metadata.name)
    if closed is None:
        return Wanted("Active", "True", "Ready", "It admits workloads.")
    return _no(CLOSED.get(closed.code, "Unknown"), f"It admits nothing: {sentence(closed)}.")


def of_local_queue(queue: kueue.LocalQueue, cluster_queue: kueue.ClusterQueue | None, catalog: Catalog) -> Wanted:
    """Its condition Active. `cluster_queue`: the one that it opens to, if that is there."""
    name = queue.spec.cluster_queue
    if queue.spec.stop_policy not in ("", "None"):
        return _no("Stopped", f"It is stopped: its stopPolicy is {queue.spec.stop_policy}.")
    if cluster_queue is None:
        return _no("ClusterQueueDoesNotExist", f"ClusterQueue {name} does not exist.")
    active = of_cluster_queue(cluster_queue, catalog)
    if active.status == "False":
        return _no("ClusterQueueIsInactive", f"ClusterQueue {name} admits nothing: {active.reason}.")
    return Wanted("Active", "True", "Ready", f"It submits to ClusterQueue {name}.")


def _no(reason: str, message: str) -> Wanted:
    return Wanted("Active", "False", reason, message)
