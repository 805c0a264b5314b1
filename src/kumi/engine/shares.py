"""Shares: how much of the cluster the pods of a namespace hold.

The rule   held(s, r)  = sum over the pods of namespace s that sit on a node of what they ask of r
           share(s)    = max over the resources r that nodes have of held(s, r) / (sum over the nodes of allocatable(r))
           `pods` is no resource here. Of a resource that no node has any more a share is 1.
Why        the dominant share: of two namespaces the one that holds less of what it holds most of goes first, whatever it is.
Whose      every pod counts, whether it came by itself, in a gang or for a workload.
Kept       as pods come and go, where the policy's queueOrder is `fair`.
Units      shares are floats, for order only; amounts are int64.
Cost       O(resources) a pod that comes or goes, and a share; O(resources x nodes) each time the cluster is measured.
Source     Ghodsi et al., Dominant Resource Fairness (2011).
Not here   the line: waiting.py; shares of gangs: placement/plugins/drf.py; of queues: admission/fair_sharing.py.
"""

from __future__ import annotations

from collections.abc import Callable

from kumi.engine.journal import Journal
from kumi.engine.model import Amounts
from kumi.engine.placement.nodes import PODS, Nodes, Requests


class Shares:
    """By namespace."""

    def __init__(self, journal: Journal, nodes: Nodes) -> None:
        self._journal, self._nodes = journal, nodes
        self.held: dict[str, Amounts] = {}

    def seat(self, namespace: str, requests: Requests, pods: int) -> None:
        """So many more pods of the namespace hold this (negative: fewer)."""
        if namespace not in self.held:
            self._journal.put(self.held, namespace, {})
        held = self.held[namespace]
        for resource, amount in requests:
            if amount <= 0 or resource == PODS:
                continue
            if left := held.get(resource, 0) + amount * pods:
                self._journal.put(held, resource, left)
            else:
                self._journal.drop(held, resource)
        if not held:
            self._journal.drop(self.held, namespace)

    def by_now(self) -> Callable[[str], float]:
        """The share of a namespace, whatever it holds when it is asked, of what the nodes have now."""
        nodes = self._nodes
        total = {r: int(nodes.allocatable[line].sum()) for r, line in nodes.line_by_resource.items()}

        def share(namespace: str) -> float:
            held = self.held.get(namespace, {})
            return max((amount / total[r] if total.get(r) else 1.0 for r, amount in held.items()), default=0.0)

        return share
