"""Pod groups for pods that name Volcano as their scheduler and come without one: of plain pods, and of whoever makes pods.

The rule   a pod without a group, and without a Workload, joins the group of its maker (of itself, where nobody made it):
             podgroup-<uid of the maker>, owned by the pod's owners (by the pod): it goes with them
             minMember       the maker's annotation scheduling.volcano.sh/group-min-member, else 1
             minResources    what minMember such pods ask for
             queue           the pod's annotation scheduling.volcano.sh/queue-name, else the maker's, else its namespace's say
             priority        the pod's class
             annotations and labels that start with volcano.sh/ are taken over, the pod's before the maker's
             deadline        what the maker says of time (kumi.jobs.due)
           a ReplicaSet or a StatefulSet that wants no pods has no group
           a maker's group goes on saying what its maker and the youngest of its pods say: minMember, minResources and priority;
             the queue, annotations and labels where they say some; what others added to it stays
Again      a group that is refused is tried again when a queue is there, or open, that wasn't.
Why        placement knows gangs only; a pod of its own is one of one.
Keys       `namespace/name` of a pod; `maker/Kind/namespace/name` of a maker.
Cost       O(pods of the maker) where what it says changes; O(pods) where a queue comes, opens or closes.
Source     Volcano: pod group controller.
Not here   pod groups of training jobs: kumi.jobs.gang.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from kumi.api import batch, core, quantity, volcano
from kumi.api.apps import DaemonSet, ReplicaSet, StatefulSet
from kumi.api.meta import Object, ObjectMeta, OwnerReference, owner_reference
from kumi.api.pod_requests import pod_requests
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.into.pod import lacks_group
from kumi.jobs.due import told
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


class GangsOfPods:
    """See the module."""

    name = "gangs-of-pods"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                volcano.PodGroup: no_keys,
                **{type_: _maker_keys(kind) for kind, type_ in MAKERS.items()},
                core.Pod: _pod_keys,
                volcano.Queue: no_keys,
            },
            related={volcano.Queue: _those_without},
            matters={**dict.fromkeys(MAKERS.values(), _says_otherwise), volcano.Queue: _opens_or_closes},
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        parts = key.split("/")
        if parts[0] == "maker" and len(parts) == 4:
            return _of_maker(view, parts[1], parts[2], parts[3])
        pod = view.get(core.Pod, parts[0], parts[1])
        if pod is None or not lacks_group(pod) or pod.metadata.deletion_timestamp is not None:
            return NOTHING
        wanted = _group(view, pod, _name_of(pod))
        meta, name = pod.metadata, wanted["metadata"]["name"]
        known = view.get(volcano.PodGroup, meta.namespace, name)
        body: JsonObject = {"metadata": {"uid": meta.uid, "annotations": {volcano.GROUP_NAME_ANNOTATION: name}}}
        first = [Create(wanted)] if known is None else _mended(known, wanted)
        return Outcome((*first, Patch(SCHEME.of(core.Pod), meta.namespace, meta.name, body)))


def _pod_keys(obj: Object) -> tuple[str, ...]:
    return (obj.key,) if isinstance(obj, core.Pod) and lacks_group(obj) else ()


def _those_without(_: Object, view: View) -> tuple[str, ...]:
    """The pods that have no group yet: theirs may have been refused for want of this queue."""
    return tuple(pod.key for pod in view.list(core.Pod) if lacks_group(pod))


def _opens_or_closes(old: Object, new: Object) -> bool:
    """Of a queue, whose status is written with every gang."""
    return isinstance(old, volcano.Queue) and isinstance(new, volcano.Queue) and old.status.state != new.status.state


def _maker_keys(kind: str) -> Callable[[Object], tuple[str, ...]]:
    def keys(obj: Object) -> tuple[str, ...]:
        return (f"maker/{kind}/{obj.key}",)

    return keys


def _says_otherwise(old: Object, new: Object) -> bool:
    """Of a maker, whose status is written with every pod."""
    return old.metadata.annotations != new.metadata.annotations or _wants_none(old) != _wants_none(new)


def _wants_none(maker: Object) -> bool:
    return isinstance(maker, ReplicaSet | StatefulSet) and maker.spec.replicas == 0


def _of_maker(view: View, kind: str, namespace: str, name: str) -> Outcome:
    maker = view.get(MAKERS[kind], namespace, name)
    group = view.get(volcano.PodGroup, namespace, f"{PREFIX}{maker.metadata.uid}") if maker is not None else None
    if maker is None or group is None or group.metadata.deletion_timestamp is not None:
        return NOTHING
    if _wants_none(maker):
        return Outcome((Delete(SCHEME.of(volcano.PodGroup), namespace, group.metadata.name, group.metadata.uid),))
    pods = [pod for pod in view.owned(core.Pod, maker.metadata.uid) if _is_of(pod, group)]
    if not pods:
        return NOTHING
    youngest = max(pods, key=lambda pod: (pod.metadata.creation_timestamp, pod.key))
    return Outcome(tuple(_mended(group, _group(view, youngest, group.metadata.name))))


def _is_of(pod: core.Pod, group: volcano.PodGroup) -> bool:
    meta = pod.metadata
    return meta.annotations.get(volcano.GROUP_NAME_ANNOTATION) == group.metadata.name and not meta.deletion_timestamp


def _mended(group: volcano.PodGroup, wanted: JsonObject) -> list[Write]:
    """What makes the group say what it would say were it made now."""
    meta, spec = group.metadata, wanted["spec"]
    said: dict[str, Any] = {"metadata": {}, "spec": {}}
    for field, known in (("annotations", meta.annotations), ("labels", meta.labels)):
        other = {key: value for key, value in wanted["metadata"].get(field, {}).items() if known.get(key) != value}
        if other:
            said["metadata"][field] = other
    known_spec: JsonObject = msgspec.to_builtins(group.spec)
    resources = known_spec.get("minResources") or {}
    if resources != spec["minResources"]:
        said["spec"]["minResources"] = {**dict.fromkeys(resources), **spec["minResources"]}
    said["spec"] |= {f: spec[f] for f in ("minMember", "queue") if f in spec and known_spec.get(f) != spec[f]}
    priority = spec.get("priorityClassName")
    if (known_spec.get("priorityClassName") or None) != priority:
        said["spec"]["priorityClassName"] = priority
    if not any(said.values()):
        return []
    said["metadata"]["uid"] = meta.uid
    return [Patch(SCHEME.of(volcano.PodGroup), meta.namespace, meta.name, said)]


def _name_of(pod: core.Pod) -> str:
    maker = pod.metadata.controller
    return f"{PREFIX}{maker.uid if maker is not None else pod.metadata.uid}"


def _group(view: View, pod: core.Pod, name: str) -> JsonObject:
    meta, kind = pod.metadata, SCHEME.of(volcano.PodGroup)
    maker = _maker(view, pod)
    said = maker.annotations if maker is not None else {}
    least = _least(said.get(MIN_MEMBER))
    spec: JsonObject = {"minMember": least, "minResources": _needs(pod, least)}
    queue = meta.annotations.get(QUEUE_NAME) or said.get(QUEUE_NAME)
    if queue:
        spec["queue"] = queue
    if pod.spec.priority_class_name:
        spec["priorityClassName"] = pod.spec.priority_class_name
    metadata: JsonObject = {"namespace": meta.namespace, "name": name, "ownerReferences": _owners(pod)}
    annotations = {**_own(said), **_own(meta.annotations), **(told(maker) if maker is not None else {})}
    labels = _own(meta.labels)
    if annotations:
        metadata["annotations"] = annotations
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def _maker(view: View, pod: core.Pod) -> ObjectMeta | None:
    maker = pod.metadata.controller
    type_ = MAKERS.get(maker.kind) if maker is not None else None
    if maker is None or type_ is None:
        return None
    found = view.get(type_, pod.metadata.namespace, maker.name)
    return found.metadata if found is not None and found.metadata.uid == maker.uid else None


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
