"""EvictPod -> the pod says why it goes, and is deleted, with the time that it asks for.

The rule   DisruptionTarget True, PreemptionByScheduler: jobs and budgets tell such an end from a failure of the pod's own
           the uid makes it this very pod
Events     Preempted, on the pod.
Source     Kubernetes: pod conditions, preemption.
"""

from __future__ import annotations

from kumi.api import core
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import Wanted, set_condition, to_json
from kumi.bridge.out.reference import reference
from kumi.engine.decisions import EvictPod
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Delete, Note, Patch

MESSAGE = "It makes room for others that go first."


def evict_pod(token: str, decision: EvictPod, view: core.Pod, now_ms: int) -> Step:
    """See the module."""
    kind, meta = SCHEME.of(core.Pod), view.metadata
    wanted = Wanted("DisruptionTarget", "True", "PreemptionByScheduler", MESSAGE)
    conditions = [c for c in set_condition(view.status.conditions, wanted, now_ms) if c.type == wanted.type]
    body = {"metadata": {"uid": meta.uid}, "status": {"conditions": to_json(conditions)}}
    patch = Patch(kind, meta.namespace, meta.name, body, subresource="status", type="strategic")
    delete = Delete(kind, meta.namespace, meta.name, meta.uid)
    return Step(token, (patch, delete), (Note(reference(view), "Preempted", MESSAGE),))
