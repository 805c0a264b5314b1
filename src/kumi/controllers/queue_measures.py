"""What queues hold and whether they admit, under the names that Kueue's users have on their boards.

    of_cluster_queue, of_local_queue, of_cohort     samples of one queue, by the family's name
    families(samples)                               all of them as families

Source     Kueue: Prometheus metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from kumi.api import kueue
from kumi.api.errors import KumiError
from kumi.api.measures import Family, Sample
from kumi.api.meta import find_condition
from kumi.api.quantity import Written, nano, unit_of
from kumi.controllers.queue_usage import Usage

NANO = 10**9
_QUEUE, _DOOR = ("cluster_queue",), ("name", "namespace")
_AMOUNT = ("cohort", "cluster_queue", "flavor", "resource")
_OF_DOOR = (*_DOOR, "flavor", "resource")
GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "kueue_reserving_active_workloads": ("Workloads that hold quota.", _QUEUE),
    "kueue_admitted_active_workloads": ("Workloads that are admitted and have not finished.", _QUEUE),
    "kueue_cluster_queue_status": ("1 for the state that the queue is in.", (*_QUEUE, "status")),
    "kueue_cluster_queue_resource_reservation": ("What is reserved.", _AMOUNT),
    "kueue_cluster_queue_resource_usage": ("What admitted workloads use.", _AMOUNT),
    "kueue_cluster_queue_nominal_quota": ("What the queue may always use.", _AMOUNT),
    "kueue_cluster_queue_borrowing_limit": ("The most that it may borrow.", _AMOUNT),
    "kueue_cluster_queue_lending_limit": ("The most that it lends.", _AMOUNT),
    "kueue_cluster_queue_weighted_share": ("Its share of its cohort, in thousandths.", (*_QUEUE, "cohort")),
    "kueue_cohort_weighted_share": ("Its share of the cohort above, in thousandths.", ("cohort",)),
    "kueue_local_queue_reserving_active_workloads": ("Workloads that hold quota.", _DOOR),
    "kueue_local_queue_admitted_active_workloads": ("Workloads that are admitted and have not finished.", _DOOR),
    "kueue_local_queue_status": ("1 for the state that the queue is in.", (*_DOOR, "active")),
    "kueue_local_queue_resource_reservation": ("What is reserved.", _OF_DOOR),
    "kueue_local_queue_resource_usage": ("What admitted workloads use.", _OF_DOOR),
}
"""name -> what it means, its labels"""
STATES = ("pending", "active", "terminating")

Named: TypeAlias = tuple[str, Sample]


def families(samples: Iterable[Named]) -> Iterator[Family]:
    """In the order of GAUGES, those without samples too."""
    found: dict[str, list[Sample]] = {name: [] for name in GAUGES}
    for name, sample in samples:
        found[name].append(sample)
    for name, (help, labels) in GAUGES.items():
        yield Family(name, help, "gauge", labels, tuple(found[name]))


def of_cluster_queue(queue: kueue.ClusterQueue, usage: Usage) -> Iterator[Named]:
    """Counts, state, amounts by flavor and resource in whole units."""
    name, cohort = queue.metadata.name, queue.spec.cohort_name
    yield "kueue_reserving_active_workloads", Sample((name,), usage.reserving)
    yield "kueue_admitted_active_workloads", Sample((name,), usage.admitted)
    state = _state(queue)
    for known in STATES:
        yield "kueue_cluster_queue_status", Sample((name, known), float(known == state))
    for group in queue.spec.resource_groups:
        for flavor in group.flavors:
            for quota in flavor.resources:
                labels, fr = (cohort, name, flavor.name, quota.name), (flavor.name, quota.name)
                unit = unit_of(quota.name)
                yield "kueue_cluster_queue_resource_reservation", Sample(labels, usage.reserved[fr] / unit)
                yield "kueue_cluster_queue_resource_usage", Sample(labels, usage.used[fr] / unit)
                for limit, written in (
                    ("nominal_quota", quota.nominal_quota),
                    ("borrowing_limit", quota.borrowing_limit),
                    ("lending_limit", quota.lending_limit),
                ):
                    amount = _units(written)
                    if amount is not None:
                        yield f"kueue_cluster_queue_{limit}", Sample(labels, amount)
    if queue.status.fair_sharing is not None:
        share = queue.status.fair_sharing.weighted_share
        yield "kueue_cluster_queue_weighted_share", Sample((name, cohort), share)


def of_local_queue(queue: kueue.LocalQueue, usage: Usage) -> Iterator[Named]:
    """Counts, state, amounts by flavor and resource in whole units."""
    door = (queue.metadata.name, queue.metadata.namespace)
    yield "kueue_local_queue_reserving_active_workloads", Sample(door, usage.reserving)
    yield "kueue_local_queue_admitted_active_workloads", Sample(door, usage.admitted)
    found = find_condition(queue.status.conditions, "Active")
    state = found.status if found is not None else "Unknown"
    for known in ("True", "False", "Unknown"):
        yield "kueue_local_queue_status", Sample((*door, known), float(known == state))
    for name, amounts in (("reservation", usage.reserved), ("usage", usage.used)):
        for (flavor, resource), amount in sorted(amounts.items()):
            labels = (*door, flavor, resource)
            yield f"kueue_local_queue_resource_{name}", Sample(labels, amount / unit_of(resource))


def of_cohort(cohort: kueue.Cohort) -> Iterator[Named]:
    """Its share."""
    if cohort.status.fair_sharing is not None:
        share = cohort.status.fair_sharing.weighted_share
        yield "kueue_cohort_weighted_share", Sample((cohort.metadata.name,), share)


def _state(queue: kueue.ClusterQueue) -> str:
    if queue.metadata.deletion_timestamp is not None:
        return "terminating"
    found = find_condition(queue.status.conditions, "Active")
    return "active" if found is not None and found.status == "True" else "pending"


def _units(written: Written | None) -> float | None:
    try:
        return None if written is None else nano(written) / NANO
    except KumiError:
        return None
