"""Binpack: fill nodes that are used already, so that whole nodes stay free for what needs them.

The rule       score(n) = 100 * mean over the resources asked for of (used(n, r) + pods(n) * s(r)) / allocatable(n, r)
Why            a gang of eight GPUs needs a node on which nobody left one pod behind.
Order and ties equal scores go by the nodes' names (../gang.py, ../session.py).
Units          0 to 100; resources weigh the same; `pods` doesn't count, nor does a resource that nobody asked for.
Cost           O(resources asked x nodes).
Source         Volcano: binpack plug-in; Kubernetes: the MostAllocated strategy.
Not here       the opposite: nodeorder.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kumi.engine.placement.nodes import NOWHERE, Ints, Nodes, Requests, Scores


@dataclass(frozen=True, slots=True)
class Binpack:
    """The fullest node that fits is best."""

    def score(self, nodes: Nodes, requests: Requests, pods: Ints) -> Scores:
        """See the module."""
        return 100.0 * fullness(nodes, requests, pods)


def fullness(nodes: Nodes, requests: Requests, pods: Ints) -> Scores:
    """How full each node is with these pods on it, 0 to 1, over the resources that they ask for; 0 where they ask nothing."""
    lines = [(line, amount) for line, amount in nodes.asked(requests)[1:] if line != NOWHERE]
    total = np.zeros(nodes.used.shape[1], dtype=np.float64)
    for line, amount in lines:
        have = nodes.allocatable[line].astype(np.float64)
        used = nodes.used[line] + pods * amount
        total += np.clip(np.divide(used, have, out=np.zeros_like(have), where=have > 0), 0.0, 1.0)
    return total / max(1, len(lines))
