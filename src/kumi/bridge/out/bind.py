"""Bind -> the pod's binding: this pod on that node. The uid makes it this very pod, whoever has its name by then.

GPUs       where it matters which ones the pod has there, their numbers go onto it with the binding, as an annotation
           (kumi.api.gpu_sharing).
Events     Scheduled, on the pod.
Source     Kubernetes: the pod's binding subresource.
"""

from __future__ import annotations

from kumi.api import core, gpu_sharing
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
    if decision.devices:
        binding["metadata"]["annotations"] = {gpu_sharing.INDEX: gpu_sharing.text(decision.devices)}
    note = Note(reference(view), "Scheduled", f"{view.key} is assigned to node {decision.node}")
    return Step(token, (Create(binding, subresource="binding"),), (note,))
