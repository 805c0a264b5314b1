"""Pods: made Pending with a quality of service, deleted with grace.

Grace      the asked seconds, else those of the spec; 0 for a pod that is on no node or has ended: nobody has to stop it.
           A negative one counts as 1. With a grace over 0 the pod is marked and waits for its kubelet's deletion with 0.
Quality    Guaranteed   every container has limits of cpu and memory and requests just as much
           BestEffort   no container asks for or is limited in either
           Burstable    the rest
Source     Kubernetes: pod life cycle (termination), pod quality of service classes.
"""

from __future__ import annotations

from kumi.api.quantity import nano
from kumi.api.wire import JsonObject

ENDED = ("Succeeded", "Failed")
_COUNTED = ("cpu", "memory")
_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATED_SECONDS = 300


def on_create(pod: JsonObject) -> None:
    """Pending, with its quality of service and a while's patience for nodes that are lost."""
    spec = pod["spec"]
    status: JsonObject = {"phase": "Pending", "qosClass": quality(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    pod["status"] = status
    _tolerate(spec)


def grace(pod: JsonObject, asked: int | None) -> int:
    """Seconds between the mark and the removal."""
    if not pod["spec"].get("nodeName") or (pod.get("status") or {}).get("phase") in ENDED:
        return 0
    seconds = pod["spec"].get("terminationGracePeriodSeconds") or 0 if asked is None else asked
    return 1 if seconds < 0 else int(seconds)


def quality(spec: JsonObject) -> str:
    """The quality of service class."""
    asked = limited = False
    guaranteed = True
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container.get("resources") or {}
        requests, limits = _positive(resources.get("requests")), _positive(resources.get("limits"))
        asked, limited = asked or bool(requests), limited or bool(limits)
        if set(limits) != set(_COUNTED) or {**limits, **requests} != limits:
            guaranteed = False
    if not asked and not limited:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _positive(amounts: JsonObject | None) -> dict[str, int]:
    found = {name: nano(amounts[name]) for name in _COUNTED if name in amounts} if amounts else {}
    return {name: amount for name, amount in found.items() if amount > 0}


def _tolerate(spec: JsonObject) -> None:
    """A pod that says nothing of lost nodes is evicted from one after a while (admission: DefaultTolerationSeconds)."""
    tolerations = list(spec.get("tolerations") or ())
    for key in _TOLERATED:
        if not any(t.get("key") in (key, None, "") and t.get("effect") in ("NoExecute", None, "") for t in tolerations):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": _TOLERATED_SECONDS,
                }
            )
    spec["tolerations"] = tolerations
