"""Volume limits: a node takes as many volumes of a driver as it says.

The rule, for a node n and a shape s: n takes s when for each driver d of s's claims of which n says a most
    volumes of d that pods on n use + volumes of d that s names and no pod on n uses <= most(n, d)
Counted        each volume once on a node; one that isn't made yet by its claim (../volume_claims.py)
Why            one volume too many is not attached, and the pod waits on its node for ever.
Cost           nothing where no node says a most, or no claim has a driver; else O(nodes), as array operations, and O(nodes that
               have volumes of the driver).
Source         Kubernetes scheduler: NodeVolumeLimits (CSI). What is attached without a pod is not looked at.
Not here       where volumes can be reached at all: volumes.py, volume_zone.py.
"""

from __future__ import annotations

import numpy as np

from kumi.engine.model import PodShape
from kumi.engine.placement.nodes import HAS_AT_MOST, Ints, Mask, Nodes
from kumi.engine.placement.volume_claims import volume_of


def mask(nodes: Nodes, shape: PodShape) -> Mask | None:
    """True on the rows that take the shape's volumes; None: all do."""
    if not nodes.volume_limits:
        return None
    wanted: dict[str, dict[str, None]] = {}
    for key in shape.volume_claims:
        claim = nodes.volume_claims.by_key.get(key)
        if claim is not None and claim.driver:
            wanted.setdefault(claim.driver, {})[volume_of(claim)] = None
    passes: Mask | None = None
    for driver, volumes in wanted.items():
        within = _within(nodes, driver, volumes)
        passes = within if passes is None else passes & within
    return passes


def _within(nodes: Nodes, driver: str, volumes: dict[str, None]) -> Mask:
    most: Ints = nodes.cached(("volume limits", driver, nodes.limit_stamp), lambda: _most(nodes, driver))
    new, after = np.full(most.size, len(volumes), dtype=np.int64), np.full(most.size, len(volumes), dtype=np.int64)
    for name, there in nodes.volume_claims.attached.get(driver, {}).items():
        row = nodes.row_by_name.get(name)
        if row is not None:
            new[row] = sum(volume not in there for volume in volumes)
            after[row] = len(there) + new[row]
    within: Mask = (new == 0) | (after <= most)
    return within


def _most(nodes: Nodes, driver: str) -> Ints:
    """Of each row how many it takes."""
    most = np.full(nodes.used.shape[1], HAS_AT_MOST, dtype=np.int64)
    for name, limits in nodes.volume_limits.items():
        row = nodes.row_by_name.get(name)
        if row is not None:
            most[row] = dict(limits.most).get(driver, HAS_AT_MOST)
    return most
