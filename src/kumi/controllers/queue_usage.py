"""What the Workloads of a queue add up to: how many wait, reserve, are admitted, and how much they hold.

The rule   a Workload counts as
             nothing     finished
             reserving   it has an admission; admitted too when its condition Admitted is True
             pending     otherwise, unless it is held by its user or going
           and holds, by flavor and resource, what its admission says, in base units; of pods that have been given back, or
           that an elastic job no longer has, nothing.
Why        Added when a Workload comes and taken off when it goes, so that a queue of thousands costs nothing to know.
Law        usage after any run of changes == usage counted afresh over the Workloads that are there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

from kumi.api import kueue
from kumi.api.errors import KumiError
from kumi.api.meta import is_true
from kumi.api.quantity import parse_amount
from kumi.engine.admission.requests import scaled

Held: TypeAlias = tuple[tuple[tuple[str, str], int], ...]
"""((flavor, resource), amount)"""


@dataclass(frozen=True)
class Part:
    """One Workload's part. `queue` is its LocalQueue's key, `cluster_queue` the one that it holds quota of ("" if none)."""

    queue: str
    cluster_queue: str = ""
    pending: bool = False
    admitted: bool = False
    held: Held = ()


@dataclass
class Usage:
    """The sum of parts."""

    pending: int = 0
    reserving: int = 0
    admitted: int = 0
    reserved: Counter[tuple[str, str]] = field(default_factory=Counter)
    used: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, part: Part, sign: int) -> None:
        """Adds a part (`sign` 1) or takes it off (-1)."""
        self.pending += sign * part.pending
        if not part.cluster_queue:
            return
        self.reserving += sign
        self.admitted += sign * part.admitted
        for what, amount in part.held:
            self.reserved[what] += sign * amount
            if part.admitted:
                self.used[what] += sign * amount


def part_of(view: kueue.Workload) -> Part:
    """What a Workload counts as. An assignment that can't be read holds nothing here."""
    status, queue = view.status, f"{view.metadata.namespace}/{view.spec.queue_name}"
    if is_true(status.conditions, "Finished"):
        return Part(queue)
    if status.admission is None:
        return Part(queue, pending=view.spec.active and view.metadata.deletion_timestamp is None)
    return Part(
        queue,
        cluster_queue=status.admission.cluster_queue,
        admitted=is_true(status.conditions, "Admitted"),
        held=_held(view, status.admission),
    )


def _held(view: kueue.Workload, admission: kueue.Admission) -> Held:
    total: Counter[tuple[str, str]] = Counter()
    left = {pod_set.name: pod_set.count for pod_set in view.spec.pod_sets}
    for given_back in view.status.reclaimable_pods:
        left[str(given_back["name"])] = left.get(str(given_back["name"]), 0) - int(given_back["count"])
    for assigned in admission.pod_set_assignments:
        given = assigned.count or 0
        count = min(given, max(0, left.get(assigned.name, given)))
        for resource, written in assigned.resource_usage.items():
            flavor = assigned.flavors.get(resource)
            if flavor is None:
                continue
            try:
                amount = parse_amount(resource, written)
            except KumiError:
                continue
            total[flavor, resource] += amount if count == given else scaled(amount, given, count)
    return tuple(sorted(total.items()))
