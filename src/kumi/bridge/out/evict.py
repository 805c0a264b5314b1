"""Evict -> the Workload's condition Evicted: its job is to be stopped.

The rule   Evicted        True, with the decision's reason
           Preempted      True as well, where another workload takes its place
           the rest       stays: QuotaReserved and the admission go only when the job has stopped (the workload's own loop)
Events     EvictedDueTo<reason>, on the Workload.
Source     Kueue: Workload conditions.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.bridge.messages import evicted
from kumi.bridge.out.reference import reference
from kumi.engine.decisions import Evict
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Note


def evict(token: str, decision: Evict, view: kueue.Workload, now_ms: int) -> Step:
    """See the module."""
    message = evicted(decision.why, decision.reason)
    wanted = [Wanted("Evicted", "True", decision.why, message)]
    if decision.why == "Preempted":
        wanted.append(Wanted("Preempted", "True", decision.why, message))
    status = {"conditions": to_json(set_all(view.status.conditions, wanted, now_ms))}
    note = Note(reference(view), f"EvictedDueTo{decision.why}", message)
    return Step(token, (status_patch(SCHEME.of(kueue.Workload), view, status),), (note,))
