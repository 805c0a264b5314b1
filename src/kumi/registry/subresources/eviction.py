"""eviction: a deletion that may be refused, as `kubectl drain` asks for it.

A pod that does not run yet, has ended or is already going is deleted without asking; any other only as its disruption
budget allows, and it is marked (condition DisruptionTarget) before it goes.
Source     Kubernetes: API-initiated eviction, pod disruption conditions.
Not here   what a budget allows: budgets.py.
"""

from __future__ import annotations

from kumi.api.errors import FieldError, bad_request, not_found
from kumi.api.wire import JsonObject
from kumi.registry import metadata
from kumi.registry.deletion import Deleting, check_preconditions
from kumi.registry.environment import Environment
from kumi.registry.objects import Found
from kumi.registry.requests import DeleteOptions, Target, WriteOptions
from kumi.registry.subresources import budgets
from kumi.registry.subresources.binding import done
from kumi.registry.writing import Writing

DISRUPTED = "DisruptionTarget"
_UNGUARDED = ("Pending", "Succeeded", "Failed")


async def evict(
    env: Environment, writing: Writing, deleting: Deleting, target: Target, body: JsonObject, options: WriteOptions
) -> JsonObject:
    """A Status. ApiError 400, 403, 404, 409, 429, 500."""
    name = (body.get("metadata") or {}).get("name") or target.name
    if name != target.name:
        raise bad_request("name in URL does not match name in Eviction object")
    asked = body.get("deleteOptions") or {}
    preconditions = asked.get("preconditions") or {}
    delete = DeleteOptions(
        uid=preconditions.get("uid") or "",
        revision=preconditions.get("resourceVersion") or "",
        grace_seconds=asked.get("gracePeriodSeconds"),
        propagation=asked.get("propagationPolicy") or "",
        dry_run=options.dry_run or bool(asked.get("dryRun")),
    )
    found = env.objects.get(target.kind, target.namespace, target.name)
    if found is None:
        raise not_found(target.kind.plural, target.name, target.kind.group)
    pod = found.object
    phase = (pod.get("status") or {}).get("phase")
    if phase not in _UNGUARDED and not pod["metadata"].get("deletionTimestamp"):
        check_preconditions(target.kind, target.name, found, delete)
        await budgets.take(env, pod, dry_run=delete.dry_run)
        if not delete.dry_run:
            await _mark(env, writing, target)
            delete = DeleteOptions(pod["metadata"]["uid"], "", delete.grace_seconds, delete.propagation)
    await deleting.delete(target, delete)
    return done()


async def _mark(env: Environment, writing: Writing, target: Target) -> None:
    """Says on the pod why it goes."""

    def wanted(found: Found) -> JsonObject:
        new = found.copy()
        status = new.setdefault("status", {})
        others = [c for c in status.get("conditions") or () if c.get("type") != DISRUPTED]
        mark = {
            "type": DISRUPTED,
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": env.now(),
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        }
        status["conditions"] = [*others, mark]
        new["metadata"]["resourceVersion"] = ""
        return new

    def prepare(new: JsonObject, found: Found) -> list[FieldError]:
        return metadata.keep(new["metadata"], found.object["metadata"])

    await writing.change(target, wanted, prepare, WriteOptions())
