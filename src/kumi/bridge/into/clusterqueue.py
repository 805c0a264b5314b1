"""ClusterQueue -> ClusterQueue: groups of resources with their flavors' quotas in base units, strategy, stop, selector.

The rule   namespaceSelector absent selects no namespace (None); an empty one selects all (()). A quota's quantities are
           taken in the resource's base unit, rounded up. A queue that is being deleted admits nothing new (HOLD).
           A stop policy or strategy that is not known is the default one: the API refuses such on the way in.
Source     Kueue: ClusterQueue.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import LabelSelector
from kumi.api.quantity import parse_amount
from kumi.engine import model

STOPS = {s.value: s for s in model.StopPolicy}
STRATEGIES = {s.value: s for s in model.Strategy}


def clusterqueue(view: kueue.ClusterQueue) -> model.ClusterQueue:
    """See the module. KumiError for a quantity that can't be read."""
    spec = view.spec
    return model.ClusterQueue(
        name=view.metadata.name,
        groups=tuple(_group(g) for g in spec.resource_groups),
        strategy=STRATEGIES.get(spec.queueing_strategy, model.Strategy.BEST_EFFORT),
        stop=stop_policy(spec.stop_policy, deleting=view.metadata.deletion_timestamp is not None),
        selector=_selector(spec.namespace_selector),
        cohort=spec.cohort_name,
    )


def stop_policy(written: str | None, *, deleting: bool) -> model.StopPolicy:
    """The policy in force."""
    policy = STOPS.get(written or "None", model.StopPolicy.NONE)
    return model.StopPolicy.HOLD if deleting and policy is model.StopPolicy.NONE else policy


def _group(view: kueue.ResourceGroup) -> model.ResourceGroup:
    flavors = tuple(model.FlavorQuotas(f.name, tuple((q.name, _quota(q)) for q in f.resources)) for f in view.flavors)
    return model.ResourceGroup(tuple(view.covered_resources), flavors)


def _quota(view: kueue.ResourceQuota) -> model.Quota:
    def limit(written: str | int | float | None) -> int | None:
        return None if written is None else parse_amount(view.name, written)

    return model.Quota(
        parse_amount(view.name, view.nominal_quota), limit(view.borrowing_limit), limit(view.lending_limit)
    )


def _selector(view: LabelSelector | None) -> tuple[model.Requirement, ...] | None:
    if view is None:
        return None
    labels = [model.Requirement(key, "In", (value,)) for key, value in sorted(view.match_labels.items())]
    return (*labels, *(model.Requirement(e.key, e.operator, tuple(e.values)) for e in view.match_expressions))
