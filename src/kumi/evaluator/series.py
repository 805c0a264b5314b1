"""Series: what is told of a run over time, thinned to equal buckets (timeline.py says how).

    name                 label      mean and peak of a bucket
    queue_length         -          jobs that wait
    running              -          jobs that run
    queue_waiting        queue      jobs of a queue that wait ("" those in none; nothing, where there are no queues)
    tenant_waiting       tenant     jobs of a tenant that wait; both: those that waited most, and the others
    allocated            resource   what pods hold, in the resource's own unit (cores, bytes, devices)
    capacity             resource   what ready nodes have
    allocation_percent   resource   the first of the second: mean of mean; the peak is the peak of one over the mean of the other
    dominant_share       tenant     the tenant's dominant share, 0 to 1 (those that had most, and the others); no peak
    fairness             -          Jain's index of what tenants that want anything were served in the bucket; NaN: nobody; no
                         peak
    gpu_fragmentation    model      percent of the free GPUs that is of no use, a sample at the time ("" all models); no peak
Time       of a bucket: its start, ms on the run's clock; of a sample: when it was taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kumi.api.quantity import unit_of
from kumi.evaluator import metrics
from kumi.evaluator.facts import Facts, Ints
from kumi.evaluator.fragmentation import fragmentation
from kumi.evaluator.shares import MOST, leading, shares
from kumi.evaluator.timeline import POINTS, Floats, grid

MEANS = {
    "queue_length": "Jobs that wait",
    "running": "Jobs that run",
    "queue_waiting": "Jobs of a queue that wait",
    "tenant_waiting": "Jobs of a tenant that wait",
    "allocated": "What pods hold, in the resource's own unit",
    "capacity": "What ready nodes have, in the resource's own unit",
    "allocation_percent": "What pods hold, in percent of what ready nodes have",
    "dominant_share": "Dominant share of a tenant, 0 to 1",
    "fairness": "Jain's index of what tenants were served of what they want, 0 to 1",
    "gpu_fragmentation": "Free GPUs that are of no use to the jobs of this load, in percent",
}
"""every name, and what it is"""


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a time, a mean and (where there is one) a peak for each bucket."""

    name: str
    label: str
    at: Ints
    mean: Floats
    peak: Floats | None = None


@cache
def unit(resource: str) -> int:
    """How many of its base units are one of its own (a core, a byte, a device)."""
    return unit_of(resource)


def all_series(facts: Facts, window: tuple[int, int] | None = None, points: int = POINTS) -> list[Series]:
    """Of a run, in the order of the table above, labels in the order of names but for tenants, who stand by what they had.
    `window`: from when to when; None: from the first arrival to the last thing that happens to a job."""
    begin, end = window or (facts.begin_ms, facts.end_ms)
    edges = grid(begin, end, points)
    at = edges[:-1]
    found = [
        Series(name, "", at, of.means(edges), of.peaks(edges).astype(np.float64))
        for name, of in (("queue_length", metrics.queue_length(facts)), ("running", metrics.running(facts)))
    ]
    if facts.queues != ("",):
        found += _waiting("queue_waiting", facts, (facts.queues, facts.jobs.queue), edges)
    found += _waiting("tenant_waiting", facts, (facts.tenants, facts.jobs.tenant), edges)
    found += _resources(facts, edges)
    table = shares(facts, edges)
    found += [Series("dominant_share", tenant, at, had) for tenant, had in leading(table, facts.tenants)]
    found.append(Series("fairness", "", at, table.fairness_over_time()))
    pieces = fragmentation(facts, (begin, end))
    if len(pieces.at):
        found.append(Series("gpu_fragmentation", "", pieces.at, pieces.percent))
        found += [Series("gpu_fragmentation", model, pieces.at, of) for model, of in pieces.by_model.items() if model]
    return found


def _waiting(name: str, facts: Facts, of: tuple[Sequence[str], NDArray[np.int32]], edges: Ints) -> list[Series]:
    """`of`: names of groups, and the number of each job's. Those whose jobs waited longest in all have a line of their own."""
    names, numbers = of
    waited = np.bincount(numbers, metrics.queued_ms(facts), len(names))
    own = np.argsort(-waited, kind="stable")[:MOST]
    line = np.full(len(names), len(own))
    line[own] = np.arange(len(own))
    labels = [*(names[number] for number in own), *(("others",) if len(names) > MOST else ())]
    found = metrics.queue_lengths(facts, line[numbers], len(own) + 1)[: len(labels)]
    return [
        Series(name, label, edges[:-1], one.means(edges), one.peaks(edges).astype(np.float64))
        for label, one in zip(labels, found, strict=True)
    ]


def _resources(facts: Facts, edges: Ints) -> list[Series]:
    lines: dict[str, list[Series]] = {"allocated": [], "capacity": [], "allocation_percent": []}
    at = edges[:-1]
    for resource in facts.asked:
        own = float(unit(resource))
        gets, has = metrics.allocated(facts, resource), metrics.capacity(facts, resource)
        mean, peak, room = gets.means(edges) / own, gets.peaks(edges) / own, has.means(edges) / own
        whole = np.where(room > 0, room, np.inf)
        lines["allocated"].append(Series("allocated", resource, at, mean, peak))
        lines["capacity"].append(Series("capacity", resource, at, room, has.peaks(edges) / own))
        lines["allocation_percent"].append(
            Series("allocation_percent", resource, at, 100.0 * mean / whole, 100.0 * peak / whole)
        )
    return [line for kind in lines.values() for line in kind]
