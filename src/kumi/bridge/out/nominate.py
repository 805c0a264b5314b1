"""Nominate -> the pod says which node is being cleared for it.

The rule   status.nominatedNodeName, on this very pod (by its uid)
Events     Nominated, on the pod.
Why        a scheduler that starts anew finds the place again, and people see what their pod waits for.
Source     Kubernetes: pod status, preemption.
"""

from __future__ import annotations

from kumi.api import core
from kumi.api.scheme import SCHEME
from kumi.bridge.out.reference import reference
from kumi.engine.decisions import Nominate
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Note, Patch


def nominate(token: str, decision: Nominate, view: core.Pod) -> Step:
    """See the module."""
    meta = view.metadata
    body = {"metadata": {"uid": meta.uid}, "status": {"nominatedNodeName": decision.node}}
    patch = Patch(SCHEME.of(core.Pod), meta.namespace, meta.name, body, subresource="status")
    return Step(
        token, (patch,), (Note(reference(view), "Nominated", f"Node {decision.node} is being cleared for it."),)
    )
