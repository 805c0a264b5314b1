"""Bind -> the pod's binding: this pod on that node. The uid makes it this very pod, whoever has its name by then.

Events     Scheduled, on the pod.
Source     Kubernetes: the pod's binding subresource.
"""

from __future__ import annotations

from kumi.api import core
from kumi.api.wire import JsonObject
from kumi.bridge.out.reference import reference
from kumi.engine.decisions import Bind
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Create, Note


def bind(token: str, decision: Bind, view: core.Pod) -> Step:
    """See the module."""
    meta = view.metadata
    binding: JsonObject = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"namespace": meta.namespace, "name": meta.name, "uid": meta.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": decision.node},
    }
    note = Note(reference(view), "Scheduled", f"{view.key} is assigned to node {decision.node}")
    return Step(token, (Create(binding, subresource="binding"),), (note,))
