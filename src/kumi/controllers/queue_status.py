"""The status of ClusterQueues and LocalQueues: counts, usage by flavor, whether they admit, what is not yet in force.

The rule   pendingWorkloads, reservingWorkloads, admittedWorkloads     see queue_usage
           flavorsReservation, flavorsUsage    every flavor and resource of the spec in its order, zeros too; a ClusterQueue
                         also says how much of it is borrowed (beyond nominal)
           Active        ClusterQueue: Ready, or Terminating, Stopped, FlavorNotFound
                         LocalQueue: Ready, or Stopped, ClusterQueueDoesNotExist, ClusterQueueIsInactive
           NotYetInForce True with the paths of fields whose rule comes later; no such condition where there are none
Pace       A queue's status is written when it differs, and no more often than every PACE_MS.
Why        A decider, not a loop by key: a Workload says which LocalQueue it is in, not which ClusterQueue, and to count
           afresh at each change would cost the whole queue each time.
Cost       O(1) a Workload's change, O(flavors x resources + local queues) a queue's status.
Source     Kueue: ClusterQueue status, LocalQueue status.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kumi.api import kueue
from kumi.api.errors import KumiError
from kumi.api.meta import Object
from kumi.api.quantity import format_amount, parse_amount
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.controllers import not_yet_in_force
from kumi.controllers.queue_usage import Part, Usage, part_of
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
"""the fields of a status that are written here"""

Queue: TypeAlias = kueue.ClusterQueue | kueue.LocalQueue
QueueKey: TypeAlias = tuple[str, str]
"""("ClusterQueue", name) or ("LocalQueue", namespace/name)"""


class QueueStatus:
    """See the module and kumi.runtime.decider.Decider."""

    name = "kumi-queue-status"

    def __init__(self) -> None:
        self._queues: dict[QueueKey, Queue] = {}
        self._flavors: dict[str, None] = {}
        self._parts: dict[str, Part] = {}
        self._usage: dict[QueueKey, Usage] = {}
        self._doors: dict[str, dict[str, None]] = {}
        self._dirty: dict[QueueKey, None] = {}
        self._written_ms: dict[QueueKey, int] = {}

    @property
    def watches(self) -> tuple[type[Object], ...]:
        """See Decider."""
        return (kueue.ResourceFlavor, kueue.ClusterQueue, kueue.LocalQueue, kueue.Workload)

    def apply(self, type_: type[Object], key: str, old: Object | None, new: Object | None) -> None:
        """See Decider."""
        if type_ is kueue.Workload:
            self._count(key, new)
        elif type_ is kueue.ResourceFlavor:
            self._flavor(key, new)
        elif type_ is kueue.LocalQueue:
            self._door(key, old, new)
        elif type_ is kueue.ClusterQueue:
            self._keep(("ClusterQueue", key), new)
            for door in self._doors.get(key, ()):
                self._dirty["LocalQueue", door] = None

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
                self._dirty["ClusterQueue", part.cluster_queue] = None

    def _flavor(self, name: str, new: Object | None) -> None:
        known = name in self._flavors
        if (new is not None) == known:
            return
        if new is not None:
            self._flavors[name] = None
        else:
            del self._flavors[name]
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
        if isinstance(new, kueue.ClusterQueue | kueue.LocalQueue):
            self._queues[key] = new
            self._dirty[key] = None
        else:
            for kept in (self._queues, self._dirty, self._written_ms):
                kept.pop(key, None)

    def _changed(self, key: QueueKey, queue: Queue, now_ms: int) -> JsonObject | None:
        """The status as it should be, None where it is so."""
        usage = self._usage.get(key, Usage())
        if isinstance(queue, kueue.ClusterQueue):
            pending = sum(self._usage.get(("LocalQueue", d), Usage()).pending for d in self._doors.get(key[1], ()))
            spec, wanted, paths = queue, [self._active(queue)], not_yet_in_force.of_cluster_queue(queue)
        else:
            pending = usage.pending
            found = self._queues.get(("ClusterQueue", queue.spec.cluster_queue))
            spec = found if isinstance(found, kueue.ClusterQueue) else kueue.ClusterQueue()
            wanted, paths = [self._open(queue)], not_yet_in_force.of_local_queue(queue)
        conditions = [c for c in queue.status.conditions if c.type != "NotYetInForce" or paths]
        if paths:
            message = f"Stored, but their rules are not in force in this version: {', '.join(paths)}"
            wanted.append(Wanted("NotYetInForce", "True", "RuleComesLater", message))
        borrows = isinstance(queue, kueue.ClusterQueue)
        status: JsonObject = {
            "pendingWorkloads": pending,
            "reservingWorkloads": usage.reserving,
            "admittedWorkloads": usage.admitted,
            "flavorsReservation": _flavors(spec, usage.reserved, borrows=borrows),
            "flavorsUsage": _flavors(spec, usage.used, borrows=borrows),
            "conditions": to_json(set_all(conditions, wanted, now_ms)),
        }
        made = msgspec.convert(status, type(queue.status))
        said = msgspec.structs.replace(queue.status, **{name: getattr(made, name) for name in WRITTEN})
        return None if said == queue.status else status

    def _active(self, queue: kueue.ClusterQueue) -> Wanted:
        missing = sorted({f.name for g in queue.spec.resource_groups for f in g.flavors if f.name not in self._flavors})
        if queue.metadata.deletion_timestamp is not None:
            return Wanted("Active", "False", "Terminating", "It is being deleted and admits nothing new.")
        if queue.spec.stop_policy not in ("", "None"):
            return Wanted("Active", "False", "Stopped", f"It is stopped: its stopPolicy is {queue.spec.stop_policy}.")
        if missing:
            return Wanted(
                "Active",
                "False",
                "FlavorNotFound",
                f"It names ResourceFlavors that do not exist: {', '.join(missing)}.",
            )
        return Wanted("Active", "True", "Ready", "It admits workloads.")

    def _open(self, queue: kueue.LocalQueue) -> Wanted:
        name = queue.spec.cluster_queue
        found = self._queues.get(("ClusterQueue", name))
        if queue.spec.stop_policy not in ("", "None"):
            return Wanted("Active", "False", "Stopped", f"It is stopped: its stopPolicy is {queue.spec.stop_policy}.")
        if not isinstance(found, kueue.ClusterQueue):
            return Wanted("Active", "False", "ClusterQueueDoesNotExist", f"ClusterQueue {name} does not exist.")
        active = self._active(found)
        if active.status == "False":
            return Wanted(
                "Active", "False", "ClusterQueueIsInactive", f"ClusterQueue {name} admits nothing: {active.reason}."
            )
        return Wanted("Active", "True", "Ready", f"It submits to ClusterQueue {name}.")


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
