"""The status of ClusterQueues, LocalQueues and Cohorts: counts, usage by flavor, shares, whether they admit.

The rule   pendingWorkloads, reservingWorkloads, admittedWorkloads     see queue_usage
           flavorsReservation, flavorsUsage    every flavor and resource of the spec in its order, zeros too; a ClusterQueue
                         also says how much of it is borrowed (beyond nominal)
           fairSharing.weightedShare    of ClusterQueues and Cohorts that are in a cohort and have a weight, or where shares
                         decide (settings): the dominant share as the engine knows it, rounded up
           Active        see queue_conditions
           NotYetInForce True with the paths of fields whose rule comes later; no such condition where there are none
Pace       A status is written when it differs, and no more often than every PACE_MS.
Why        A decider, not a loop by key: a Workload says which LocalQueue it is in, not which ClusterQueue, and to count
           afresh at each change would cost the whole queue each time. It keeps a state of the engine, without workloads:
           queues, cohorts and what is used of them, so that nothing here is another rule than the engine's.
Cost       O(depth) a Workload's change, O(flavors x resources + local queues) a queue's status.
Source     Kueue: ClusterQueue status, LocalQueue status, Cohort status.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from kumi.api import kueue
from kumi.api.errors import KumiError
from kumi.api.measures import Family
from kumi.api.meta import Object
from kumi.api.quantity import format_amount, parse_amount
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.bridge.into import Deltas, removal
from kumi.controllers import not_yet_in_force, queue_conditions, queue_measures
from kumi.controllers.queue_usage import Part, Usage, part_of
from kumi.controllers.workload_counts import WorkloadCounts
from kumi.engine.admission import fair_sharing
from kumi.engine.admission.quota import COHORT, cohort_node
from kumi.engine.model import Profile
from kumi.engine.state import State
from kumi.runtime.decider import Batch, Step

PACE_MS = 500
WRITTEN = (
    "pending_workloads",
    "reserving_workloads",
    "admitted_workloads",
    "flavors_reservation",
    "flavors_usage",
    "conditions",
)
"""the fields of a queue's status that are written here, besides its share"""

Queue: TypeAlias = kueue.ClusterQueue | kueue.LocalQueue | kueue.Cohort
QueueKey: TypeAlias = tuple[str, str]
"""("ClusterQueue", name), ("Cohort", name) or ("LocalQueue", namespace/name)"""
SET_UP = (kueue.ResourceFlavor, kueue.AdmissionCheck, kueue.Cohort, kueue.ClusterQueue)


