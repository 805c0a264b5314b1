"""Catalog: flavors, queues and namespaces, and which ClusterQueue a workload waits in.

The rule, for a workload that holds nothing:
    it waits nowhere when, in this order:  it is inactive; its LocalQueue isn't there; that is stopped; the ClusterQueue isn't
                                           there; the ClusterQueue doesn't select the namespace
    else it waits in the line of the ClusterQueue. A ClusterQueue is closed, and nobody in its line is tried, while it is
    stopped or one of its flavors isn't there.
Selects        no selector selects nothing, an empty one everything; a namespace that isn't known has no labels.
Why            a workload outside of every line blocks nobody; one in the line of a closed queue keeps its place.
Order and ties objects come in any order: what is missing is found again when it comes.
Cost           O(1), the selector's requirements aside.
Source         Kueue: ClusterQueue and LocalQueue concepts, stopPolicy, namespaceSelector.
Not here       the lines: queues.py; who has to stop: admission/stops.py.
"""

from __future__ import annotations

from kumi.engine.journal import Journal
from kumi.engine.model import ClusterQueue, Flavor, LocalQueue, Namespace, StopPolicy, Workload
from kumi.engine.reasons import Code, Reason
from kumi.engine.selectors import all_hold


class Catalog:
    """What administrators set up."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.flavors: dict[str, Flavor] = {}
        self.cluster_queues: dict[str, ClusterQueue] = {}
        self.local_queues: dict[str, LocalQueue] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.doors: dict[str, dict[str, None]] = {}
        """ClusterQueue -> its LocalQueues"""

    def put_local_queue(self, queue: LocalQueue) -> None:
        """There is such a LocalQueue, or it changed."""
        self.remove_local_queue(queue.key)
        self._journal.put(self.local_queues, queue.key, queue)
        if queue.cluster_queue not in self.doors:
            self._journal.put(self.doors, queue.cluster_queue, {})
        self._journal.put(self.doors[queue.cluster_queue], queue.key, None)

    def remove_local_queue(self, key: str) -> None:
        """It is gone."""
        old = self.local_queues.get(key)
        if old is not None:
            self._journal.drop(self.local_queues, key)
            self._journal.drop(self.doors[old.cluster_queue], key)

    def route(self, workload: Workload) -> str | Reason:
        """The ClusterQueue in whose line it waits, or why it waits in none."""
        if not workload.active:
            return Reason(Code.INACTIVE)
        local = self.local_queues.get(workload.queue)
        if local is None:
            return Reason(Code.NO_LOCAL_QUEUE, where=workload.queue)
        if local.stop is not StopPolicy.NONE:
            return Reason(Code.LOCAL_QUEUE_STOPPED, where=local.key)
        queue = self.cluster_queues.get(local.cluster_queue)
        if queue is None:
            return Reason(Code.NO_CLUSTER_QUEUE, where=local.cluster_queue)
        if not self.selects(queue, workload.namespace):
            return Reason(Code.NAMESPACE_NOT_SELECTED, where=queue.name)
        return queue.name

    def closed(self, name: str) -> Reason | None:
        """Why nobody in this queue's line is tried; None: it is open."""
        queue = self.cluster_queues.get(name)
        if queue is None:
            return Reason(Code.NO_CLUSTER_QUEUE, where=name)
        if queue.stop is not StopPolicy.NONE:
            return Reason(Code.CLUSTER_QUEUE_STOPPED, where=name)
        for group in queue.groups:
            for quotas in group.flavors:
                if quotas.flavor not in self.flavors:
                    return Reason(Code.FLAVOR_NOT_FOUND, flavor=quotas.flavor, where=name)
        return None

    def selects(self, queue: ClusterQueue, namespace: str) -> bool:
        """Does the queue take workloads of the namespace?"""
        if queue.selector is None:
            return False
        known = self.namespaces.get(namespace)
        return all_hold(queue.selector, dict(known.labels) if known else {})
