"""LocalQueue -> LocalQueue: the ClusterQueue that it opens to, and its stop policy (HOLD while it is being deleted)."""

from __future__ import annotations

from kumi.api import kueue
from kumi.bridge.into.clusterqueue import stop_policy
from kumi.engine import model


def localqueue(view: kueue.LocalQueue) -> model.LocalQueue:
    """See the module."""
    stop = stop_policy(view.spec.stop_policy, deleting=view.metadata.deletion_timestamp is not None)
    return model.LocalQueue(view.key, view.spec.cluster_queue, stop)
