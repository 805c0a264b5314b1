"""Defaults of webhook configurations.

Source     Kubernetes: API reference of admissionregistration.k8s.io/v1.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject


def default_validating(configuration: JsonObject) -> None:
    """Every webhook of what is asked for; it fails closed, within ten seconds."""
    for hook in configuration.get("webhooks") or ():
        hook.setdefault("failurePolicy", "Fail")
        hook.setdefault("matchPolicy", "Equivalent")
        hook.setdefault("namespaceSelector", {})
        hook.setdefault("objectSelector", {})
        hook.setdefault("timeoutSeconds", 10)
        service = (hook.get("clientConfig") or {}).get("service")
        if service is not None:
            service.setdefault("port", 443)
        for rule in hook.get("rules") or ():
            rule.setdefault("scope", "*")


def default_mutating(configuration: JsonObject) -> None:
    """The same; and none is asked twice."""
    default_validating(configuration)
    for hook in configuration.get("webhooks") or ():
        hook.setdefault("reinvocationPolicy", "Never")
