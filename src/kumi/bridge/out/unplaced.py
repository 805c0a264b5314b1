"""Unplaced -> the pod's condition PodScheduled: why no node has it.

The rule   PodScheduled False, Unschedulable, with every reason once; nothing is written where it says so already.
Why        A strategic patch merges conditions by type: it can't lose the kubelet's.
Events     FailedScheduling (Warning), on the pod.
Source     Kubernetes: pod conditions.
"""

from __future__ import annotations

from kumi.api import core
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import Wanted, says, set_condition, to_json
from kumi.bridge.messages import unplaced_pod
from kumi.bridge.out.reference import reference
from kumi.engine.decisions import Unplaced
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Note, Patch


def unplaced(token: str, decision: Unplaced, view: core.Pod, now_ms: int) -> Step:
    """See the module."""
    wanted = Wanted("PodScheduled", "False", "Unschedulable", unplaced_pod(decision.reasons))
    if says(view.status.conditions, wanted):
        return Step(token)
    conditions = [c for c in set_condition(view.status.conditions, wanted, now_ms) if c.type == wanted.type]
    body = {"status": {"conditions": to_json(conditions)}}
    meta = view.metadata
    patch = Patch(SCHEME.of(core.Pod), meta.namespace, meta.name, body, subresource="status", type="strategic")
    return Step(token, (patch,), (Note(reference(view), "FailedScheduling", wanted.message, "Warning"),))
