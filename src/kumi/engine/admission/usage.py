"""Usage: what the workloads of a LocalQueue have used lately, by which LocalQueues of one ClusterQueue take turns.

The rule, for a LocalQueue, over resources r:
    value      = sum of weight(r) * (consumed(r) + pending penalties(r)) / weight of the LocalQueue; without end where that
                 weight is 0 or less; 1 where the LocalQueue isn't there
    a(t)       = 1 - 0.5 ^ (t / half-life); 0 where the half-life is 0, and nothing is kept of what was consumed
    sampled    consumed = consumed * (1 - a(dt)) + running * a(dt), dt since the last time, cut to a thousand-millionth; every
               `sampling_ms`, and at once where a penalty is pending
    penalty    a(sampling_ms) * what a workload uses, from the decision to admit it on. It joins what was consumed when the
               workload is admitted, and is forgotten where that comes to nothing.
Why            whoever used much lately goes behind those who used little; with the penalty a LocalQueue that is served can't be
               served again and again before its usage is sampled.
Exact          in between, usage that stays the same may be sampled once or often: the result is the same, rounding aside.
Units          whole units of a resource (cores, bytes, devices); milliseconds; values are floats, for order only.
Order and ties sums go by name: the same input gives the same float.
Cost           O(resources) a value with no penalty pending; O(LocalQueues that used something lately) a sampling.
Source         Kueue: admission fair sharing (KEP-4136).
Not here       whose turn it is: ../queues.py; who is evicted first: candidates.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from kumi.api.quantity import unit_of
from kumi.engine.admission.quota import FlavorResource
from kumi.engine.journal import Journal
from kumi.engine.model import LocalQueue
from kumi.engine.settings import UsageSharing

Units: TypeAlias = dict[str, float]
"""resource -> whole units"""
GRAIN = 10**9


class PastUsage:
    """The past usage of all LocalQueues; by their keys. `settings` None: nothing is kept, every value is 0."""

    def __init__(self, journal: Journal, settings: UsageSharing | None) -> None:
        self._journal, self.settings = journal, settings
        self._weights = dict(settings.weights) if settings is not None else {}
        self.weight: dict[str, float] = {}
        self.consumed: dict[str, Units] = {}
        self.sampled_ms: dict[str, int] = {}
        self.running: dict[str, dict[str, Units]] = {}
        """LocalQueue -> admitted workload -> what it uses"""
        self.penalties: dict[str, dict[str, Units]] = {}
        """LocalQueue -> workload -> its penalty"""
        self.now_ms = 0
        """when last was looked whose time it is"""
        self.door_of: dict[str, str] = {}
        """workload that runs or has a penalty -> its LocalQueue"""

    def value(self, door: str) -> float:
        """See the module."""
        weight = self.weight.get(door, 1.0)
        if weight <= 0:
            return math.inf
        used = dict(self.consumed.get(door, {}))
        for penalty in _in_order(self.penalties.get(door, {})):
            for resource, amount in penalty.items():
                used[resource] = used.get(resource, 0.0) + amount
        return sum(self._weights.get(resource, 1.0) * used[resource] for resource in sorted(used)) / weight

    def meet(self, queue: LocalQueue) -> None:
        """There is such a LocalQueue, or it changed. What it says was consumed counts where it is later than what is known."""
        self._journal.put(self.weight, queue.key, queue.weight)
        if self.settings is not None and queue.consumed_ms > self.sampled_ms.get(queue.key, -1):
            self._journal.put(self.consumed, queue.key, dict(queue.consumed))
            self._journal.put(self.sampled_ms, queue.key, queue.consumed_ms)

    def part(self, door: str) -> None:
        """The LocalQueue is gone, and what was consumed with it."""
        self._journal.drop_all(door, self.weight, self.consumed, self.sampled_ms)

    def hold(self, workload: str, door: str, usage: Mapping[FlavorResource, int], *, admitted: bool) -> None:
        """The workload holds so much by that LocalQueue; `admitted`: it may start."""
        if self.settings is None:
            return
        if self.door_of.get(workload, door) != door:
            self.forget(workload)
        uses = _units(usage)
        if admitted:
            penalty = self._drop(self.penalties, workload)
            if penalty is not None:
                consumed = dict(self.consumed.get(door, {}))
                for resource, amount in penalty.items():
                    consumed[resource] = consumed.get(resource, 0.0) + amount
                self._journal.put(self.consumed, door, consumed)
            self._put(self.running, door, workload, uses)
        elif workload not in self.running.get(door, ()):
            share = self.decay(self.settings.sampling_ms)
            self._put(self.penalties, door, workload, {resource: amount * share for resource, amount in uses.items()})

    def forget(self, workload: str) -> None:
        """It holds nothing any more; a penalty that is pending comes to nothing."""
        self._drop(self.penalties, workload)
        self._drop(self.running, workload)
        self._journal.drop(self.door_of, workload)

    def sample(self, now_ms: int) -> None:
        """What was consumed as of now, of the LocalQueues whose time it is."""
        if self.settings is None:
            return
        self._journal.swap(self, "now_ms", max(now_ms, self.now_ms))
        for door in sorted({**self.consumed, **self.running, **self.penalties}):
            span_ms = self.now_ms - self.sampled_ms.get(door, self.now_ms)
            if door not in self.sampled_ms or door in self.penalties or span_ms >= self.settings.sampling_ms:
                self._sample(door, span_ms)
                self._journal.put(self.sampled_ms, door, self.now_ms)

    def decay(self, span_ms: int) -> float:
        """a(t): the part that the last `span_ms` have in what was consumed."""
        if self.settings is None or self.settings.half_life_ms <= 0:
            return 0.0
        return float(1.0 - 0.5 ** (span_ms / self.settings.half_life_ms))

    def _sample(self, door: str, span_ms: int) -> None:
        share = self.decay(span_ms)
        kept = 0.0 if self.settings is None or self.settings.half_life_ms <= 0 else 1.0 - share
        used = {resource: amount * kept for resource, amount in self.consumed.get(door, {}).items()}
        for uses in _in_order(self.running.get(door, {})):
            for resource, amount in uses.items():
                used[resource] = used.get(resource, 0.0) + amount * share
        cut = {resource: math.floor(amount * GRAIN) / GRAIN for resource, amount in used.items()}
        left = {resource: amount for resource, amount in cut.items() if amount}
        if left:
            self._journal.put(self.consumed, door, left)
        else:
            self._journal.drop(self.consumed, door)

    def _put(self, tables: dict[str, dict[str, Units]], door: str, workload: str, units: Units) -> None:
        if all(door not in table for table in (self.consumed, self.running, self.penalties)):
            since = max(self.now_ms, self.sampled_ms.get(door, 0))  # nothing was used until now
            self._journal.put(self.sampled_ms, door, since)
        if door not in tables:
            self._journal.put(tables, door, {})
        if tables[door].get(workload) != units:
            self._journal.put(tables[door], workload, units)
        self._journal.put(self.door_of, workload, door)

    def _drop(self, tables: dict[str, dict[str, Units]], workload: str) -> Units | None:
        door = self.door_of.get(workload, "")
        units = tables.get(door, {}).get(workload)
        if units is not None:
            self._journal.drop(tables[door], workload)
            if not tables[door]:
                self._journal.drop(tables, door)
        return units


def _units(usage: Mapping[FlavorResource, int]) -> Units:
    """Whole units by resource, of all flavors."""
    amounts: dict[str, int] = {}
    for (_, resource), amount in usage.items():
        amounts[resource] = amounts.get(resource, 0) + amount
    return {resource: amounts[resource] / unit_of(resource) for resource in sorted(amounts)}


def _in_order(table: Mapping[str, Units]) -> list[Units]:
    return [table[workload] for workload in sorted(table)]
