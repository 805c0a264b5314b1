"""What a status always says: numbers that are 0 and times that are not known yet are written out, as clients expect them.

Source     Kubernetes: API reference of each status (fields that are no pointers and are never left out).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject


@dataclass(frozen=True)
class Said:
    """Of one status: fields of its own, and by list those of each item."""

    own: JsonObject = field(default_factory=dict)
    items: dict[str, JsonObject] = field(default_factory=dict)


_TIMES: JsonObject = {"lastProbeTime": None, "lastTransitionTime": None}
_CHANGED: JsonObject = {"lastTransitionTime": None}
_CONTAINER: JsonObject = {
    "name": "",
    "state": {},
    "lastState": {},
    "ready": False,
    "restartCount": 0,
    "image": "",
    "imageID": "",
}
_NODE_INFO = (
    "architecture",
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
)
_CONTAINERS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_ALWAYS: dict[tuple[str, str], Said] = {
    ("", "Pod"): Said(items={"conditions": _TIMES, **dict.fromkeys(_CONTAINERS, _CONTAINER)}),
    ("", "Node"): Said(
        {"daemonEndpoints": {"kubeletEndpoint": {"Port": 0}}, "nodeInfo": dict.fromkeys(_NODE_INFO, "")},
        {"conditions": {"lastHeartbeatTime": None, "lastTransitionTime": None}},
    ),
    ("", "PersistentVolumeClaim"): Said(items={"conditions": _TIMES}),
    ("", "Service"): Said({"loadBalancer": {}}, {"conditions": _CHANGED}),
    ("apps", "DaemonSet"): Said(
        dict.fromkeys(("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"), 0),
        {"conditions": _CHANGED},
    ),
    ("apps", "Deployment"): Said(items={"conditions": {"lastUpdateTime": None, "lastTransitionTime": None}}),
    ("apps", "ReplicaSet"): Said({"replicas": 0}, {"conditions": _CHANGED}),
    ("apps", "StatefulSet"): Said({"replicas": 0, "availableReplicas": 0}, {"conditions": _CHANGED}),
    ("batch", "Job"): Said(items={"conditions": _TIMES}),
    ("networking.k8s.io", "Ingress"): Said({"loadBalancer": {}}),
    ("policy", "PodDisruptionBudget"): Said(
        dict.fromkeys(("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"), 0),
        {"conditions": {"lastTransitionTime": None, "reason": "", "message": ""}},
    ),
}


def fill_status(kind: Kind, obj: JsonObject) -> None:
    """Completes the status in place; a kind that always says nothing is left as it is."""
    always = _ALWAYS.get((kind.group, kind.kind))
    if always is None or "status" not in kind.subresources:
        return
    status = obj.setdefault("status", {})
    _fill(status, always.own)
    for name, said in always.items.items():
        for item in status.get(name) or ():
            _fill(item, said)


def _fill(into: JsonObject, said: JsonObject) -> None:
    for key, value in said.items():
        if isinstance(value, dict):
            _fill(into.setdefault(key, {}), value)
        elif value is None:
            into.setdefault(key, None)
        elif into.get(key) is None:
            into[key] = value
