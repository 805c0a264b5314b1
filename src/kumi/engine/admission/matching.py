"""Matching: which flavors the pods of a pod set may have at all.

The rule, for one flavor and one pod set:
    taints      the flavor's blocking taints are endured by the pods or by the flavor's own tolerations
    labels      the pods' node selector and required affinity hold on the flavor's labels, both cut to the keys that the flavor
                has; where nothing is left of one term of the affinity, it asks for nothing
    topology    pods that ask for a topology get flavors that have one, others flavors that have none; where every flavor of the
                queue has one, all pods ask for it; and a flavor without one also serves pods that ask for a topology where its
                group covers none of what they themselves request
    allowed     it is one of the workload's allowed flavors, where those are named
Why            a key that the flavor says nothing about is the nodes' business: other nodes of the flavor may have it.
Cost           O(taints x tolerations + labels + affinity terms).
Source         Kueue: ResourceFlavor, flavor assignment. Kubernetes: taints and tolerations, assigning pods to nodes.
Not here       quota: question.py; whether the topology has room: placement.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from kumi.engine.model import ClusterQueue, Flavor, PodSet, PodShape, Requirement, ResourceGroup
from kumi.engine.selectors import affinity_holds, untolerated

TOPOLOGY_WORDS = ('"required":', '"preferred":', '"unconstrained":true')
"""the words of a topology request, as JSON text, that ask for a topology; others only say how its pods are numbered"""


def matches(flavor: Flavor, shape: PodShape) -> bool:
    """May pods of this shape have this flavor, by its taints and labels?"""
    if untolerated(flavor.taints, shape.tolerations + flavor.tolerations) is not None:
        return False
    labels = dict(flavor.node_labels)
    if any(labels.get(key, value) != value for key, value in shape.node_selector):
        return False
    return affinity_holds(_cut(shape.affinity, labels), labels)


def topology_matches(flavor: Flavor, pods: PodSet, group: ResourceGroup, *, implied: bool) -> bool:
    """May the pod set have this flavor, by what it asks of the topology? `implied`: every flavor of the queue has one."""
    if not (implied or asks_for_topology(pods.topology)):
        return not flavor.topology
    return bool(flavor.topology) or not any(r in group.resources for r, _ in pods.shape.requests)


def topology_implied(queue: ClusterQueue, flavors: dict[str, Flavor]) -> bool:
    """Does every flavor of the queue have a topology?"""
    named = [flavors.get(quotas.flavor) for group in queue.groups for quotas in group.flavors]
    return bool(named) and all(flavor is not None and flavor.topology for flavor in named)


@lru_cache(maxsize=1024)
def asks_for_topology(request: str) -> bool:
    """Does this request, as JSON text without spaces, ask for a topology?"""
    return any(word in request for word in TOPOLOGY_WORDS)


def shaped(shape: PodShape, flavors: list[Flavor]) -> PodShape:
    """The shape as its pods will be: with the labels and tolerations of these flavors."""
    selector, tolerations = shape.node_selector, shape.tolerations
    for flavor in flavors:
        selector += tuple(pair for pair in flavor.node_labels if pair not in selector)
        tolerations += tuple(t for t in flavor.tolerations if t not in tolerations)
    return replace(shape, node_selector=selector, tolerations=tolerations)


def _cut(
    terms: tuple[tuple[Requirement, ...], ...] | None, labels: dict[str, str]
) -> tuple[tuple[Requirement, ...], ...] | None:
    """The affinity as far as it is about these labels; None where a term has nothing left to ask."""
    if terms is None:
        return None
    cut = tuple(tuple(r for r in term if r.key in labels) for term in terms)
    return cut if all(cut) else None
