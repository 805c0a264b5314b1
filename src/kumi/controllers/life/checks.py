"""Admission checks of a workload: which ones it needs, and what their answers lead to.

needed     of the checks of its ClusterQueue: those for all flavors; once it has flavors, those for one of them too. Before it
           has any, those that are for each flavor of the queue
listed     the status lists just the needed ones, by name; a new one is Pending
admitted   quota reserved, all listed Ready, and no topology still to be found: Admitted True; else False,
           UnsatisfiedAdmissionChecks or PendingDelayedTopologyRequests. One that is admitted stays so: a check that changes its
           mind evicts it
answered   one Rejected: DeactivationTarget, AdmissionCheck (it beats Retry); one Retry: evicted, AdmissionCheck
Events     Admitted; AdmissionCheckRejected (Warning).
Source     Kueue: admission checks.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import format_time
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, set_all, to_json
from kumi.bridge.out.eviction import TARGET, Eviction
from kumi.controllers.life.look import Look
from kumi.runtime.reconcile import Outcome


def needed(queue: kueue.ClusterQueue, admission: kueue.Admission | None) -> list[str]:
    """The names, in order. See the module."""
    strategy = queue.spec.admission_checks_strategy
    every = {f.name for g in queue.spec.resource_groups for f in g.flavors}
    got = {f for a in admission.pod_set_assignments for f in a.flavors.values()} if admission is not None else set()
    names = []
    for rule in strategy.admission_checks if strategy is not None else ():
        on = set(rule.on_flavors)
        if not on or on & got or (admission is None and on >= every):
            names.append(rule.name)
    return sorted(names)


def listed(look: Look) -> Outcome | None:
    """See the module."""
    if look.cluster_queue is None:
        return None
    known = {str(c["name"]): c for c in look.workload.status.admission_checks}
    names = needed(look.cluster_queue, look.workload.status.admission)
    if sorted(known) == names:
        return None
    new = {"state": "Pending", "message": "", "lastTransitionTime": format_time(look.now_ms)}
    states: list[JsonObject] = [known.get(name) or {"name": name, **new} for name in names]
    return look.written({"admissionChecks": states})


def admitted(look: Look) -> Wanted | None:
    """What condition Admitted should say of one that holds quota and is not admitted."""
    admission = look.workload.status.admission
    if not look.holds_quota or admission is None or look.admitted:
        return None
    if any(c.get("state") != "Ready" for c in look.workload.status.admission_checks):
        return Wanted(
            "Admitted", "False", "UnsatisfiedAdmissionChecks", "Quota is reserved; not all admission checks are Ready."
        )
    if any(a.delayed_topology_request == "Pending" for a in admission.pod_set_assignments):
        return Wanted("Admitted", "False", "PendingDelayedTopologyRequests", "Its topology is still to be found.")
    return Wanted("Admitted", "True", "Admitted", f"Admitted by ClusterQueue {admission.cluster_queue}.")


def answered(look: Look) -> Outcome | None:
    """See the module."""
    target = look.condition(TARGET)
    if look.evicted or (target is not None and target.status == "True"):
        return None
    rejected, retried = (
        [c for c in look.workload.status.admission_checks if c.get("state") == state] for state in ("Rejected", "Retry")
    )
    if rejected:
        message = f"Admission checks rejected it: {_told(rejected)}."
        wanted = [Wanted(TARGET, "True", "AdmissionCheck", message)]
        status = {"conditions": to_json(set_all(look.conditions, wanted, look.now_ms))}
        return look.written(status, look.note("AdmissionCheckRejected", message, "Warning"))
    if retried:
        return look.evict(Eviction("AdmissionCheck", f"Admission checks ask to try again: {_told(retried)}."))
    return None


def _told(checks: list[JsonObject]) -> str:
    rows = sorted((str(c["name"]), str(c.get("message") or "")) for c in checks)
    return ", ".join(f"{name} ({message})" if message else name for name, message in rows)
