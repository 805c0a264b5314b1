"""Door shares: how much the workloads of a LocalQueue hold of what there is for its ClusterQueue.

The rule   held(l, r)     = sum over the workloads of LocalQueue l that hold an admission of what they use of resource r, of any
                            flavor
           there(c, r)    = sum over the flavors of r of the quota of the tree of cohorts that ClusterQueue c is in
           share(l, c)    = max over r of held(l, r) / there(c, r); of a resource of which there is none, 1
Why        the dominant share: of two LocalQueues the one that holds less of what it holds most of goes first.
Kept       as workloads get and give back quota, where the policy's queueOrder is `fair`.
Units      shares are floats, for order only; amounts are int64.
Cost       O(flavor-resources) a change, and a share.
Source     Ghodsi et al., Dominant Resource Fairness (2011).
Not here   whose turn it is: ../queues.py; what was used lately: usage.py; shares of queues in a cohort: fair_sharing.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from kumi.engine.admission.quota import FlavorResource, Quotas
from kumi.engine.journal import Journal
from kumi.engine.model import Amounts


class DoorShares:
    """By LocalQueue, by their keys."""

    def __init__(self, journal: Journal, quotas: Quotas) -> None:
        self._journal, self._quotas = journal, quotas
        self.held: dict[str, Amounts] = {}
        self.of_workload: dict[str, tuple[str, dict[FlavorResource, int]]] = {}
        """workload -> its LocalQueue, and what it holds"""

    def hold(self, workload: str, door: str, usage: Mapping[FlavorResource, int]) -> None:
        """The workload holds this by that LocalQueue."""
        if self.of_workload.get(workload) == (door, usage):
            return
        self.forget(workload)
        self._journal.put(self.of_workload, workload, (door, dict(usage)))
        self._add(door, usage, 1)

    def forget(self, workload: str) -> None:
        """It holds nothing any more."""
        if workload in self.of_workload:
            door, usage = self.of_workload[workload]
            self._journal.drop(self.of_workload, workload)
            self._add(door, usage, -1)

    def share(self, door: str, queue: str) -> float:
        """See the module."""
        root = self._quotas.root(queue)
        there: dict[str, int] = {}
        for (_, resource), amount in self._quotas.subtrees.get(root, {}).items():
            there[resource] = there.get(resource, 0) + amount
        held = self.held.get(door, {})
        return max((amount / there[r] if there.get(r) else 1.0 for r, amount in held.items()), default=0.0)

    def _add(self, door: str, usage: Mapping[FlavorResource, int], times: int) -> None:
        if door not in self.held:
            self._journal.put(self.held, door, {})
        held = self.held[door]
        for (_, resource), amount in usage.items():
            if left := held.get(resource, 0) + amount * times:
                self._journal.put(held, resource, left)
            else:
                self._journal.drop(held, resource)
        if not held:
            self._journal.drop(self.held, door)
