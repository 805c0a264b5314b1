"""Holdings: which workload holds which quota, who holds most, and in which order holders may be evicted.

The rule       a workload holds what its admission says, from the decision (or the first sight of it) until it finishes, is
               removed, or its admission is taken away; an eviction alone frees nothing.
               Quota is counted on the ClusterQueue of the admission, also where that isn't there (any more). A resource
               without a flavor is not counted; pods that have ended may give back what they used (admission/requests.py).
Largest first  of one flavor-resource of a queue, and of one resource on the nodes: ordered indexes, kept with the state, so
               that a record can name who holds what is wanted without looking through all that is admitted.
Standing       of one flavor-resource of a queue, and of each LocalQueue in it where these take turns by usage: those that are
               being evicted already, then by priority, the lowest first, then the latest to get its quota (not known: later than
               all), then by uid and key. Kept as well, so that candidates for eviction are read off, not looked for.
Order and ties larger amounts first, then keys; standings are a total order.
Units          base units, milliseconds.
Cost           O(flavor-resources x log n) an admission.
Not here       places on nodes: reservations.py; may it start: admission/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from kumi.engine.admission.quota import FlavorResource, Quotas
from kumi.engine.journal import Journal
from kumi.engine.model import Admission, Amounts, Pod, Workload
from kumi.engine.placement.nodes import ONE_POD, PODS, Requests
from kumi.engine.pods import Pods

K = TypeVar("K")
H = TypeVar("H")
Holder = tuple[int, str, str]
"""(-amount, workload or "", pod uid or "")"""
LATEST = -(2**62)
"""stands for the negative of a time that is not known"""


class Standing(NamedTuple):
    """A holder's place among those who may be evicted."""

    stays: bool
    """False: it is being evicted already"""
    priority: int
    reserved: int
    """the negative of when it got its quota"""
    uid: str
    key: str


