"""Simulated: pods that run in virtual time, on nodes that are nothing but objects. A controller by the pod's key.

The rule, first that holds, of a pod that has a node:
    1  it is being deleted              it is gone: nothing runs that would need its grace. One that somebody still keeps (by a
                                        finalizer) has failed: that is what he waits to hear
    2  it is over                       nothing more
    3  its node is gone or not ready    it is lost, by no fault of its own (DisruptionTarget), and gone at once
    4  it doesn't run yet               it runs, all its containers ready
    5  its time is over                 it has succeeded
    else it is looked at again when its time is over
Time       `ends` says when a pod ends that runs from a moment on; by default what it says of itself: annotation
           kumi.dev/execution-duration, else <anything>/execution-duration (kumi.jobs.due); one that says nothing runs
           until it is deleted. The moment is kept in milliseconds, beside the status, which has whole seconds.
Why        a node that fails says nothing any more, and its pods are not waited for: in a live cluster that takes minutes of
           taints and grace, which are not what a policy is judged by.
Source     Kubernetes: pod life cycle; the annotation: kube-scheduler-evaluator.
Not here   pods as processes: node.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kumi.api.core import Node, Pod
from kumi.api.meta import Object, format_time, is_true
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.jobs.due import due
from kumi.kubelet.pod_state import FINAL
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Patch, Watches
from kumi.runtime.view import View

CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
"""what is True of a pod that runs"""

Ends: TypeAlias = Callable[[Pod, int], int | None]
"""(the pod, since when it runs) -> when it ends, milliseconds since the epoch; None: when it is deleted"""


def as_it_says(pod: Pod, started_ms: int) -> int | None:
    """When a pod ends by its own annotation."""
    length_ms = due(pod.metadata).execution_ms
    return None if length_ms is None else started_ms + length_ms


class SimulatedPods:
    """See the module; kumi.runtime.reconcile.Controller."""

    name = "kumi-simulated-kubelet"

    def __init__(self, ends: Ends = as_it_says) -> None:
        self._ends = ends
        self._started_ms: dict[str, int] = {}
        """uid -> since when it runs"""
        self._kind = SCHEME.of(Pod)

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({Pod: _bound_key, Node: _no_key}, related={Node: _pods_of}, matters={Node: _other_health})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        pod = view.get(Pod, namespace, name)
        if pod is None or not pod.spec.node_name:
            return NOTHING
        meta, uid = pod.metadata, pod.metadata.uid
        if meta.deletion_timestamp is not None:
            self._started_ms.pop(uid, None)
            is_kept = meta.finalizers and pod.status.phase not in FINAL
            last = (said(pod, {"phase": "Failed", "reason": "Killed"}),) if is_kept else ()
            return Outcome((*last, Delete(self._kind, namespace, name, uid, grace_seconds=0)))
        if pod.status.phase in FINAL:
            self._started_ms.pop(uid, None)
            return NOTHING
        if not _stands(view, pod.spec.node_name):
            self._started_ms.pop(uid, None)
            return Outcome(gone(pod, now_ms))
        if pod.status.phase != "Running":
            self._started_ms[uid] = now_ms
            return Outcome((said(pod, running(pod, now_ms)),))
        ends_ms = self._ends(pod, self._started_ms.setdefault(uid, now_ms))
        if ends_ms is None or ends_ms > now_ms:
            return Outcome(wake_at_ms=ends_ms)
        return Outcome((said(pod, succeeded(pod, now_ms)),))


def said(pod: Pod, status: JsonObject) -> Patch:
    """The write of a pod's status."""
    meta = pod.metadata
    body = {"metadata": {"uid": meta.uid}, "status": status}
    return Patch(SCHEME.of(Pod), meta.namespace, meta.name, body, subresource="status", type="strategic")


def gone(pod: Pod, now_ms: int) -> tuple[Patch, Delete]:
    """The writes that end a pod by no fault of its own."""
    meta, at = pod.metadata, format_time(now_ms)
    mark = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "lastTransitionTime": at}
    status = {"phase": "Failed", "reason": "NodeLost", "conditions": [mark]}
    return said(pod, status), Delete(SCHEME.of(Pod), meta.namespace, meta.name, meta.uid, grace_seconds=0)


def running(pod: Pod, now_ms: int) -> JsonObject:
    """What the status of a pod says that begins to run."""
    at = format_time(now_ms)
    return {
        "phase": "Running",
        "startTime": at,
        "conditions": [{"type": type_, "status": "True", "lastTransitionTime": at} for type_ in CONDITIONS],
        "containerStatuses": [
            {
                "name": container.name,
                "image": container.image,
                "imageID": "",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": at}},
            }
            for container in pod.spec.containers
        ],
    }


def succeeded(pod: Pod, now_ms: int) -> JsonObject:
    """What the status of a pod says that has done its work."""
    at = format_time(now_ms)
    over = {"status": "False", "reason": "PodCompleted", "lastTransitionTime": at}
    return {
        "phase": "Succeeded",
        "conditions": [{"type": type_, **over} for type_ in ("Ready", "ContainersReady")],
        "containerStatuses": [
            {
                "name": container.name,
                "image": container.image,
                "imageID": "",
                "ready": False,
                "started": False,
                "restartCount": 0,
                "state": {
                    "running": None,
                    "terminated": {
                        "exitCode": 0,
                        "reason": "Completed",
                        "startedAt": pod.status.start_time or at,
                        "finishedAt": at,
                    },
                },
            }
            for container in pod.spec.containers
        ],
    }


def _stands(view: View, name: str) -> bool:
    node = view.get(Node, "", name)
    return node is not None and is_true(node.status.conditions, "Ready")


def _bound_key(pod: Object) -> tuple[str, ...]:
    return (pod.key,) if isinstance(pod, Pod) and pod.spec.node_name else ()


def _no_key(_: Object) -> tuple[str, ...]:
    return ()


def _pods_of(node: Object, view: View) -> tuple[str, ...]:
    """The pods on a node whose health changes."""
    return tuple(pod.key for pod in view.list(Pod) if pod.spec.node_name == node.metadata.name)


def _other_health(old: Object, new: Object) -> bool:
    """Whether a node's pods may be lost, or are no more."""
    if not isinstance(old, Node) or not isinstance(new, Node):
        return True
    return is_true(old.status.conditions, "Ready") != is_true(new.status.conditions, "Ready")