class QueueStatus:
    """See the module and kumi.runtime.decider.Decider."""

    name = "kumi-queue-status"

    def __init__(self, profile: Profile | None = None) -> None:
        settings = (profile or Profile()).settings
        self._shares = settings.fair is not None
        self._state = State(Profile(places=False, settings=settings))
        self._deltas = Deltas()
        self._queues: dict[QueueKey, Queue] = {}
        self._parts: dict[str, Part] = {}
        self._usage: dict[QueueKey, Usage] = {}
        self._doors: dict[str, dict[str, None]] = {}
        self._dirty: dict[QueueKey, None] = {}
        self._written_ms: dict[QueueKey, int] = {}
        self._counts = WorkloadCounts()

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return (*SET_UP, kueue.LocalQueue, kueue.Workload)

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if type_ is kueue.Workload:
            self._counts.observe(*(w if isinstance(w, kueue.Workload) else None for w in (old, new)))
            self._count(key, new)
        elif type_ is kueue.LocalQueue:
            self._door(key, old, new)
        else:
            self._set_up(key, old, new)

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        yield from self._counts.measures()
        yield from queue_measures.families(self._samples())

    def _samples(self) -> Iterator[queue_measures.Named]:
        for key in sorted(self._queues):
            queue, usage = self._queues[key], self._usage.get(key, Usage())
            if isinstance(queue, kueue.ClusterQueue):
                yield from queue_measures.of_cluster_queue(queue, usage)
            elif isinstance(queue, kueue.LocalQueue):
                yield from queue_measures.of_local_queue(queue, usage)
            else:
                yield from queue_measures.of_cohort(queue)

    def decide(self, now_ms: int) -> Batch:
        """See Decider."""
        steps, wake_at_ms = [], None
        for key in sorted(self._dirty):
            due_ms = self._written_ms.get(key, now_ms - PACE_MS) + PACE_MS
            if due_ms > now_ms:
                wake_at_ms = min(due_ms, wake_at_ms or due_ms)
                continue
            del self._dirty[key]
            queue = self._queues.get(key)
            status = self._changed(key, queue, now_ms) if queue is not None else None
            if queue is not None and status is not None:
                self._written_ms[key] = now_ms
                steps.append(Step(" ".join(key), (status_patch(SCHEME.of(type(queue)), queue, status),)))
        return Batch(tuple(steps), wake_at_ms)

    def settle(self, token: str, ok: bool, error: str) -> None:
        """See Decider."""
        kind, _, name = token.partition(" ")
        if not ok and (kind, name) in self._queues:
            self._dirty[kind, name] = None

    def _count(self, key: str, new: Object | None) -> None:
        before, after = self._parts.pop(key, None), part_of(new) if isinstance(new, kueue.Workload) else None
        if after is not None:
            self._parts[key] = after
        if before == after:
            return
        for part, sign in ((before, -1), (after, 1)):
            if part is None:
                continue
            door = self._queues.get(("LocalQueue", part.queue))
            self._usage.setdefault(("LocalQueue", part.queue), Usage()).add(part, sign)
            self._dirty["LocalQueue", part.queue] = None
            if isinstance(door, kueue.LocalQueue):
                self._dirty["ClusterQueue", door.spec.cluster_queue] = None
            if part.cluster_queue:
                self._usage.setdefault(("ClusterQueue", part.cluster_queue), Usage()).add(part, sign)
                self._use(part, sign)

    def _use(self, part: Part, sign: int) -> None:
        """What the queue and the cohorts above it are used by."""
        quotas, name = self._state.quotas, part.cluster_queue
        for fr, amount in part.held:
            quotas.add(name, fr, sign * amount)
        self._dirty["ClusterQueue", name] = None
        for above in quotas.path(name):
            self._dirty["Cohort", above.removeprefix(COHORT)] = None

    def _set_up(self, key: str, old: Object | None, new: Object | None) -> None:
        """A flavor, a check, a cohort or a queue: one that can't be read is not there, and what it is about may be another."""
        try:
            delta = self._deltas.put(new) if new is not None else None
        except KumiError:
            delta = None
        gone = old if old is not None else new
        if delta is not None:
            self._state.apply(delta)
        elif gone is not None:
            self._state.apply(removal(gone))
        if isinstance(gone, kueue.ClusterQueue | kueue.Cohort):
            self._keep((type(gone).__name__, key), new)
        self._dirty.update(dict.fromkeys(self._queues))

    def _door(self, key: str, old: Object | None, new: Object | None) -> None:
        for queue in (old, new):
            if isinstance(queue, kueue.LocalQueue):
                self._doors.setdefault(queue.spec.cluster_queue, {}).pop(key, None)
                self._dirty["ClusterQueue", queue.spec.cluster_queue] = None
        if isinstance(new, kueue.LocalQueue):
            self._doors[new.spec.cluster_queue][key] = None
        self._keep(("LocalQueue", key), new)

    def _keep(self, key: QueueKey, new: Object | None) -> None:
        if isinstance(new, kueue.ClusterQueue | kueue.LocalQueue | kueue.Cohort):
            self._queues[key] = new
            self._dirty[key] = None
        else:
            for kept in (self._queues, self._dirty, self._written_ms):
                kept.pop(key, None)

    def _changed(self, key: QueueKey, queue: Queue, now_ms: int) -> JsonObject | None:
        """The status as it should be, None where it is so."""
        if isinstance(queue, kueue.Cohort):
            share = self._share(queue, cohort_node(key[1]))
            return None if _says(queue, share) else {"fairSharing": share}
        status = self._counted(key, queue, now_ms)
        if isinstance(queue, kueue.ClusterQueue):
            share = self._share(queue, key[1])
            if not _says(queue, share):
                return {**status, "fairSharing": share}
        made = msgspec.convert(status, type(queue.status))
        said = msgspec.structs.replace(queue.status, **{name: getattr(made, name) for name in WRITTEN})
        return None if said == queue.status else status

    def _counted(self, key: QueueKey, queue: kueue.ClusterQueue | kueue.LocalQueue, now_ms: int) -> JsonObject:
        usage, catalog = self._usage.get(key, Usage()), self._state.catalog
        paths: list[str] = []
        if isinstance(queue, kueue.ClusterQueue):
            pending = sum(self._usage.get(("LocalQueue", d), Usage()).pending for d in self._doors.get(key[1], ()))
            spec, wanted = queue, [queue_conditions.of_cluster_queue(queue, catalog)]
            paths = not_yet_in_force.of_cluster_queue(queue)
        else:
            pending = usage.pending
            found = self._queues.get(("ClusterQueue", queue.spec.cluster_queue))
            there = found if isinstance(found, kueue.ClusterQueue) else None
            spec, wanted = (
                there or kueue.ClusterQueue(),
                [queue_conditions.of_local_queue(queue, there, catalog)],
            )
        conditions = [c for c in queue.status.conditions if c.type != "NotYetInForce" or paths]
        if paths:
            message = f"Stored, but their rules are not in force in this version: {', '.join(paths)}"
            wanted.append(Wanted("NotYetInForce", "True", "RuleComesLater", message))
        borrows = isinstance(queue, kueue.ClusterQueue)
        return {
            "pendingWorkloads": pending,
            "reservingWorkloads": usage.reserving,
            "admittedWorkloads": usage.admitted,
            "flavorsReservation": _flavors(spec, usage.reserved, borrows=borrows),
            "flavorsUsage": _flavors(spec, usage.used, borrows=borrows),
            "conditions": to_json(set_all(conditions, wanted, now_ms)),
        }

    def _share(self, queue: kueue.ClusterQueue | kueue.Cohort, node: str) -> JsonObject | None:
        """status.fairSharing."""
        weighed = self._shares or queue.spec.fair_sharing is not None
        if not weighed or not self._state.quotas.parent.get(node):
            return None
        return {"weightedShare": fair_sharing.share(self._state, node).rounded}


def _says(queue: kueue.ClusterQueue | kueue.Cohort, share: JsonObject | None) -> bool:
    said = queue.status.fair_sharing
    return (said.weighted_share if said is not None else None) == (share["weightedShare"] if share else None)


def _flavors(queue: kueue.ClusterQueue, amounts: dict[tuple[str, str], int], *, borrows: bool) -> list[JsonObject]:
    made: list[JsonObject] = []
    for group in queue.spec.resource_groups:
        for flavor in group.flavors:
            resources = []
            for quota in flavor.resources:
                total = amounts.get((flavor.name, quota.name), 0)
                row = {"name": quota.name, "total": format_amount(quota.name, total)}
                if borrows:
                    row["borrowed"] = format_amount(quota.name, max(0, total - _nominal(quota)))
                resources.append(row)
            made.append({"name": flavor.name, "resources": resources})
    return made


def _nominal(quota: kueue.ResourceQuota) -> int:
    try:
        return parse_amount(quota.name, quota.nominal_quota)
    except KumiError:
        return 0
