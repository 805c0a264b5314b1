"""Disruption budgets: whether a pod may be evicted, and the counting down of what they allow.

The rule, for a pod that runs:
    no budget selects it              it may go
    several do                        refused (500): nobody could say whose disruption it is
    it is not ready, and the budget always lets unhealthy pods go, or (its default) has enough healthy ones    it may go
    the budget was not counted since its spec changed, or allows none                refused (429)
    else                              one less is allowed, and the pod is noted in `disruptedPods`; then it may go
Why        The note and the number are written before the pod is deleted, by compare and swap, so that of two evictions that
           race for the last disruption one is refused. The budget's controller takes the note out when the pod is gone.
Source     Kubernetes: disruptions, API-initiated eviction, KEP-3017 (unhealthy pods); its behaviour as recorded.
"""

from __future__ import annotations

from kumi.api.errors import ApiError, conflict
from kumi.api.scheme import Kind
from kumi.api.validation.selector import selects
from kumi.api.wire import JsonObject
from kumi.registry.environment import Environment
from kumi.registry.objects import Found, prefix_of
from kumi.registry.refusals import Refusal, forbidden
from kumi.store.base import Conflict

ROUNDS = 64
"""Races that an eviction may lose before it gives up with a Conflict."""
MOST_NOTED = 2000
"""Evicted pods that a budget notes at a time: more means that its controller does not run."""


async def take(env: Environment, pod: JsonObject, *, dry_run: bool) -> None:
    """Counts the eviction of a running pod down from its budget. ApiError 403, 409, 429, 500."""
    kind = env.scheme.find("policy", "PodDisruptionBudget")
    if kind is None:
        return
    name = pod["metadata"]["name"]
    for _ in range(ROUNDS):
        budgets = _budgets(env, kind, pod)
        if not budgets:
            return
        if len(budgets) > 1:
            message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            raise ApiError(500, "InternalError", message)
        [budget] = budgets
        if _may_go_unhealthy(budget.object, pod):
            return
        new = _counted_down(kind, budget, name, env.now())
        if dry_run:
            return
        try:
            await env.objects.put(budget.key, new, budget.revision)
            return
        except Conflict:
            continue
    raise conflict(kind.plural, budgets[0].object["metadata"]["name"], kind.group)


def _budgets(env: Environment, kind: Kind, pod: JsonObject) -> list[Found]:
    labels = pod["metadata"].get("labels") or {}
    entries = env.objects.page(prefix_of(kind, pod["metadata"]["namespace"])).entries
    found = (env.objects.found(entry) for entry in entries)
    return [budget for budget in found if selects((budget.object.get("spec") or {}).get("selector"), labels)]


def _may_go_unhealthy(budget: JsonObject, pod: JsonObject) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(c.get("type") == "Ready" and c.get("status") == "True" for c in conditions):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy") or 0
    return desired > 0 and (status.get("currentHealthy") or 0) >= desired


def _counted_down(kind: Kind, budget: Found, pod: str, now: str) -> JsonObject:
    new = budget.copy()
    name, status = new["metadata"]["name"], new.setdefault("status", {})
    if (status.get("observedGeneration") or 0) < new["metadata"].get("generation", 0):
        raise _violates(f"The disruption budget {name} is still being processed by the server.", 10)
    allowed, noted = status.get("disruptionsAllowed") or 0, status.get("disruptedPods") or {}
    if allowed < 0:
        raise forbidden(kind, name, "pdb disruptions allowed is negative")
    if len(noted) > MOST_NOTED:
        raise forbidden(kind, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
    if allowed == 0:
        needs, has = status.get("desiredHealthy") or 0, status.get("currentHealthy") or 0
        raise _violates(f"The disruption budget {name} needs {needs} healthy pods and has {has} currently")
    status["disruptionsAllowed"] = allowed - 1
    status["disruptedPods"] = {**noted, pod: now}
    return new


def _violates(why: str, retry_after_seconds: int = 0) -> ApiError:
    return Refusal(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        wire_causes=[{"reason": "DisruptionBudget", "message": why}],
        retry_after_seconds=retry_after_seconds,
    )
