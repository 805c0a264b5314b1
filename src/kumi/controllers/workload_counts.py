"""What has happened to workloads since the start, under the names that Kueue's users have on their boards.

The rule   a condition that turns True counts once, when a change shows it; what was so when the loops started doesn't count
             QuotaReserved   kueue_quota_reserved_workloads_total, kueue_quota_reserved_wait_time_seconds
             Admitted        kueue_admitted_workloads_total, kueue_admission_wait_time_seconds;
                             kueue_admission_checks_wait_time_seconds where there are checks
             Evicted         kueue_evicted_workloads_total; kueue_evicted_workloads_once_total for its first by that reason
             Finished        kueue_finished_workloads_total
           and the same of LocalQueues, as kueue_local_queue_...
Wait       from creation, or from when it was put back in its queue, as the conditions' times say: whole seconds.
Cost       O(conditions) a change that turns one, O(1) else.
Source     Kueue: Prometheus metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kumi.api import kueue
from kumi.api.measures import Family, Histogram, Sample
from kumi.api.meta import Condition, find_condition, parse_time

WAITS = (1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240)
"""bounds in seconds"""
QUEUE, DOOR = ("cluster_queue", "priority_class"), ("name", "namespace", "priority_class")
EVICTED = ("cluster_queue", "reason", "underlying_cause", "priority_class")
TURNS = ("QuotaReserved", "Admitted", "Evicted", "Finished")

Labels = tuple[str, ...]


class WorkloadCounts:
    """See the module."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[Labels]] = {}
        self._waits: dict[str, dict[Labels, Histogram]] = {}

    def observe(self, old: kueue.Workload | None, new: kueue.Workload | None) -> None:
        """A Workload changed from `old` to `new`."""
        if old is None or new is None or old.status.conditions == new.status.conditions:
            return
        for type_ in TURNS:
            found, before = (find_condition(w.status.conditions, type_) for w in (new, old))
            if found is not None and found.status == "True" and (before is None or before.status != "True"):
                self._turned(type_, found, old, new)

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured."""
        for name, help, labels in COUNTERS:
            samples = tuple(Sample(key, n) for key, n in sorted(self._counts.get(name, {}).items()))
            yield Family(name, help, "counter", labels, samples)
        for name, help, labels in HISTOGRAMS:
            found = tuple(Sample(key, h) for key, h in sorted(self._waits.get(name, {}).items()))
            yield Family(name, help, "histogram", labels, found)

    def _turned(self, type_: str, found: Condition, old: kueue.Workload, new: kueue.Workload) -> None:
        held = new.status.admission or old.status.admission
        queue = held.cluster_queue if held is not None else ""
        ref = new.spec.priority_class_ref
        name = ref.name if ref is not None else ""
        door = (new.spec.queue_name, new.metadata.namespace)
        if type_ == "QuotaReserved":
            self._both("quota_reserved_workloads_total", queue, door, name)
            self._wait("quota_reserved_wait_time_seconds", (queue, door, name), _queued_ms(new), found)
        elif type_ == "Admitted":
            self._both("admitted_workloads_total", queue, door, name)
            self._wait("admission_wait_time_seconds", (queue, door, name), _queued_ms(new), found)
            if new.status.admission_checks:
                since = _since_ms(find_condition(new.status.conditions, "QuotaReserved"))
                self._wait("admission_checks_wait_time_seconds", (queue, door, name), since, found)
        elif type_ == "Finished":
            self._both("finished_workloads_total", queue, door, name)
        else:
            self._evicted(new, queue, door, name)

    def _evicted(self, new: kueue.Workload, queue: str, door: Labels, name: str) -> None:
        found = find_condition(new.status.conditions, "Evicted")
        reason, _, cause = (found.reason if found is not None else "").partition("DueTo")
        rows = [r for r in (new.status.scheduling_stats or {}).get("evictions") or () if r.get("reason") == reason]
        if not cause and len(rows) == 1:
            cause = str(rows[0].get("underlyingCause") or "")
        self._add("kueue_evicted_workloads_total", (queue, reason, cause, name))
        self._add("kueue_local_queue_evicted_workloads_total", (*door, reason, cause, name))
        if sum(int(r.get("count") or 0) for r in rows) == 1:
            self._add("kueue_evicted_workloads_once_total", (queue, reason, cause, name))

    def _both(self, name: str, queue: str, door: Labels, priority: str) -> None:
        self._add(f"kueue_{name}", (queue, priority))
        self._add(f"kueue_local_queue_{name}", (*door, priority))

    def _add(self, name: str, labels: Labels) -> None:
        self._counts.setdefault(name, Counter())[labels] += 1

    def _wait(self, name: str, of: tuple[str, Labels, str], since_ms: int, found: Condition) -> None:
        queue, door, priority = of
        seconds = max(0, _since_ms(found) - since_ms) / 1000
        for full, labels in ((f"kueue_{name}", (queue, priority)), (f"kueue_local_queue_{name}", (*door, priority))):
            self._waits.setdefault(full, {}).setdefault(labels, Histogram(WAITS)).observe(seconds)


def _queued_ms(workload: kueue.Workload) -> int:
    """Since when it waited."""
    created = parse_time(workload.metadata.creation_timestamp) or 0
    requeued = find_condition(workload.status.conditions, "Requeued")
    return max(created, _since_ms(requeued) if requeued is not None and requeued.status == "True" else 0)


def _since_ms(condition: Condition | None) -> int:
    return (parse_time(condition.last_transition_time) if condition is not None else None) or 0


def _two(name: str, help: str) -> tuple[tuple[str, str, Labels], ...]:
    """Of a ClusterQueue, and of a LocalQueue."""
    return (f"kueue_{name}", f"{help}, by ClusterQueue.", QUEUE), (
        f"kueue_local_queue_{name}",
        f"{help}, by LocalQueue.",
        DOOR,
    )


COUNTERS: tuple[tuple[str, str, Labels], ...] = (
    *_two("quota_reserved_workloads_total", "Workloads that got quota"),
    *_two("admitted_workloads_total", "Workloads that were admitted"),
    *_two("finished_workloads_total", "Workloads that have finished"),
    ("kueue_evicted_workloads_total", "Evictions, by reason and cause.", EVICTED),
    ("kueue_evicted_workloads_once_total", "Workloads that were evicted, each reason once.", EVICTED),
    ("kueue_local_queue_evicted_workloads_total", "Evictions, by LocalQueue.", (*DOOR[:2], *EVICTED[1:])),
)
HISTOGRAMS: tuple[tuple[str, str, Labels], ...] = (
    *_two("quota_reserved_wait_time_seconds", "Time in the queue until quota was reserved"),
    *_two("admission_wait_time_seconds", "Time in the queue until admission"),
    *_two("admission_checks_wait_time_seconds", "Time from quota to admission, where there are checks"),
)
