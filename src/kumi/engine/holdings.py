"""Holdings: which workload holds which quota, and who holds most.

The rule       a workload holds what its admission says, from the decision (or the first sight of it) until it finishes, is
               removed, or its admission is taken away; an eviction alone frees nothing.
               Quota is counted on the ClusterQueue of the admission, also where that isn't there (any more). A resource
               without a flavor is not counted.
Largest first  of one flavor-resource of a queue, and of one resource on the nodes: ordered indexes, kept with the state, so
               that a record can name who holds what is wanted without looking through all that is admitted.
Order and ties larger amounts first, then keys.
Units          base units.
Cost           O(flavor-resources x log n) an admission.
Not here       places on nodes: reservations.py; may it start: admission/.
"""

from __future__ import annotations

from typing import TypeVar

from kumi.engine.admission.quota import FlavorResource, Quotas
from kumi.engine.journal import Journal
from kumi.engine.model import Admission, Amounts
from kumi.engine.placement.nodes import Requests

K = TypeVar("K")
Holder = tuple[int, str, str]
"""(-amount, workload or "", pod uid or "")"""


class Holdings:
    """Admissions that are held."""

    def __init__(self, journal: Journal, quotas: Quotas) -> None:
        self._journal, self._quotas = journal, quotas
        self.admission: dict[str, Admission] = {}
        self.of_queue: dict[str, dict[str, None]] = {}
        self.by_quota: dict[tuple[str, FlavorResource], list[Holder]] = {}
        self.by_resource: dict[str, list[Holder]] = {}
        """of what is held on nodes: workloads that Kumi placed, and pods on their own"""
        self.placed: dict[str, Amounts] = {}

    def take(self, workload: str, admission: Admission, placed: Amounts) -> None:
        """The workload holds this; `placed` is what of it is on nodes, by resource."""
        self._journal.put(self.admission, workload, admission)
        self._member(self.of_queue, admission.cluster_queue, workload)
        for fr, amount in usage_of(admission).items():
            self._quotas.add(admission.cluster_queue, fr, amount)
            self._rank(self.by_quota, (admission.cluster_queue, fr), (-amount, workload, ""))
        if placed:
            self._journal.put(self.placed, workload, placed)
            self.place("", workload, tuple(placed.items()))

    def drop(self, workload: str) -> Admission:
        """It holds nothing any more; what it held."""
        admission = self.admission[workload]
        self._journal.drop(self.admission, workload)
        self._journal.drop(self.of_queue[admission.cluster_queue], workload)
        if not self.of_queue[admission.cluster_queue]:
            self._journal.drop(self.of_queue, admission.cluster_queue)
        for fr, amount in usage_of(admission).items():
            self._quotas.add(admission.cluster_queue, fr, -amount)
            self._unrank(self.by_quota, (admission.cluster_queue, fr), (-amount, workload, ""))
        if workload in self.placed:
            self.unplace("", workload, tuple(self.placed[workload].items()))
            self._journal.drop(self.placed, workload)
        return admission

    def place(self, pod: str, workload: str, requests: Requests) -> None:
        """That pod, or that workload, holds so much on nodes."""
        for resource, amount in requests:
            if amount > 0:
                self._rank(self.by_resource, resource, (-amount, workload, pod))

    def unplace(self, pod: str, workload: str, requests: Requests) -> None:
        """Not any more."""
        for resource, amount in requests:
            if amount > 0:
                self._unrank(self.by_resource, resource, (-amount, workload, pod))

    def _member(self, table: dict[str, dict[str, None]], key: str, member: str) -> None:
        if key not in table:
            self._journal.put(table, key, {})
        self._journal.put(table[key], member, None)

    def _rank(self, table: dict[K, list[Holder]], key: K, holder: Holder) -> None:
        if key not in table:
            self._journal.put(table, key, [])
        self._journal.insert(table[key], holder)

    def _unrank(self, table: dict[K, list[Holder]], key: K, holder: Holder) -> None:
        self._journal.discard(table[key], holder)
        if not table[key]:
            self._journal.drop(table, key)


def usage_of(admission: Admission) -> dict[FlavorResource, int]:
    """How much of each flavor-resource the admission uses."""
    usage: dict[FlavorResource, int] = {}
    for given in admission.pod_sets:
        flavors = dict(given.flavors)
        for resource, amount in given.usage:
            if resource in flavors and amount:
                fr = (flavors[resource], resource)
                usage[fr] = usage.get(fr, 0) + amount
    return {fr: usage[fr] for fr in sorted(usage)}
