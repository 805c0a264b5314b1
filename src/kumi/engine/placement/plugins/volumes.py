"""Volumes: where a pod finds the volumes of its claims, and whether it may have them.

The rule, for a node n and a shape s: n takes s when for each claim of s
    the claim is there, and nothing is waited for (it has a volume, or gets one once a pod is placed)
    its volume can be reached from n
    exclusive to one pod: no pod uses it;  exclusive to one node: pods that use it are all on n
Causes         of a claim that stands in the way on every node, the first in the order of the shape: CLAIM_NOT_FOUND,
               CLAIM_NOT_READY, CLAIM_IN_USE. Nodes that don't reach a volume are counted by ../predicates.py.
Why            a pod that is placed and then waits for its volume holds room that others could use.
Cost           O(claims of the shape); the nodes that reach a volume are found once a distinct affinity.
Source         Kubernetes scheduler: VolumeBinding, VolumeRestrictions. That a volume of one node draws pods to that node is
               Kumi's own: elsewhere they would be placed, and wait there for ever.
Not here       the facts: ../volume_claims.py; zones as labels: volume_zone.py; how many: volume_limits.py; the last word, where
               pods run: the kubelet's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kumi.engine.model import Exclusive, PodShape, Terms, VolumeClaim
from kumi.engine.placement.nodes import Mask, Nodes
from kumi.engine.reasons import Code, Reason
from kumi.engine.selectors import affinity_holds


def mask(nodes: Nodes, shape: PodShape) -> Mask:
    """True on the rows where the pod has its volumes."""
    nodes.volume_claims.looked_at.update(dict.fromkeys(shape.volume_claims))
    if refusal(nodes, shape) is not None:
        return np.zeros(nodes.used.shape[1], dtype=np.bool_)
    passes = reached(nodes, shape)
    for key in shape.volume_claims:
        homes = nodes.volume_claims.users.get(key)
        if homes and nodes.volume_claims.by_key[key].exclusive is Exclusive.NODE:
            at_home = np.zeros_like(passes)
            at_home[[nodes.row_by_name[name] for name in homes.values() if name in nodes.row_by_name]] = True
            passes = passes & at_home
    return passes


def refusal(nodes: Nodes, shape: PodShape) -> Reason | None:
    """Why no node will do, whatever it is like; None: some may."""
    for key in shape.volume_claims:
        claim = nodes.volume_claims.by_key.get(key)
        if claim is None:
            return Reason(Code.CLAIM_NOT_FOUND, where=key, pods=1)
        if claim.waits:
            return Reason(Code.CLAIM_NOT_READY, where=key, detail=claim.waits, pods=1)
        if claim.exclusive is Exclusive.POD and nodes.volume_claims.users.get(key):
            return Reason(Code.CLAIM_IN_USE, where=key, pods=1)
    return None


def reached(nodes: Nodes, shape: PodShape) -> Mask:
    """True on the rows from which every volume can be reached."""
    return where_all(nodes, shape, lambda claim: claim.nodes)


def where_all(nodes: Nodes, shape: PodShape, terms_of: Callable[[VolumeClaim], Terms | None]) -> Mask:
    """True on the rows on whose labels, for every claim, one of its terms holds (None: it has no say); a claim that isn't there
    has none."""
    passes = np.ones(nodes.used.shape[1], dtype=np.bool_)
    for key in shape.volume_claims:
        claim = nodes.volume_claims.by_key.get(key)
        terms = terms_of(claim) if claim is not None else None
        if terms is not None:
            passes &= _reaching(nodes, terms)
    return passes


def _reaching(nodes: Nodes, terms: Terms) -> Mask:
    """True on the rows on whose labels one of the terms holds."""
    made: Mask = nodes.cached(("volume", terms), lambda: _by_labels(nodes, terms))
    return made


def _by_labels(nodes: Nodes, terms: Terms) -> Mask:
    mask = np.zeros(nodes.used.shape[1], dtype=np.bool_)
    for name, row in nodes.row_by_name.items():
        mask[row] = affinity_holds(terms, dict(nodes.node_by_name[name].labels))
    return mask
