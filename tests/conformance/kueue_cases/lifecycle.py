"""Suite workload_lifecycle: one look of the Workload's own loop (kumi.controllers.life, with the rules of the profile kueue).

The API that the cases were recorded with takes patches of a status without ever deleting from it: conditions are merged by type,
and what is set to null stays as it was, but for an admission that goes together with its quota in the conditions.
"""

from __future__ import annotations

import copy
from typing import Any

from kumi.api.meta import parse_time
from kumi.controllers.life import KUEUE, Policy, WorkloadLife
from kumi.engine.settings import PodsReady
from kumi.runtime.reconcile import Delete, Outcome, Patch
from kumi.testing.view import FakeView

Case = dict[str, Any]
JsonObject = dict[str, Any]
LOOKED_AT = ("Namespace", "Workload", "LocalQueue", "ClusterQueue")


def run(case: Case) -> JsonObject:
    """One look, and the Workload as it is then."""
    asked = case["input"]
    objects = [copy.deepcopy(o) for o in case["objects"]]
    for kind in ("ClusterQueue", "LocalQueue"):
        if asked.get(f"{kind[0].lower()}{kind[1:]}Terminating"):
            for found in (o for o in objects if o["kind"] == kind):
                found["metadata"]["deletionTimestamp"] = case["now"]
    now_ms = parse_time(case["now"]) or 0
    workload = next(o for o in objects if o["kind"] == "Workload" and _key(o) == asked["workload"])
    outcome = WorkloadLife(_policy(case), KUEUE).reconcile(_view(objects), asked["workload"], now_ms)
    if asked.get("statusPatchFails") and any(isinstance(w, Patch) and w.subresource for w in outcome.writes):
        return _result(workload, Outcome(), now_ms, asked["workload"]) | {"error": True}
    exists = _apply(workload, outcome)
    if not exists:
        return {
            "exists": False,
            "requeueAfterSeconds": 0,
            "error": False,
            "events": _events(outcome, asked["workload"]),
        }
    return _result(workload, outcome, now_ms, asked["workload"])


def _key(obj: JsonObject) -> str:
    return f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}"


def _view(objects: list[JsonObject]) -> FakeView:
    return FakeView(*(o for o in objects if o["kind"] in LOOKED_AT))


def _policy(case: Case) -> Policy:
    config, gates = case["config"], case["featureGates"]
    ready, kept = config.get("waitForPodsReady"), config.get("objectRetention") or {}
    finished = kept.get("afterFinishedSeconds")
    return Policy(
        pods_ready=_pods_ready(ready) if ready else None,
        keep_finished_ms=finished * 1000 if finished is not None else None,
        orphans_finish=gates.get("FinishOrphanedWorkloads", True),
        explicit=gates.get("UnadmittedWorkloadsExplicitStatus", False),
    )


def _pods_ready(config: JsonObject) -> PodsReady:
    return PodsReady(
        timeout_ms=config["timeoutSeconds"] * 1000,
        recovery_ms=config.get("recoveryTimeoutSeconds", 0) * 1000,
        backoff_base_ms=config["requeuingBackoffBaseSeconds"] * 1000,
        backoff_max_ms=config["requeuingBackoffMaxSeconds"] * 1000,
        limit=config.get("requeuingBackoffLimitCount"),
    )


def _apply(workload: JsonObject, outcome: Outcome) -> bool:
    """Does the writes; False where the Workload is gone then."""
    meta = workload["metadata"]
    for write in outcome.writes:
        if isinstance(write, Delete):
            meta["deletionTimestamp"] = "now"
        elif isinstance(write, Patch) and isinstance(write.body, list):
            meta["finalizers"].remove(write.body[0]["value"])
        elif isinstance(write, Patch) and isinstance(write.body, dict):
            workload["spec"].update(write.body.get("spec") or {})
            _merge(workload.setdefault("status", {}), write.body.get("status") or {})
    return not (meta.get("deletionTimestamp") and not meta.get("finalizers"))


def _merge(status: JsonObject, patch: JsonObject) -> None:
    for field, value in patch.items():
        if field == "conditions":
            known = {c["type"]: c for c in status.get("conditions") or ()}
            status["conditions"] = [*({**known, **{c["type"]: c for c in value}}.values())]
        elif isinstance(value, dict):
            _merge(status.setdefault(field, {}), value)
        elif value is not None:
            status[field] = value


def _result(workload: JsonObject, outcome: Outcome, now_ms: int, key: str) -> JsonObject:
    status = workload.get("status") or {}
    shown = {
        "conditions": [{k: c.get(k) for k in ("type", "status", "reason")} for c in status.get("conditions") or ()],
        "admission": status.get("admission"),
        "active": workload["spec"].get("active", True),
        **{f: status[f] for f in ("admissionChecks", "requeueState", "schedulingStats") if status.get(f)},
    }
    wake = outcome.wake_at_ms
    return {
        "exists": True,
        "workload": shown,
        "finalizers": workload["metadata"].get("finalizers") or [],
        "requeueAfterSeconds": (wake - now_ms) // 1000 if wake is not None else 0,
        "error": False,
        "events": _events(outcome, key),
    }


def _events(outcome: Outcome, key: str) -> list[JsonObject]:
    return [{"object": key, "type": note.type, "reason": note.reason} for note in outcome.notes]


SUITES = {"workload_lifecycle": run}
