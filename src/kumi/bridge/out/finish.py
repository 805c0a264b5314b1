"""Finish -> the Workload's condition Finished: another one has taken its place, and its pods go on as that one's.

Events     the condition's reason, on the Workload.
Source     Kueue: workload slices of elastic jobs.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.bridge.out.reference import reference
from kumi.engine.decisions import Finish
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Note


def finish(token: str, decision: Finish, view: kueue.Workload, now_ms: int) -> Step:
    """See the module."""
    message = f"Workload {decision.by} takes its place." if decision.by else "Its place is taken."
    wanted = [Wanted("Finished", "True", decision.why, message)]
    status = {"conditions": to_json(set_all(view.status.conditions, wanted, now_ms))}
    note = Note(reference(view), decision.why, message)
    return Step(token, (status_patch(SCHEME.of(kueue.Workload), view, status),), (note,))
