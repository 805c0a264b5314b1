"""Validation of PriorityClass, Lease and HorizontalPodAutoscaler.

Source     Kubernetes: pod priority and preemption, leases, horizontal pod autoscaling.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import subdomain
from kumi.api.validation.words import forbidden, not_supported, required
from kumi.api.wire import JsonObject

HIGHEST_OF_USERS = 1_000_000_000
_SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_POLICIES = ("PreemptLowerPriority", "Never")


def _priority_class(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    errors = []
    name, value = (new.get("metadata") or {}).get("name", ""), new.get("value") or 0
    if name.startswith("system-"):
        if _SYSTEM.get(name) != value:
            errors.append(
                forbidden(
                    "metadata.name", "priority class names with 'system-' prefix are reserved for system use only"
                )
            )
    elif value > HIGHEST_OF_USERS:
        detail = f"maximum allowed value of a user defined priority is {HIGHEST_OF_USERS}"
        errors.append(forbidden("value", detail))
    policy = new.get("preemptionPolicy")
    if policy and policy not in _POLICIES:
        errors.append(not_supported("preemptionPolicy", policy, _POLICIES))
    if old is not None:
        for field in ("value", "preemptionPolicy"):
            if (new.get(field) or 0) != (old.get(field) or 0):
                errors.append(forbidden(field, "may not be changed in an update"))
    return errors


def _lease(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    errors = []
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        errors.append(FieldError("spec.leaseDurationSeconds", "must be greater than 0", value=seconds))
    changes = spec.get("leaseTransitions")
    if changes is not None and changes < 0:
        errors.append(FieldError("spec.leaseTransitions", "must be greater than or equal to 0", value=changes))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors


def _autoscaler(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    spec = new.get("spec") or {}
    target, least, most = spec.get("scaleTargetRef") or {}, spec.get("minReplicas"), spec.get("maxReplicas") or 0
    errors = [required(f"spec.scaleTargetRef.{field}") for field in ("kind", "name") if not target.get(field)]
    if least is not None and least < 1:
        errors.append(FieldError("spec.minReplicas", "must be greater than or equal to 1", value=least))
    if most < 1:
        errors.append(FieldError("spec.maxReplicas", "must be greater than 0", value=most))
    elif least is not None and most < least:
        errors.append(FieldError("spec.maxReplicas", "must be greater than or equal to `minReplicas`", value=most))
    return errors


validate_priority_class = with_metadata(subdomain, _priority_class)
validate_lease = with_metadata(subdomain, _lease)
validate_autoscaler = with_metadata(subdomain, _autoscaler)
