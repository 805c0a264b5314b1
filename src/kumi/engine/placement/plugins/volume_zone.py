"""Volume zone: a pod goes where the zone and region that its volumes carry as labels are.

The rule, for a node n and a claim with a volume v:
    n takes it when for each of v's labels topology.kubernetes.io/zone and /region, and the older failure-domain ones, n has one
    of the values under that key or the older or newer name of it; a node without any of these labels takes all
Why            volumes of older provisioners say so where they are, and nowhere else.
Cost           O(claims of the shape); the nodes of one set of values are found once.
Source         Kubernetes scheduler: VolumeZone.
Not here       how labels become terms: kumi.bridge.into.volumeclaim; the node affinity of volumes: volumes.py.
"""

from __future__ import annotations

from kumi.engine.model import PodShape
from kumi.engine.placement.nodes import Mask, Nodes
from kumi.engine.placement.plugins.volumes import where_all


def mask(nodes: Nodes, shape: PodShape) -> Mask:
    """True on the rows that are where every volume is."""
    return where_all(nodes, shape, lambda claim: claim.zones)
