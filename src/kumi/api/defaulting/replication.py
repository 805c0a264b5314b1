"""Defaults of ReplicationControllers: one replica; the labels of the template select its pods, and are its own.

Source     Kubernetes: API reference.
"""

from __future__ import annotations

from kumi.api.defaulting.pod import default_template
from kumi.api.wire import JsonObject


def default_replication_controller(controller: JsonObject) -> None:
    """In place."""
    spec = controller.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    template = spec.get("template")
    if not template:
        return
    default_template(template)
    labels = (template.get("metadata") or {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not controller["metadata"].get("labels"):
            controller["metadata"]["labels"] = dict(labels)
