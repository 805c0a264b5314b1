"""Node order: spread, the emptiest node first.

The rule       score(n) = 100 * mean over the resources asked for of the share of allocatable(n, r) that stays free
Why            pods that serve, or that fight over a disk, are better apart.
Order and ties equal scores go by the nodes' names.
Units          0 to 100.
Cost           O(resources asked x nodes).
Source         Volcano: nodeorder plug-in (leastrequested); Kubernetes: the LeastAllocated strategy.
Not here       the opposite: binpack.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.engine.placement.nodes import Ints, Nodes, Requests, Scores
from kumi.engine.placement.plugins.binpack import fullness


@dataclass(frozen=True, slots=True)
class NodeOrder:
    """The emptiest node is best."""

    def score(self, nodes: Nodes, requests: Requests, pods: Ints) -> Scores:
        """See the module."""
        return 100.0 * (1.0 - fullness(nodes, requests, pods))
