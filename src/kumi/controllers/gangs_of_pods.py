"""Pod groups for pods that name Volcano as their scheduler and come without one: of plain pods, and of whoever makes pods.

The rule   a pod without a group, and without a Workload, joins the group of its maker (of itself, where nobody made it):
             podgroup-<uid of the maker>, owned by the pod's owners (by the pod): it goes with them
             minMember       the maker's annotation scheduling.volcano.sh/group-min-member, else 1
             minResources    what minMember such pods ask for
             queue           the pod's annotation scheduling.volcano.sh/queue-name, else the maker's, else its namespace's say
             priority        the pod's class
             annotations and labels that start with volcano.sh/ are taken over, the pod's before the maker's
           a ReplicaSet or a StatefulSet that wants no pods has no group
Why        placement knows gangs only; a pod of its own is one of one.
Keys       `namespace/name` of a pod; `set/Kind/namespace/name` of a maker.
Source     Volcano: pod group controller.
Not here   pod groups of training jobs: kumi.jobs.gang.
"""

from __future__ import annotations

from collections.abc import Callable

from kumi.api import batch, core, quantity, volcano
from kumi.api.apps import DaemonSet, ReplicaSet, StatefulSet
from kumi.api.meta import Object, OwnerReference, owner_reference
from kumi.api.pod_requests import pod_requests
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.into.pod import lacks_group
from kumi.runtime.reconcile import NOTHING, Create, Delete, Outcome, Patch, Watches, Write, no_keys
from kumi.runtime.view import View

PREFIX = "podgroup-"
OWN = "volcano.sh/"
"""the prefix of what is taken over"""
MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
MAKERS: dict[str, type[Object]] = {
    "ReplicaSet": ReplicaSet,
    "StatefulSet": StatefulSet,
    "DaemonSet": DaemonSet,
    "Job": batch.Job,
}
SETS: dict[str, type[ReplicaSet | StatefulSet]] = {"ReplicaSet": ReplicaSet, "StatefulSet": StatefulSet}


class GangsOfPods:
    """See the module."""

    name = "gangs-of-pods"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                DaemonSet: no_keys,
                batch.Job: no_keys,
                volcano.PodGroup: no_keys,
                ReplicaSet: _set_keys("ReplicaSet"),
                StatefulSet: _set_keys("StatefulSet"),
                core.Pod: _pod_keys,
            }
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        parts = key.split("/")
        if parts[0] == "set" and len(parts) == 4:
            return _of_set(view, SETS[parts[1]], parts[2], parts[3])
        pod = view.get(core.Pod, parts[0], parts[1])
        if pod is None or not lacks_group(pod) or pod.metadata.deletion_timestamp is not None:
            return NOTHING
        name = _name_of(pod)
        writes: list[Write] = []
        if view.get(volcano.PodGroup, pod.metadata.namespace, name) is None:
            writes.append(Create(_group(view, pod, name)))
        meta = pod.metadata
        body: JsonObject = {"metadata": {"uid": meta.uid, "annotations": {volcano.GROUP_NAME_ANNOTATION: name}}}
        writes.append(Patch(SCHEME.of(core.Pod), meta.namespace, meta.name, body))
        return Outcome(tuple(writes))


def _pod_keys(obj: Object) -> tuple[str, ...]:
    return (obj.key,) if isinstance(obj, core.Pod) and lacks_group(obj) else ()


def _set_keys(kind: str) -> Callable[[Object], tuple[str, ...]]:
    def keys(obj: Object) -> tuple[str, ...]:
        return (f"set/{kind}/{obj.key}",)

    return keys


def _of_set(view: View, type_: type[ReplicaSet | StatefulSet], namespace: str, name: str) -> Outcome:
    found = view.get(type_, namespace, name)
    if found is None or found.spec.replicas != 0:
        return NOTHING
    group = view.get(volcano.PodGroup, namespace, f"{PREFIX}{found.metadata.uid}")
    if group is None or group.metadata.deletion_timestamp is not None:
        return NOTHING
    kind = SCHEME.of(volcano.PodGroup)
    return Outcome((Delete(kind, namespace, group.metadata.name, group.metadata.uid),))


def _name_of(pod: core.Pod) -> str:
    maker = pod.metadata.controller
    return f"{PREFIX}{maker.uid if maker is not None else pod.metadata.uid}"


def _group(view: View, pod: core.Pod, name: str) -> JsonObject:
    meta, kind = pod.metadata, SCHEME.of(volcano.PodGroup)
    said = _said_of_maker(view, pod)
    least = _least(said.get(MIN_MEMBER))
    spec: JsonObject = {"minMember": least, "minResources": _needs(pod, least)}
    queue = meta.annotations.get(QUEUE_NAME) or said.get(QUEUE_NAME)
    if queue:
        spec["queue"] = queue
    if pod.spec.priority_class_name:
        spec["priorityClassName"] = pod.spec.priority_class_name
    metadata: JsonObject = {"namespace": meta.namespace, "name": name, "ownerReferences": _owners(pod)}
    annotations = {**_own(said), **_own(meta.annotations)}
    labels = _own(meta.labels)
    if annotations:
        metadata["annotations"] = annotations
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def _said_of_maker(view: View, pod: core.Pod) -> dict[str, str]:
    maker = pod.metadata.controller
    type_ = MAKERS.get(maker.kind) if maker is not None else None
    if maker is None or type_ is None:
        return {}
    found = view.get(type_, pod.metadata.namespace, maker.name)
    return found.metadata.annotations if found is not None and found.metadata.uid == maker.uid else {}


def _least(text: str | None) -> int:
    """As many as that says; 1 where it can't be read."""
    return int(text) if text is not None and text.isascii() and text.isdecimal() and int(text) < 2**31 else 1


def _needs(pod: core.Pod, pods: int) -> JsonObject:
    requests = {**pod_requests(pod.spec), "pods": 1000}
    return {r: quantity.format_amount(r, amount * pods) for r, amount in sorted(requests.items()) if amount * pods}


def _own(said: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in said.items() if key.startswith(OWN)}


def _owners(pod: core.Pod) -> list[JsonObject]:
    if pod.metadata.controller is None:
        return [owner_reference(pod, "v1", "Pod")]
    return [_reference(owner) for owner in pod.metadata.owner_references]


def _reference(owner: OwnerReference) -> JsonObject:
    made: JsonObject = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
    if owner.controller is not None:
        made["controller"] = owner.controller
    if owner.block_owner_deletion is not None:
        made["blockOwnerDeletion"] = owner.block_owner_deletion
    return made
