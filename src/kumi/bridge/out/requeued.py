"""The condition Requeued: whether a workload that was evicted is back in its queue.

The rule   on eviction   True for Preempted and NodeFailures, at once; False for the rest, with the eviction's reason
           later         it turns True once what stopped it is over: Reactivated, BackoffFinished, ClusterQueueRestarted,
                         LocalQueueRestarted, as the reason was
Source     Kueue: Workload conditions.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import find_condition
from kumi.bridge.conditions import Wanted

AT_ONCE = ("Preempted", "NodeFailures")
AGAIN = {
    "Deactivated": "Reactivated",
    "ClusterQueueStopped": "ClusterQueueRestarted",
    "LocalQueueStopped": "LocalQueueRestarted",
}


def on_eviction(why: str) -> Wanted:
    """What is said when the quota is given back. `why` is the reason of the condition Evicted."""
    if why in AT_ONCE:
        return Wanted("Requeued", "True", why, "It is back in its queue.")
    return Wanted("Requeued", "False", why, "It goes back in its queue once what stopped it is over.")


def requeued(view: kueue.Workload) -> list[Wanted]:
    """What is said once it is admitted again; nothing where it was never taken out of its queue."""
    found = find_condition(view.status.conditions, "Requeued")
    if found is None or found.status != "False":
        return []
    return [Wanted("Requeued", "True", AGAIN.get(found.reason, "BackoffFinished"), "It is back in its queue.")]
