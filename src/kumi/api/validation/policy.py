"""Validation of PodDisruptionBudget: one of its two bounds, a sound selector.

Source     Kubernetes: disruption budgets.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.validation.amounts import at_most_all, number_or_percent
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import subdomain
from kumi.api.validation.selector import label_selector
from kumi.api.validation.words import not_negative, not_supported
from kumi.api.wire import JsonObject

_POLICIES = ("IfHealthyBudget", "AlwaysAllow")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def _budget(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        detail = "minAvailable and maxUnavailable cannot be both set"
        errors.append(FieldError("spec", detail, value={k: spec[k] for k in ("maxUnavailable", "minAvailable")}))
    for field in ("minAvailable", "maxUnavailable"):
        errors += number_or_percent(spec.get(field), f"spec.{field}") + at_most_all(spec.get(field), f"spec.{field}")
    if spec.get("selector") is not None:
        errors += label_selector(spec["selector"], "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _POLICIES:
        errors.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
    status = new.get("status") or {}
    for field in _COUNTS:
        errors += not_negative(f"status.{field}", status.get(field))
    return errors


validate_pod_disruption_budget = with_metadata(subdomain, _budget)
