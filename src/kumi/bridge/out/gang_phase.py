"""GangPhase -> the PodGroup's status: its phase, its pods by their own, and whether it is placed.

The rule   Scheduled       True once its minimum is placed, False while it isn't
           Unschedulable   True while it isn't, with why: NotEnoughPodsOfTask where its own pods of a role are missing,
                           NotEnoughTasks where some are of any, NotEnoughResources else; False once it is
           a condition that wouldn't be told is not there yet: of a gang of which nobody has anything to say
           nothing is written where it says so already
Events     Scheduled, Unschedulable (Warning), on the PodGroup, when that changes.
Source     Volcano: PodGroup status, conditions.
"""

from __future__ import annotations

from kumi.api import volcano
from kumi.api.meta import format_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import cut, status_patch
from kumi.bridge.messages import gang_waits
from kumi.bridge.out.reference import reference
from kumi.engine.decisions import GangPhase
from kumi.engine.gangs import Phase
from kumi.engine.reasons import Code
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Note

SCHEDULED, UNSCHEDULABLE = "Scheduled", "Unschedulable"
PLACED = (Phase.RUNNING, Phase.COMPLETED)


def gang_phase(token: str, decision: GangPhase, view: volcano.PodGroup, now_ms: int) -> Step:
    """See the module."""
    was, placed = view.status, decision.phase in PLACED
    conditions, notes = was.conditions, []
    if placed or decision.reasons:
        reason, message = _why(decision, placed)
        wanted = {
            SCHEDULED: ("True" if placed else "False", reason, message),
            UNSCHEDULABLE: ("False" if placed else "True", reason, message),
        }
        conditions = _set(view, wanted, now_ms)
        type_ = SCHEDULED if placed else UNSCHEDULABLE
        if _said(was.conditions, type_) != (*wanted[type_],):
            notes = [Note(reference(view), type_, message, "Normal" if placed else "Warning")]
    status: JsonObject = {
        "phase": decision.phase.value,
        "running": decision.running,
        "succeeded": decision.succeeded,
        "failed": decision.failed,
        "conditions": conditions,
    }
    before = (was.phase, was.running, was.succeeded, was.failed, was.conditions)
    if tuple(status[k] for k in ("phase", "running", "succeeded", "failed", "conditions")) == before:
        return Step(token)
    return Step(token, (status_patch(SCHEME.of(volcano.PodGroup), view, status),), tuple(notes))


def _why(decision: GangPhase, placed: bool) -> tuple[str, str]:
    """(reason, message) of both conditions."""
    if placed:
        return "Ready", "The pods that start together have their nodes."
    first, said = decision.reasons[0], gang_waits(decision.reasons)
    if first.code is not Code.GANG_INCOMPLETE:
        return "NotEnoughResources", said
    return "NotEnoughPodsOfTask" if first.pod_set else "NotEnoughTasks", said


def _set(view: volcano.PodGroup, wanted: dict[str, tuple[str, str, str]], now_ms: int) -> list[JsonObject]:
    """The conditions with these as wanted; one that says so already stays as it is."""
    made = list(view.status.conditions)
    for type_, said in wanted.items():
        if _said(made, type_) == said:
            continue
        status, reason, message = said
        condition: JsonObject = {
            "type": type_,
            "status": status,
            "transitionID": f"{view.metadata.uid}-{view.metadata.resource_version}",
            "lastTransitionTime": format_time(now_ms),
            "reason": reason,
            "message": cut(message),
        }
        made = [c for c in made if c.get("type") != type_] + [condition]
    return made


def _said(conditions: list[JsonObject], type_: str) -> tuple[str, str, str] | None:
    found = next((c for c in conditions if c.get("type") == type_), None)
    return None if found is None else (found.get("status", ""), found.get("reason", ""), found.get("message", ""))