class Holdings:
    """Admissions that are held."""

    def __init__(self, journal: Journal, quotas: Quotas, pods: Pods) -> None:
        self._journal, self._quotas, self._pods = journal, quotas, pods
        self.admission: dict[str, Admission] = {}
        self.usage: dict[str, dict[FlavorResource, int]] = {}
        """what each of them counts for"""
        self.standing: dict[str, tuple[Standing, str]] = {}
        """and its LocalQueue, where these take turns by usage, else """ ""
        self.in_order: dict[tuple[str, FlavorResource, str], list[Standing]] = {}
        """(ClusterQueue, flavor-resource, "" or LocalQueue) -> its holders"""
        self.by_priority: dict[tuple[str, FlavorResource], dict[int, int]] = {}
        """(ClusterQueue, flavor-resource) -> priority -> what its holders use of it together"""
        self.doors: dict[tuple[str, FlavorResource], dict[str, None]] = {}
        """LocalQueues that have holders there, where they take turns by usage"""
        self.of_queue: dict[str, dict[str, None]] = {}
        self.by_quota: dict[tuple[str, FlavorResource], list[Holder]] = {}
        self.by_resource: dict[str, dict[int, list[tuple[str, str]]]] = {}
        """of what is held on nodes: workloads that Kumi placed, and pods on their own: resource -> amount -> (workload or "", pod
        uid or "") in order. By amount, as the pods of a shape hold the same: no line is as long as there are pods. Empty until
        somebody asks"""
        self._is_ranked = False
        """did somebody ask who holds most on nodes?"""
        self.placed: dict[str, Amounts] = {}

    def take(self, workload: str, admission: Admission, usage: dict[FlavorResource, int], placed: Amounts) -> None:
        """The workload holds this; it counts for `usage`; `placed` is what of it is on nodes, by resource."""
        self._journal.put(self.admission, workload, admission)
        self._journal.put(self.usage, workload, usage)
        self._member(self.of_queue, admission.cluster_queue, workload)
        for fr, amount in usage.items():
            self._quotas.add(admission.cluster_queue, fr, amount)
            self._rank(self.by_quota, (admission.cluster_queue, fr), (-amount, workload, ""))
        if placed:
            self._journal.put(self.placed, workload, placed)
            self.place("", workload, tuple(placed.items()))

    def drop(self, workload: str) -> Admission:
        """It holds nothing any more; what it held."""
        admission, usage = self.admission[workload], self.usage[workload]
        self.stand(workload, None)
        self._journal.drop_all(workload, self.admission, self.usage)
        self._journal.drop(self.of_queue[admission.cluster_queue], workload)
        if not self.of_queue[admission.cluster_queue]:
            self._journal.drop(self.of_queue, admission.cluster_queue)
        for fr, amount in usage.items():
            self._quotas.add(admission.cluster_queue, fr, -amount)
            self._unrank(self.by_quota, (admission.cluster_queue, fr), (-amount, workload, ""))
        if workload in self.placed:
            self.unplace("", workload, tuple(self.placed[workload].items()))
            self._journal.drop(self.placed, workload)
        return admission

    def stand(self, workload: str, standing: Standing | None, door: str = "") -> None:
        """A holder's place among those who may be evicted, and its LocalQueue where these take turns by usage."""
        now = (standing, door) if standing is not None else None
        before = self.standing.get(workload)
        if now == before:
            return
        queue = self.admission[workload].cluster_queue
        for fr, amount in self.usage[workload].items():
            if before is not None:
                self._line_up(queue, fr, *before, there=False)
                self._sum_up((queue, fr), before[0].priority, -amount)
            if now is not None:
                self._line_up(queue, fr, *now, there=True)
                self._sum_up((queue, fr), now[0].priority, amount)
        if now is None:
            self._journal.drop(self.standing, workload)
        else:
            self._journal.put(self.standing, workload, now)

    def _line_up(self, queue: str, fr: FlavorResource, standing: Standing, door: str, *, there: bool) -> None:
        change = self._rank if there else self._unrank
        change(self.in_order, (queue, fr, ""), standing)
        if not door:
            return
        change(self.in_order, (queue, fr, door), standing)
        if (queue, fr, door) in self.in_order:
            self._member(self.doors, (queue, fr), door)
            return
        self._journal.drop(self.doors[queue, fr], door)
        if not self.doors[queue, fr]:
            self._journal.drop(self.doors, (queue, fr))

    def _sum_up(self, at: tuple[str, FlavorResource], priority: int, amount: int) -> None:
        if at not in self.by_priority:
            self._journal.put(self.by_priority, at, {})
        sums = self.by_priority[at]
        after = sums.get(priority, 0) + amount
        if after:
            self._journal.put(sums, priority, after)
            return
        self._journal.drop(sums, priority)
        if not sums:
            self._journal.drop(self.by_priority, at)

    def place(self, pod: str, workload: str, requests: Requests) -> None:
        """That pod, or that workload, holds so much on nodes."""
        if not self._is_ranked:
            return
        for resource, amount in requests:
            if amount > 0:
                if resource not in self.by_resource:
                    self._journal.put(self.by_resource, resource, {})
                self._rank(self.by_resource[resource], amount, (workload, pod))

    def place_many(self, pods: Iterable[tuple[str, Requests]]) -> None:
        """So many pods hold so much each, at once."""
        if not self._is_ranked:
            return
        more: dict[tuple[str, int], list[tuple[str, str]]] = {}
        for uid, requests in pods:
            for resource, amount in requests:
                if amount > 0:
                    more.setdefault((resource, amount), []).append(("", uid))
        for (resource, amount), holders in more.items():
            if resource not in self.by_resource:
                self._journal.put(self.by_resource, resource, {})
            by_amount = self.by_resource[resource]
            if amount not in by_amount:
                self._journal.put(by_amount, amount, [])
            self._journal.insert_many(by_amount[amount], holders)

    def unplace(self, pod: str, workload: str, requests: Requests) -> None:
        """Not any more."""
        if not self._is_ranked:
            return
        for resource, amount in requests:
            if amount > 0:
                self._unrank(self.by_resource[resource], amount, (workload, pod))
                if not self.by_resource[resource]:
                    self._journal.drop(self.by_resource, resource)

    def largest(self, resource: str) -> Iterator[Holder]:
        """Who holds some of it on nodes: the larger amounts first, then by key, by uid. The first question is O(n log n), and the
        order is kept from then on; where that is inside a trial that is taken back, from the next one on."""
        self._rank_all()
        by_amount = self.by_resource.get(resource, {})
        for amount in sorted(by_amount, reverse=True):
            for workload, pod in by_amount[amount]:
                yield -amount, workload, pod

    def _rank_all(self) -> None:
        if self._is_ranked:
            return
        self._journal.swap(self, "_is_ranked", True)
        self._journal.swap(self, "by_resource", {})
        for workload, placed in self.placed.items():
            self.place("", workload, tuple(placed.items()))
        pods = [self._pods.by_uid[uid] for uid in self._pods.node_of]
        self.place_many((pod.uid, on_node(pod)) for pod in pods if not pod.workload)

    def _member(self, table: dict[K, dict[str, None]], key: K, member: str) -> None:
        if key not in table:
            self._journal.put(table, key, {})
        if member not in table[key]:
            self._journal.put(table[key], member, None)

    def _rank(self, table: dict[K, list[H]], key: K, holder: H) -> None:
        if key not in table:
            self._journal.put(table, key, [])
        self._journal.insert(table[key], holder)

    def _unrank(self, table: dict[K, list[H]], key: K, holder: H) -> None:
        self._journal.discard(table[key], holder)
        if not table[key]:
            self._journal.drop(table, key)


def on_node(pod: Pod) -> Requests:
    """What the pod holds there: itself, and what it asks for."""
    return ((PODS, ONE_POD), *pod.shape.requests)


def standing_of(workload: Workload, *, stays: bool) -> Standing:
    """Its place among those who may be evicted; `stays` False: it is being evicted already."""
    reserved = -workload.reserved_ms if workload.reserved_ms else LATEST
    return Standing(stays, workload.priority, reserved, workload.uid, workload.key)


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
