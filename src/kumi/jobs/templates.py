"""Parts that every kind uses to make a child from a template: metadata, environment, deep copies."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from kumi.api.core import Pod
from kumi.api.meta import Object, owner_reference
from kumi.api.wire import JsonObject

FINISHED = ("Succeeded", "Failed")


def pod_of(
    job: Object, kind: tuple[str, str], template: JsonObject, name: str, labels: Mapping[str, str]
) -> JsonObject:
    """A pod of the job: the template's metadata and spec, `labels` over its own; `kind` is (apiVersion, kind) of the job.

    The template's own name and namespace mean nothing."""
    meta = template.get("metadata") or {}
    metadata: JsonObject = {"name": name, "namespace": job.metadata.namespace}
    metadata["labels"] = {**(meta.get("labels") or {}), **labels}
    if meta.get("annotations"):
        metadata["annotations"] = dict(meta["annotations"])
    metadata["ownerReferences"] = [owner_reference(job, *kind)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": copy.deepcopy(template.get("spec") or {}),
    }


def is_live(pod: Pod) -> bool:
    """Not finished and not being deleted."""
    return pod.status.phase not in FINISHED and pod.metadata.deletion_timestamp is None


def is_ready(pod: Pod) -> bool:
    """Whether the pod's condition Ready is True."""
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions)


def is_disrupted(pod: Pod) -> bool:
    """Whether it failed, or is being deleted, by no doing of its own: its node stopped or went away, or it was evicted
    (DisruptionTarget)."""
    marks = (c for c in pod.status.conditions if c.type == "DisruptionTarget" and c.status == "True")
    going = pod.metadata.deletion_timestamp is not None and pod.status.phase != "Succeeded"
    return (pod.status.phase == "Failed" or going) and any(marks)


def restarts(pod: Pod) -> int:
    """How often the kubelet started a container of the pod again."""
    return sum(c.restart_count for c in (*pod.status.init_container_statuses, *pod.status.container_statuses))
