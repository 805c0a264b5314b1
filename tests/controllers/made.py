"""Manifests that the tests of this room start from, in the stored version."""

from __future__ import annotations

from typing import Any

from kumi.api.meta import Object, format_time
from kumi.api.wire import JsonObject
from kumi.runtime.reconcile import Outcome, Patch
from kumi.testing.view import decoded

NOW_MS = 1_800_000_000_000
GPU = "nvidia.com/gpu"


def at(seconds: float) -> str:
    """The time that many seconds after NOW_MS, as the API has it."""
    return format_time(NOW_MS + int(seconds * 1000))


def condition(type: str, status: str, reason: str = "R", seconds: float = 0, message: str = "") -> JsonObject:
    return {"type": type, "status": status, "reason": reason, "message": message, "lastTransitionTime": at(seconds)}


def meta(name: str, namespace: str = "", **fields: Any) -> JsonObject:
    made = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", "creationTimestamp": at(0), **fields}
    return {**made, "namespace": namespace} if namespace else made


def flavor(name: str = "default", **spec: Any) -> JsonObject:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": meta(name), "spec": spec}


def cluster_queue(name: str = "gpus", gpus: int = 8, flavor: str = "default", **spec: Any) -> JsonObject:
    quotas = {"name": flavor, "resources": [{"name": GPU, "nominalQuota": gpus}]}
    group = {"coveredResources": [GPU], "flavors": [quotas]}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": meta(name),
        "spec": {"namespaceSelector": {}, "resourceGroups": [group], **spec},
    }


def local_queue(name: str = "lq", namespace: str = "team", queue: str = "gpus", **spec: Any) -> JsonObject:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": meta(name, namespace),
        "spec": {"clusterQueue": queue, **spec},
    }


def namespace(name: str = "team", **fields: Any) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": meta(name, **fields),
        "spec": {"finalizers": ["kubernetes"]},
    }


def node(name: str = "n1", gpus: int = 6, ready: str = "True", seconds: float = 0, **spec: Any) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": meta(name),
        "spec": spec,
        "status": {
            "allocatable": {GPU: str(gpus), "cpu": "64", "memory": "64Gi", "pods": "110"},
            "conditions": [condition("Ready", ready, seconds=seconds)],
        },
    }


def pod_template(gpus: int = 1) -> JsonObject:
    container = {
        "name": "pytorch",
        "image": "i",
        "resources": {"limits": {GPU: str(gpus)}, "requests": {GPU: str(gpus)}},
    }
    return {"metadata": {}, "spec": {"containers": [container]}}


def pod(name: str = "p", namespace: str = "team", **fields: Any) -> JsonObject:
    spec = {**pod_template()["spec"], **fields.pop("spec", {})}
    status = fields.pop("status", {"phase": "Pending"})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(name, namespace, **fields),
        "spec": spec,
        "status": status,
    }


def workload(name: str = "w", gpus: int = 4, queue: str = "lq", **fields: Any) -> JsonObject:
    status, spec = fields.pop("status", {}), fields.pop("spec", {})
    pod_set = {"name": "main", "count": gpus, "template": pod_template()}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": meta(name, "team", **fields),
        "spec": {"queueName": queue, "podSets": [pod_set], "priority": 0, "active": True, **spec},
        "status": status,
    }


def admission(gpus: int = 4, queue: str = "gpus", flavor: str = "default") -> JsonObject:
    assigned = {"name": "main", "count": gpus, "flavors": {GPU: flavor}, "resourceUsage": {GPU: str(gpus)}}
    return {"clusterQueue": queue, "podSetAssignments": [assigned]}


def admitted(**fields: Any) -> JsonObject:
    conditions = [condition("QuotaReserved", "True"), condition("Admitted", "True"), *fields.pop("conditions", [])]
    return {"admission": admission(**fields), "conditions": conditions}


def views(*manifests: JsonObject) -> list[Object]:
    return [decoded(manifest) for manifest in manifests]


def body_of(outcome: Outcome, index: int = 0) -> JsonObject:
    """The body of a merge patch that an outcome makes."""
    patch = outcome.writes[index]
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    return patch.body
