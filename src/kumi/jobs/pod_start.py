"""A gated pod as it is let go: what it got is added, and the gate of admission goes, in one JSON patch.

Form       JSON patch: it adds to lists and maps without writing again what is there, and tests the pod's version first.
Conflict   as in a template (podset.py): a key that is there with another value is a StartConflict.
Source     Kubernetes: pod scheduling readiness. Kueue: plain pods.
"""

from __future__ import annotations

from collections.abc import Mapping

from kumi.api.core import Pod
from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetInfo
from kumi.jobs.pod_groups import GATE
from kumi.jobs.podset import start_template


def started(pod: Pod, info: PodSetInfo) -> list[JsonObject]:
    """The patch. StartConflict."""
    meta, spec = pod.metadata, pod.spec
    template: JsonObject = {
        "metadata": {"labels": meta.labels, "annotations": meta.annotations},
        "spec": {"nodeSelector": spec.node_selector},
    }
    added = start_template(template, info)
    operations: list[JsonObject] = [{"op": "test", "path": "/metadata/resourceVersion", "value": meta.resource_version}]
    for part, field, have in (
        ("metadata", "labels", meta.labels),
        ("metadata", "annotations", meta.annotations),
        ("spec", "nodeSelector", spec.node_selector),
    ):
        operations += _members(f"/{part}/{field}", have, added.get(part, {}).get(field, {}))
    known = [{"key": t.key, "operator": t.operator, "value": t.value, "effect": t.effect} for t in spec.tolerations]
    fresh = [
        t for t in info.tolerations if {"key": "", "operator": "Equal", "value": "", "effect": "", **t} not in known
    ]
    if fresh and not spec.tolerations:
        operations.append({"op": "add", "path": "/spec/tolerations", "value": fresh})
    else:
        operations += [{"op": "add", "path": "/spec/tolerations/-", "value": t} for t in fresh]
    place = [gate.name for gate in spec.scheduling_gates].index(GATE)
    path = f"/spec/schedulingGates/{place}"
    return [*operations, {"op": "test", "path": f"{path}/name", "value": GATE}, {"op": "remove", "path": path}]


def _members(path: str, have: Mapping[str, str], add: Mapping[str, str]) -> list[JsonObject]:
    if not add:
        return []
    if not have:
        return [{"op": "add", "path": path, "value": dict(add)}]
    return [{"op": "add", "path": f"{path}/{_escaped(key)}", "value": value} for key, value in sorted(add.items())]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
