"""Defaults of NetworkPolicy, IngressClass and EndpointSlice.

Source     Kubernetes: API reference of each kind.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject


def default_network_policy(policy: JsonObject) -> None:
    """TCP; Ingress, and Egress where there are rules for it."""
    spec = policy.setdefault("spec", {})
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def default_ingress_class(class_: JsonObject) -> None:
    """Parameters of the whole cluster."""
    parameters = (class_.get("spec") or {}).get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")


def default_endpoint_slice(slice_: JsonObject) -> None:
    """Ports without a name, of TCP."""
    for port in slice_.get("ports") or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")
