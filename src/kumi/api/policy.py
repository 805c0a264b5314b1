"""The policy group (v1): PodDisruptionBudget."""

from __future__ import annotations

from msgspec import field

from kumi.api.columns.policy import POD_DISRUPTION_BUDGET
from kumi.api.meta import Condition, LabelSelector, Object, View
from kumi.api.scheme import SCHEME, Kind
from kumi.api.validation.policy import validate_pod_disruption_budget


class PodDisruptionBudgetSpec(View):
    """How many of the selected pods must stay (a number or a share), or may go. No selector selects nothing."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(View):
    """What the budget allows now; `disrupted_pods`: name -> when its eviction was granted."""

    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, str | None] = {}
    conditions: list[Condition] = []


class PodDisruptionBudget(Object):
    """policy/v1 PodDisruptionBudget."""

    spec: PodDisruptionBudgetSpec = field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = field(default_factory=PodDisruptionBudgetStatus)


SCHEME.register(
    Kind(
        "policy",
        "v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        PodDisruptionBudget,
        short_names=("pdb",),
        subresources=("status",),
        columns=POD_DISRUPTION_BUDGET,
        validate=validate_pod_disruption_budget,
        schema="io.k8s.api.policy.v1.PodDisruptionBudget",
    )
)
