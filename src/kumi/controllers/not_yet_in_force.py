"""Fields of a queue that are stored but whose rule is not in force yet: told in its status, so that nobody counts on them.

The rule   a field counts when its value asks for something: not when it is absent, empty or what its absence means.
             cohortName, borrowingLimit, lendingLimit      given
             preemption                                    any policy but Never
             flavorFungibility                             whenCanBorrow, whenCanPreempt other than the defaults, a preference
             fairSharing                                   a weight other than 1
             admissionChecksStrategy                       a check
             admissionScope, concurrentAdmissionPolicy, excludeResourcePrefixes    given
Order      that of the spec; each path as kubectl writes it.
Source     Kueue: ClusterQueue, LocalQueue.
"""

from __future__ import annotations

import msgspec

from kumi.api import kueue
from kumi.api.errors import FieldError, KumiError
from kumi.api.quantity import nano
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject

BORROW_DEFAULTS = ("MayStopSearch", "Borrow")
"""the default in either of its spellings"""


def of_cluster_queue(view: kueue.ClusterQueue) -> list[str]:
    """The paths of fields that ask for a rule that is not in force."""
    spec = view.spec
    paths = []
    for g, group in enumerate(spec.resource_groups):
        for f, flavor in enumerate(group.flavors):
            for r, quota in enumerate(flavor.resources):
                where = f"spec.resourceGroups[{g}].flavors[{f}].resources[{r}]"
                if quota.borrowing_limit is not None:
                    paths.append(f"{where}.borrowingLimit")
                if quota.lending_limit is not None:
                    paths.append(f"{where}.lendingLimit")
    if spec.cohort_name:
        paths.append("spec.cohortName")
    paths.extend(_fungibility(spec.flavor_fungibility))
    paths.extend(_preemption(spec.preemption))
    paths.extend(_fair_sharing(spec.fair_sharing))
    if spec.admission_checks_strategy is not None and spec.admission_checks_strategy.admission_checks:
        paths.append("spec.admissionChecksStrategy")
    if spec.admission_scope is not None:
        paths.append("spec.admissionScope")
    if spec.concurrent_admission_policy is not None:
        paths.append("spec.concurrentAdmissionPolicy")
    if spec.exclude_resource_prefixes:
        paths.append("spec.excludeResourcePrefixes")
    return paths


def of_local_queue(view: kueue.LocalQueue) -> list[str]:
    """The paths of fields that ask for a rule that is not in force."""
    return _fair_sharing(view.spec.fair_sharing)


class NotYetInForce:
    """Warns whoever writes such a field (an AdmissionHook of the registry)."""

    def mutate(self, operation: str, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Nothing is changed."""

    def validate(self, operation: str, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """Nothing is refused."""
        return []

    def warnings(self, operation: str, kind: Kind, new: JsonObject) -> list[str]:
        """A line for each field."""
        if kind.type is kueue.ClusterQueue:
            paths = of_cluster_queue(msgspec.convert(new, kueue.ClusterQueue))
        elif kind.type is kueue.LocalQueue:
            paths = of_local_queue(msgspec.convert(new, kueue.LocalQueue))
        else:
            return []
        return [f"{path} is stored, and its rule is not in force yet" for path in paths]


def _fungibility(written: kueue.FlavorFungibility | None) -> list[str]:
    if written is None:
        return []
    asks = (
        ("whenCanBorrow", (written.when_can_borrow or "MayStopSearch") not in BORROW_DEFAULTS),
        ("whenCanPreempt", (written.when_can_preempt or "TryNextFlavor") != "TryNextFlavor"),
        ("preference", bool(written.preference)),
    )
    return [f"spec.flavorFungibility.{field}" for field, asked in asks if asked]


def _preemption(written: kueue.ClusterQueuePreemption | None) -> list[str]:
    if written is None:
        return []
    borrow = written.borrow_within_cohort
    policies = (
        ("reclaimWithinCohort", written.reclaim_within_cohort),
        ("borrowWithinCohort", borrow.policy if borrow is not None else None),
        ("withinClusterQueue", written.within_cluster_queue),
    )
    return [f"spec.preemption.{field}" for field, policy in policies if (policy or "Never") != "Never"]


def _fair_sharing(written: kueue.FairSharing | None) -> list[str]:
    weight = written.weight if written is not None else None
    try:
        plain = weight is None or nano(weight) == nano("1")
    except KumiError:
        plain = False
    return [] if plain else ["spec.fairSharing.weight"]
