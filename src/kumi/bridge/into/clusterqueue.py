"""ClusterQueue -> ClusterQueue: groups of resources with their flavors' quotas in base units, and its policies.

The rule   namespaceSelector absent selects no namespace (None); an empty one selects all (()). A queue that is being
           deleted admits nothing new (HOLD). A policy that is not known is the default one: the API refuses such on the
           way in. Policies by default: nobody is preempted; the search for flavors stops at one that needs borrowing and
           goes on past one that needs preemption. The old words Borrow and Preempt mean MayStopSearch.
Source     Kueue: ClusterQueue.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import LabelSelector
from kumi.bridge.into.quotas import groups, weight
from kumi.engine import model

STOPS = {s.value: s for s in model.StopPolicy}
STRATEGIES = {s.value: s for s in model.Strategy}
EVICTABLE = {e.value: e for e in model.Evictable}
STOPS_SEARCH = {"MayStopSearch": True, "Borrow": True, "Preempt": True, "TryNextFlavor": False}


def clusterqueue(view: kueue.ClusterQueue) -> model.ClusterQueue:
    """See the module. KumiError for a quantity that can't be read."""
    spec = view.spec
    scope, checks = spec.admission_scope, spec.admission_checks_strategy
    return model.ClusterQueue(
        name=view.metadata.name,
        groups=groups(spec.resource_groups),
        strategy=STRATEGIES.get(spec.queueing_strategy, model.Strategy.BEST_EFFORT),
        stop=stop_policy(spec.stop_policy, deleting=view.metadata.deletion_timestamp is not None),
        selector=namespaces(spec.namespace_selector),
        cohort=spec.cohort_name,
        preemption=_preemption(spec.preemption),
        fungibility=_fungibility(spec.flavor_fungibility),
        weight=weight(spec.fair_sharing),
        checks=tuple(model.CheckRule(c.name, tuple(c.on_flavors)) for c in (checks.admission_checks if checks else ())),
        by_usage=scope is not None and scope.admission_mode == "UsageBasedAdmissionFairSharing",
    )


def stop_policy(written: str | None, *, deleting: bool) -> model.StopPolicy:
    """The policy in force."""
    policy = STOPS.get(written or "None", model.StopPolicy.NONE)
    return model.StopPolicy.HOLD if deleting and policy is model.StopPolicy.NONE else policy


def _preemption(view: kueue.ClusterQueuePreemption | None) -> model.Preemption:
    if view is None:
        return model.Preemption()
    borrow = view.borrow_within_cohort

    def policy(written: str | None) -> model.Evictable:
        return EVICTABLE.get(written or "Never", model.Evictable.NEVER)

    return model.Preemption(
        within=policy(view.within_cluster_queue),
        reclaim=policy(view.reclaim_within_cohort),
        borrowing=policy(borrow.policy if borrow is not None else None),
        borrowing_threshold=borrow.max_priority_threshold if borrow is not None else None,
    )


def _fungibility(view: kueue.FlavorFungibility | None) -> model.Fungibility:
    if view is None:
        return model.Fungibility()
    return model.Fungibility(
        stop_at_borrowing=STOPS_SEARCH.get(view.when_can_borrow or "MayStopSearch", True),
        stop_at_preemption=STOPS_SEARCH.get(view.when_can_preempt or "TryNextFlavor", False),
        prefer_preemption=view.preference == "PreemptionOverBorrowing",
    )


def namespaces(view: LabelSelector | None) -> tuple[model.Requirement, ...] | None:
    """Which namespaces a selector selects: None for none."""
    if view is None:
        return None
    labels = [model.Requirement(key, "In", (value,)) for key, value in sorted(view.match_labels.items())]
    return (*labels, *(model.Requirement(e.key, e.operator, tuple(e.values)) for e in view.match_expressions))
