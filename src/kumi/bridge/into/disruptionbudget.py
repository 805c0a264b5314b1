"""PodDisruptionBudget -> DisruptionBudget: which pods it guards, and how many more of them may go now.

The rule   allowed   status.disruptionsAllowed, as its controller counted it last
           granted   the names in status.disruptedPods: evictions that the API has granted, and counted
Source     Kubernetes: disruption budgets.
"""

from __future__ import annotations

import msgspec

from kumi.api.policy import PodDisruptionBudget
from kumi.bridge.into.neighbours import selector
from kumi.engine import gangs


def disruptionbudget(view: PodDisruptionBudget) -> gangs.DisruptionBudget:
    """See the module."""
    written = view.spec.selector
    return gangs.DisruptionBudget(
        key=view.key,
        selector=selector(msgspec.to_builtins(written)) if written is not None else None,
        allowed=view.status.disruptions_allowed,
        granted=tuple(sorted(view.status.disrupted_pods)),
    )
