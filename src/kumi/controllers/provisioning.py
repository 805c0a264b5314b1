"""Provisioning checks: capacity is asked for while a workload holds quota, and its check says what came of it.

The rule, for a Workload that holds quota, is not Evicted and not over, and each of its checks of the controller
kueue.x-k8s.io/provisioning-request that is not Retry or Rejected:
     1 the request of its attempt is not there, and capacity is needed: it and its templates are made
     2 the state of the check is what the request's conditions say (kumi.jobs.provisioning); what is Ready stays so if its
       request is gone
   Of any other Workload the requests go: nobody pays for capacity that waits for nothing.
Check      condition Active of such an AdmissionCheck: True, Active, where its parameters name a ProvisioningRequestConfig that
           is there; else False, BadParametersRef.
Owners     the Workload owns requests and templates.
Source     Kueue: provisioning admission check.
"""

from __future__ import annotations

from kumi.api import kueue
from kumi.api.meta import Object, format_time, is_true, owner_reference
from kumi.api.provisioning import ProvisioningRequest, ProvisioningRequestConfig
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, says, set_all, status_patch, to_json
from kumi.bridge.out.reference import reference
from kumi.bridge.out.start import flavor_names, infos
from kumi.jobs.base import StartConflict
from kumi.jobs.provisioning import CONTROLLER, Verdict, objects, pod_sets, request_name, verdict
from kumi.runtime.reconcile import (
    NOTHING,
    Create,
    Delete,
    Note,
    Outcome,
    Watches,
    Write,
    no_keys,
    own_key,
)
from kumi.runtime.view import View

OPEN = ("Pending", "Ready")
"""states that an answer may still change"""
CONFIG = "ProvisioningRequestConfig"


class Provisioning:
    """See the module."""

    name = "provisioning"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                kueue.ResourceFlavor: no_keys,
                kueue.AdmissionCheck: no_keys,
                ProvisioningRequestConfig: no_keys,
                kueue.Workload: own_key,
                ProvisioningRequest: _owner_key,
            },
            related={kueue.AdmissionCheck: _of_check},
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        workload = view.get(kueue.Workload, namespace, name)
        if workload is None:
            return NOTHING
        requests = view.owned(ProvisioningRequest, workload.metadata.uid)
        if not _asks(workload):
            return Outcome(tuple(_delete(request) for request in requests if not _is_going(request)))
        states, writes, notes = [], list[Write](), list[Note]()
        for state in workload.status.admission_checks:
            config = _config(view, str(state["name"]))
            if config is None or state.get("state") not in OPEN:
                states.append(state)
                continue
            attempt = int(state.get("retryCount") or 0) + 1
            wanted = request_name(name, str(state["name"]), attempt)
            request = next((r for r in requests if r.metadata.name == wanted), None)
            if request is None and state.get("state") == "Pending" and pod_sets(workload, config.spec):
                writes += _made(view, workload, config, wanted)
                notes.append(_told(workload, "ProvisioningRequestCreated", f"Capacity is asked for by {wanted}"))
            if request is None and state.get("state") == "Ready":
                states.append(state)
                continue
            says_now = verdict(workload, config.spec, request, attempt)
            states.append(_said(state, says_now, now_ms) if _differs(state, says_now) else state)
        if states != workload.status.admission_checks:
            writes.append(status_patch(SCHEME.of(kueue.Workload), workload, {"admissionChecks": states}))
        return Outcome(tuple(writes), tuple(notes))


