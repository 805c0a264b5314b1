"""Hold -> the Workload's status: why it waits.

The rule   QuotaReserved   False, with Kueue's word for the reason and a sentence
           Admitted        False, NoReservation
           decision        the whole record (kumi.bridge.messages), in place of the one before
Events     a warning with the same word, on the Workload and on its job, when the answer is another one than before (not when
           only numbers moved): who looks at the job sees why it waits. PreemptedWorkload, on the Workload, for each that
           makes room for it.
Source     Kueue: Workload conditions.
Not here   Requeued: the Workload's own life (kumi.controllers.life) says when it is back in its queue.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import find_condition
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.bridge.messages import condition_reason, preempted, record_to_json, summary
from kumi.bridge.out.reference import job_reference, reference
from kumi.engine.decisions import Hold
from kumi.engine.reasons import Code
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Note

SAME_ANSWER = ("code", "resource", "flavor", "where", "podSet", "permanent")
"""the fields of the record that make it another answer"""


def hold(token: str, decision: Hold, view: kueue.Workload, now_ms: int) -> Step:
    """See the module."""
    reason, message = condition_reason(decision.record.reason), summary(decision.record)
    wanted = [
        Wanted("QuotaReserved", "False", reason, message),
        Wanted("Admitted", "False", "NoReservation", "No quota is reserved."),
    ]
    status = {
        "conditions": to_json(set_all(view.status.conditions, wanted, now_ms)),
        "decision": record_to_json(decision.record),
    }
    about = [reference(view), job_reference(view)] if is_another_answer(decision, view) else []
    notes = [Note(whom, reason, message, "Warning") for whom in about if whom is not None]
    if about and decision.record.reason.code is Code.PREEMPTING:
        for victim in decision.record.considered:
            if victim.cause:
                notes.append(Note(reference(view), "PreemptedWorkload", preempted(victim)))
    return Step(token, (status_patch(SCHEME.of(kueue.Workload), view, status),), tuple(notes))


def is_another_answer(decision: Hold, view: kueue.Workload) -> bool:
    """Whether what the Workload says now is not this answer, apart from numbers, places and names of others."""
    said, condition = view.status.decision, find_condition(view.status.conditions, "QuotaReserved")
    if not said or condition is None:
        return True
    if (condition.status, condition.reason) != ("False", condition_reason(decision.record.reason)):
        return True
    told = record_to_json(decision.record)
    return any(said.get(key) != told[key] for key in SAME_ANSWER)
