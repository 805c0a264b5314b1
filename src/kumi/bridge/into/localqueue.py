"""LocalQueue -> LocalQueue: the ClusterQueue that it opens to, its stop policy (HOLD while it is being deleted), its share.

The rule   weight     spec.fairSharing.weight, 1 where nothing is said
           consumed   status.fairSharing.admissionFairSharingStatus: past usage by resource in whole units (cores, bytes,
                      devices), decayed up to lastUpdate
Source     Kueue: LocalQueue, admission fair sharing.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import parse_time
from kumi.api.quantity import nano
from kumi.bridge.into.clusterqueue import stop_policy
from kumi.bridge.into.quotas import NANO, weight
from kumi.engine import model


def localqueue(view: kueue.LocalQueue) -> model.LocalQueue:
    """See the module. KumiError for a quantity that can't be read."""
    stop = stop_policy(view.spec.stop_policy, deleting=view.metadata.deletion_timestamp is not None)
    sharing = view.status.fair_sharing
    past = sharing.admission_fair_sharing_status if sharing is not None else None
    consumed = past.consumed_resources if past is not None else {}
    return model.LocalQueue(
        view.key,
        view.spec.cluster_queue,
        stop,
        weight=weight(view.spec.fair_sharing),
        consumed=tuple((name, nano(amount) / NANO) for name, amount in sorted(consumed.items())),
        consumed_ms=(parse_time(past.last_update) if past is not None else None) or 0,
    )
