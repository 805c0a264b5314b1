"""Requests: what a workload counts for in quota.

The rule, for one pod set:
    a pod counts for `quota` where that was worked out for it (excluded and transformed resources), else for what it requests;
    an amount below zero is nothing
    pending     each resource x the pods that have not ended; where the queue covers `pods`, a pod is one of those
    held        what its admission says, scaled down where it has fewer pods by now, or some have ended; never up
    new slice   of an elastic job: what it asks for less what the slice holds that it replaces
Why            quota that was reserved stays what it was even if the way of counting changes; pods that ended give theirs back.
Saturation     amounts stop at 2^63-1: a sum past that is more than any quota.
Units          base units; a pod is ONE_POD of `pods`.
Cost           O(resources).
Source         Kueue: resource quotas, reclaimable pods, workload slices (KEP-77).
Not here       exclusions and transformations: kumi.bridge.into.requests, where the API's words are.
"""

from __future__ import annotations

from kumi.api.quantity import MAX
from kumi.engine.model import Amounts, ClusterQueue, PodSet, PodSetAssigned, Workload
from kumi.engine.placement.nodes import ONE_POD, PODS


def remaining(pods: PodSet, *, reclaimable: bool = True) -> int:
    """How many of its pods have not ended."""
    return max(0, pods.count - pods.reclaimed) if reclaimable else pods.count


def asked(pods: PodSet, queue: ClusterQueue, count: int) -> Amounts:
    """Resource -> what `count` pods of a pending pod set ask for together, also where that is 0."""
    per_pod = pods.shape.requests if pods.quota is None else pods.quota
    asks = {resource: min(MAX, max(0, amount) * count) for resource, amount in per_pod}
    if any(PODS in group.resources for group in queue.groups):
        asks[PODS] = min(MAX, ONE_POD * count)
    return asks


def held(workload: Workload, given: PodSetAssigned, *, reclaimable: bool = True) -> PodSetAssigned:
    """What an admitted pod set counts for now."""
    pods = next((p for p in workload.pod_sets if p.name == given.name), None)
    count = given.count if pods is None else min(given.count, remaining(pods, reclaimable=reclaimable))
    if count == given.count:
        return given
    usage = tuple((resource, scaled(amount, given.count, count)) for resource, amount in given.usage)
    return PodSetAssigned(given.name, count, given.flavors, usage, given.nodes)


def scaled(amount: int, of: int, to: int) -> int:
    """What `to` pods use where `of` pods use so much: a pod's part, cut to a whole base unit, times their number."""
    return amount // of * to if of else 0