class ProvisioningChecks:
    """The condition Active of provisioning checks."""

    name = "provisioning-check"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {kueue.AdmissionCheck: own_key, ProvisioningRequestConfig: no_keys},
            related={ProvisioningRequestConfig: _checks_of},
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        check = view.get(kueue.AdmissionCheck, "", key)
        if check is None or check.spec.controller_name != CONTROLLER:
            return NOTHING
        wanted = Wanted("Active", "True", "Active", "Capacity is asked for.", check.metadata.generation)
        if _config(view, key) is None:
            message = f"Its parameters name no {CONFIG} that is there."
            wanted = Wanted("Active", "False", "BadParametersRef", message, check.metadata.generation)
        if says(check.status.conditions, wanted):
            return NOTHING
        status = {"conditions": to_json(set_all(check.status.conditions, [wanted], now_ms))}
        return Outcome((status_patch(SCHEME.of(kueue.AdmissionCheck), check, status),))


def _asks(workload: kueue.Workload) -> bool:
    conditions = workload.status.conditions
    if workload.status.admission is None or workload.metadata.deletion_timestamp is not None:
        return False
    return not is_true(conditions, "Evicted") and not is_true(conditions, "Finished")


def _config(view: View, check: str) -> ProvisioningRequestConfig | None:
    """What a check is configured by; None: it is not one of these, or is not configured."""
    found = view.get(kueue.AdmissionCheck, "", check)
    if found is None or found.spec.controller_name != CONTROLLER:
        return None
    reference = found.spec.parameters
    if reference is None or (reference.api_group, reference.kind) != (kueue.GROUP, CONFIG):
        return None
    return view.get(ProvisioningRequestConfig, "", reference.name)


def _made(view: View, workload: kueue.Workload, config: ProvisioningRequestConfig, name: str) -> list[Write]:
    flavors = {n: f for n in flavor_names(workload) if (f := view.get(kueue.ResourceFlavor, "", n)) is not None}
    if len(flavors) < len(flavor_names(workload)):
        return []
    try:
        added = {info.name: info for info in infos(workload, flavors)}
        made = objects(workload, config, name, added)
    except StartConflict:
        return []  # its job fails for it when it is started
    kind = SCHEME.of(kueue.Workload)
    for manifest in made:
        manifest["metadata"]["ownerReferences"] = [owner_reference(workload, kind.api_version, kind.kind)]
    return [Create(manifest) for manifest in made]


def _differs(state: JsonObject, verdict: Verdict) -> bool:
    said = (state.get("state"), state.get("message") or "")
    return said != (verdict.state, verdict.message)


def _said(state: JsonObject, verdict: Verdict, now_ms: int) -> JsonObject:
    kept: JsonObject = {key: state[key] for key in ("name", "retryCount") if key in state}
    turned = state.get("state") != verdict.state
    since = format_time(now_ms) if turned else state.get("lastTransitionTime") or format_time(now_ms)
    made: JsonObject = {**kept, "state": verdict.state, "message": verdict.message, "lastTransitionTime": since}
    if verdict.requeue_after_seconds is not None:
        made["requeueAfterSeconds"] = verdict.requeue_after_seconds
    if verdict.pod_set_updates:
        made["podSetUpdates"] = list(verdict.pod_set_updates)
    return made


def _told(workload: kueue.Workload, reason: str, message: str) -> Note:
    return Note(reference(workload), reason, message)


def _is_going(request: ProvisioningRequest) -> bool:
    return request.metadata.deletion_timestamp is not None


def _delete(request: ProvisioningRequest) -> Delete:
    meta = request.metadata
    return Delete(SCHEME.of(ProvisioningRequest), meta.namespace, meta.name, meta.uid)


def _owner_key(obj: Object) -> tuple[str, ...]:
    owner = obj.metadata.controller
    return (f"{obj.metadata.namespace}/{owner.name}",) if owner is not None and owner.kind == "Workload" else ()


def _of_check(check: Object, view: View) -> list[str]:
    name = check.metadata.name
    return [w.key for w in view.list(kueue.Workload) if any(c.get("name") == name for c in w.status.admission_checks)]


def _checks_of(config: Object, view: View) -> list[str]:
    name = config.metadata.name
    checks = view.list(kueue.AdmissionCheck)
    return [c.metadata.name for c in checks if c.spec.parameters is not None and c.spec.parameters.name == name]
