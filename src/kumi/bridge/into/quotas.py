"""Resource groups and shares, as ClusterQueues and Cohorts both have them, in base units.

The rule   a quota's quantities are taken in the resource's base unit, rounded up; a limit that is absent is none; as many whole
           units as can be counted are a quota without end (2^63-1)
           the weight of a share is 1 where nothing is said
Source     Kueue: ClusterQueue, Cohort (resourceGroups, fairSharing).
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api import kueue
from kumi.api.quantity import MAX, Written, nano, parse_amount, unit_of
from kumi.engine import model

NANO = 10**9


def groups(views: Sequence[kueue.ResourceGroup]) -> tuple[model.ResourceGroup, ...]:
    """In their order. KumiError for a quantity that can't be read."""
    return tuple(_group(view) for view in views)


def weight(view: kueue.FairSharing | None) -> float:
    """What a queue or a cohort counts for among its equals. KumiError for a quantity that can't be read."""
    if view is None or view.weight is None:
        return 1.0
    return nano(view.weight) / NANO


def _group(view: kueue.ResourceGroup) -> model.ResourceGroup:
    flavors = tuple(model.FlavorQuotas(f.name, tuple((q.name, _quota(q)) for q in f.resources)) for f in view.flavors)
    return model.ResourceGroup(tuple(view.covered_resources), flavors)


def _quota(view: kueue.ResourceQuota) -> model.Quota:
    def limit(written: Written | None) -> int | None:
        return None if written is None else _amount(view.name, written)

    return model.Quota(_amount(view.name, view.nominal_quota), limit(view.borrowing_limit), limit(view.lending_limit))


def _amount(resource: str, written: Written) -> int:
    amount = parse_amount(resource, written)
    return MAX if amount >= MAX - MAX % unit_of(resource) else amount
