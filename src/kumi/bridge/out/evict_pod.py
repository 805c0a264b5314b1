"""EvictPod -> the pod says why it goes, and is deleted, with the time that it asks for.

The rule   DisruptionTarget True, PreemptionByScheduler: jobs and budgets tell such an end from a failure of the pod's own
           the uid makes it this very pod; it is told for whom it goes
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


def evict_pod(token: str, decision: EvictPod, view: core.Pod, now_ms: int, preemptor: str = "") -> Step:
    """See the module. `preemptor`: who it makes room for, such as `pod ns/name`; "" for nobody in particular."""
    message = f"It makes room for {f'{preemptor}, which goes' if preemptor else 'others that go'} first."
    kind, meta = SCHEME.of(core.Pod), view.metadata
    wanted = Wanted("DisruptionTarget", "True", "PreemptionByScheduler", message)
    conditions = [c for c in set_condition(view.status.conditions, wanted, now_ms) if c.type == wanted.type]
    body = {"metadata": {"uid": meta.uid}, "status": {"conditions": to_json(conditions)}}
    patch = Patch(kind, meta.namespace, meta.name, body, subresource="status", type="strategic")
    delete = Delete(kind, meta.namespace, meta.name, meta.uid)
    return Step(token, (patch, delete), (Note(reference(view), "Preempted", message),))
