"""Evict -> the Workload's status as an eviction leaves it (eviction.py): its job is to be stopped.

Why         one place says what an eviction writes, whoever decides it.
Source      Kueue: Workload conditions.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import status_patch
from kumi.bridge.messages import evicted
from kumi.bridge.out.eviction import DEACTIVATED, Eviction, deactivation, evicted_status, notes
from kumi.engine.decisions import Evict
from kumi.runtime.decider import Step


def evict(token: str, decision: Evict, view: kueue.Workload, now_ms: int) -> Step:
    """See the module."""
    message = evicted(decision.why, decision.reason, decision.by, decision.cause)
    if decision.why == DEACTIVATED:
        eviction = deactivation(view, message)
    else:
        eviction = Eviction(decision.why, message, decision.cause)
    status = evicted_status(view, eviction, view.status.conditions, now_ms)
    return Step(token, (status_patch(SCHEME.of(kueue.Workload), view, status),), notes(view, eviction))
