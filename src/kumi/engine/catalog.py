"""Catalog: flavors, checks, cohorts, queues and namespaces, and which ClusterQueue a workload waits in.

The rule, for a workload that holds nothing:
    it waits nowhere when, in this order:  it is inactive; somebody holds a gate of it; one of its admission checks said no and
                                           isn't asked again yet; its LocalQueue isn't there; that is stopped; the ClusterQueue
                                           isn't there; that doesn't select the namespace; it asks for what can't be granted
                                           (kueue: the last two are seen when it is tried, admission/cycle.py)
    else it waits in the line of the ClusterQueue. A ClusterQueue is closed, and nobody in its line is tried, while it is
    stopped, one of its flavors, their topologies or its admission checks isn't there, one of these checks is answered by
    nobody, or the way up from its cohort never ends (cohorts that are each other's parents).
Selects        no selector selects nothing, an empty one everything; a namespace that isn't known has no labels.
Why            a workload outside of every line blocks nobody; one in the line of a closed queue keeps its place.
Order and ties objects come in any order: what is missing is found again when it comes.
Cost           O(1), the selector's requirements aside; O(depth) where cohorts have parents.
Source         Kueue: ClusterQueue and LocalQueue concepts, stopPolicy, namespaceSelector.
Not here       the lines: queues.py; who has to stop: admission/stops.py.
"""

from __future__ import annotations

from kumi.engine.journal import Journal
from kumi.engine.model import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Flavor,
    LocalQueue,
    Namespace,
    StopPolicy,
    Topology,
    Workload,
)
from kumi.engine.reasons import Code, Reason
from kumi.engine.selectors import all_hold

SEEN_AT_THE_HEAD = ("kueue",)
"""profiles in which a workload that the queue would never take stands in line until it is tried"""


class Catalog:
    """What administrators set up."""

    def __init__(self, journal: Journal, profile: str = "kumi") -> None:
        self._journal = journal
        self._kept_out = _nobody if profile in SEEN_AT_THE_HEAD else self.unfit
        self.flavors: dict[str, Flavor] = {}
        self.topologies: dict[str, Topology] = {}
        self.checks: dict[str, AdmissionCheck] = {}
        self.cohorts: dict[str, Cohort] = {}
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
        if workload.gates:
            return Reason(Code.GATED, detail=", ".join(workload.gates))
        said_no = [check.name for check in workload.checks if check.state in ("Retry", "Rejected")]
        if said_no:
            return Reason(Code.CHECK_SAID_NO, detail=", ".join(said_no))
        local = self.local_queues.get(workload.queue)
        if local is None:
            return Reason(Code.NO_LOCAL_QUEUE, where=workload.queue)
        if local.stop is not StopPolicy.NONE:
            return Reason(Code.LOCAL_QUEUE_STOPPED, where=local.key)
        queue = self.cluster_queues.get(local.cluster_queue)
        if queue is None:
            return Reason(Code.NO_CLUSTER_QUEUE, where=local.cluster_queue)
        return self._kept_out(workload, queue) or queue.name

    def unfit(self, workload: Workload, queue: ClusterQueue) -> Reason | None:
        """Why the queue would never take the workload as it is; None: it may."""
        if not self.selects(queue, workload.namespace):
            return Reason(Code.NAMESPACE_NOT_SELECTED, where=queue.name)
        return workload.refused

    def closed(self, name: str) -> Reason | None:
        """Why nobody in this queue's line is tried; None: it is open."""
        queue = self.cluster_queues.get(name)
        if queue is None:
            return Reason(Code.NO_CLUSTER_QUEUE, where=name)
        if queue.stop is not StopPolicy.NONE:
            return Reason(Code.CLUSTER_QUEUE_STOPPED, where=name)
        for group in queue.groups:
            for quotas in group.flavors:
                flavor = self.flavors.get(quotas.flavor)
                if flavor is None:
                    return Reason(Code.FLAVOR_NOT_FOUND, flavor=quotas.flavor, where=name)
                if flavor.topology and flavor.topology not in self.topologies:
                    return Reason(Code.TOPOLOGY_NOT_FOUND, flavor=flavor.name, where=name, detail=flavor.topology)
        for rule in queue.checks:
            check = self.checks.get(rule.name)
            if check is None or not check.active:
                code = Code.CHECK_NOT_FOUND if check is None else Code.CHECK_INACTIVE
                return Reason(code, where=name, detail=rule.name)
        if self.cycle(queue.cohort):
            return Reason(Code.COHORT_CYCLE, where=name, detail=queue.cohort)
        return None

    def cycle(self, cohort: str) -> tuple[str, ...]:
        """The cohorts that are above themselves, of those at or above this one; () where the way up ends. O(depth)."""
        way: dict[str, None] = {}
        while cohort and cohort not in way:
            way[cohort] = None
            known = self.cohorts.get(cohort)
            cohort = known.parent if known is not None else ""
        names = list(way)
        return tuple(names[names.index(cohort) :]) if cohort else ()

    def selects(self, queue: ClusterQueue, namespace: str) -> bool:
        """Does the queue take workloads of the namespace?"""
        if queue.selector is None:
            return False
        known = self.namespaces.get(namespace)
        return all_hold(queue.selector, dict(known.labels) if known else {})


def _nobody(workload: Workload, queue: ClusterQueue) -> Reason | None:
    """Who is kept out of the line of its queue, where that is seen at the head."""
    return None
