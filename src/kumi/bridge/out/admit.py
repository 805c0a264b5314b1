"""Admit -> the Workload's status: its admission, and the conditions that say so.

The rule   status.admission       clusterQueue; per pod set flavors, total usage, count, nodes as a topology assignment
           status.decision        the record of waiting goes
           QuotaReserved          True, QuotaReserved
           Admitted               True, Admitted; False, UnsatisfiedAdmissionChecks, while checks of it are not Ready
           Evicted, Preempted     turn False (reason QuotaReserved) where they are True; Requeued turns True
Why        One patch, so that nobody sees quota without nodes; conditional on the version that was read, so that it loses
           no condition of another writer.
Events     QuotaReserved, and Admitted where it may start, on the Workload.
Not here   what turns Admitted True once its checks are Ready: the Workload's own life (kumi.controllers.life).
Source     Kueue: Workload conditions.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import find_condition, is_true, parse_time
from kumi.api.quantity import format_amount
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge import topology
from kumi.bridge.conditions import Wanted, set_all, status_patch, to_json
from kumi.bridge.out.reference import reference
from kumi.bridge.out.requeued import requeued
from kumi.engine import model
from kumi.engine.decisions import Admit
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Note


def admit(token: str, decision: Admit, view: kueue.Workload, now_ms: int) -> Step:
    """See the module."""
    queue = decision.admission.cluster_queue
    conditions = view.status.conditions
    wanted = [
        Wanted("QuotaReserved", "True", "QuotaReserved", f"Quota is reserved in ClusterQueue {queue}."),
        Wanted("Admitted", "True", "Admitted", f"Admitted by ClusterQueue {queue}.")
        if not decision.checks
        else Wanted("Admitted", "False", "UnsatisfiedAdmissionChecks", f"It waits for {', '.join(decision.checks)}."),
    ]
    for past in ("Evicted", "Preempted"):
        if is_true(conditions, past):
            before = find_condition(conditions, past)
            told = f" It was: {before.message}" if before is not None and before.message else ""
            wanted.append(Wanted(past, "False", "QuotaReserved", f"It is admitted again.{told}"))
    wanted.extend(requeued(view))
    status: JsonObject = {
        "admission": admission_json(decision.admission),
        "conditions": to_json(set_all(conditions, wanted, now_ms)),
    }
    if view.status.decision is not None:
        status["decision"] = None
    waited = max(0, now_ms - (parse_time(view.metadata.creation_timestamp) or now_ms)) // 1000
    about = reference(view)
    notes = [Note(about, "QuotaReserved", f"Quota is reserved in ClusterQueue {queue} after {waited}s")]
    if not decision.checks:
        notes.append(Note(about, "Admitted", f"Admitted by ClusterQueue {queue}: {_places(decision.admission)}"))
    return Step(token, (status_patch(SCHEME.of(kueue.Workload), view, status),), tuple(notes))


def admission_json(admission: model.Admission) -> JsonObject:
    """The admission as the API has it; kumi.bridge.into.workload reads it back."""
    return {
        "clusterQueue": admission.cluster_queue,
        "podSetAssignments": [_assignment(a) for a in admission.pod_sets],
    }


def _assignment(assigned: model.PodSetAssigned) -> JsonObject:
    made: JsonObject = {
        "name": assigned.name,
        "flavors": dict(assigned.flavors),
        "resourceUsage": {name: format_amount(name, amount) for name, amount in assigned.usage},
        "count": assigned.count,
    }
    nodes = topology.assignment(assigned.nodes)
    if nodes is not None:
        made["topologyAssignment"] = nodes
    return made


def _places(admission: model.Admission) -> str:
    pods = sum(a.count for a in admission.pod_sets)
    flavors = sorted({flavor for a in admission.pod_sets for _, flavor in a.flavors})
    nodes = sorted({node for a in admission.pod_sets for node, _ in a.nodes})
    on = f" on {len(nodes)} node{'' if len(nodes) == 1 else 's'}" if nodes else ""
    return f"{pods} pod{'' if pods == 1 else 's'}{on}{', flavor ' + ', '.join(flavors) if flavors else ''}"
