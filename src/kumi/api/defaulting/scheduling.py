"""Defaults of PriorityClass and HorizontalPodAutoscaler.

Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject


def default_priority_class(class_: JsonObject) -> None:
    """Pods of the class may preempt."""
    class_.setdefault("preemptionPolicy", "PreemptLowerPriority")


def default_autoscaler(autoscaler: JsonObject) -> None:
    """One replica at least; 80% of the requested cpu where no metric is given."""
    spec = autoscaler.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
