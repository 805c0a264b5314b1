"""Nodes that went silent, and the pods that were on them.

The rule   silent    a node whose Lease (namespace kube-node-lease) was renewed longer than SILENT_MS ago: its condition
                     Ready turns Unknown. A node without a Lease is not judged.
           taints    node.kubernetes.io/unreachable while Ready is Unknown, node.kubernetes.io/not-ready while it is False,
                     none of the two while it is True; each with NoSchedule and NoExecute;
                     node.kubernetes.io/unschedulable with NoSchedule while the node is cordoned
           evict     a pod goes when its node has not been Ready for as long as the pod endures it: the tolerationSeconds
                     of its toleration, for ever where that has none, TOLERATED_MS where it has no toleration
           gone      a pod bound to a node that does not exist: it is marked (condition DisruptionTarget), and deleted
                     without grace GONE_MS later, since no kubelet will ever do so
Why        The mark gives the watch of nodes time to catch up, and survives a restart of this loop.
Source     Kubernetes: node heartbeats, taint-based evictions, pod garbage collection.
Not here   taints of others with NoExecute: taint_eviction.py.
"""

from __future__ import annotations

import msgspec

from kumi.api.coordination import Lease
from kumi.api.core import Node, Pod, Taint
from kumi.api.meta import find_condition, parse_time
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, set_all, set_condition, to_json
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Patch, Watches, Write
from kumi.runtime.view import View

LEASES = "kube-node-lease"
SILENT_MS = 40_000
TOLERATED_MS = 300_000
GONE_MS = 20_000
UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"
CORDONED = "node.kubernetes.io/unschedulable"
EFFECTS = ("NoSchedule", "NoExecute")
FOREVER = None


class NodeLife:
    """See the module."""

    name = "kumi-node-life"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches(
            {
                Node: lambda node: (node.metadata.name,),
                Lease: lambda lease: (lease.metadata.name,) if lease.metadata.namespace == LEASES else (),
                Pod: lambda pod: (pod.spec.node_name,) if isinstance(pod, Pod) and pod.spec.node_name else (),
            }
        )

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        node = view.get(Node, "", key)
        if node is None:
            return _gone([p for p in view.list(Pod) if p.spec.node_name == key], now_ms)
        lease = view.get(Lease, LEASES, key)
        renewed_ms = parse_time(lease.spec.renew_time) if lease is not None else None
        ready = find_condition(node.status.conditions, "Ready")
        wake_at_ms = None
        if renewed_ms is not None:
            wake_at_ms = renewed_ms + SILENT_MS + 1
            if now_ms >= wake_at_ms:
                wake_at_ms = None
                if ready is None or ready.status != "Unknown":
                    return Outcome((_silent(node, now_ms),))
        status = ready.status if ready is not None else "False"
        writes: list[Write] = [*_tainted(node, status)]
        if status != "True" and ready is not None:
            since_ms = parse_time(ready.last_transition_time) or now_ms
            pods = [p for p in view.list(Pod) if p.spec.node_name == key]
            evictions, next_ms = _evicted(pods, UNREACHABLE if status == "Unknown" else NOT_READY, since_ms, now_ms)
            writes.extend(evictions)
            wake_at_ms = min((t for t in (wake_at_ms, next_ms) if t is not None), default=None)
        return Outcome(tuple(writes), wake_at_ms=wake_at_ms)


def _silent(node: Node, now_ms: int) -> Patch:
    wanted = Wanted("Ready", "Unknown", "NodeStatusUnknown", "The kubelet has stopped renewing its lease.")
    conditions = [c for c in set_all(node.status.conditions, [wanted], now_ms) if c.type == "Ready"]
    body = {"status": {"conditions": to_json(conditions)}}
    return Patch(SCHEME.of(Node), "", node.metadata.name, body, subresource="status", type="strategic")


def _tainted(node: Node, status: str) -> list[Patch]:
    """The change of our taints, if there is one to make."""
    key = {"Unknown": UNREACHABLE, "False": NOT_READY}.get(status, "")
    wanted = [(key, effect) for effect in EFFECTS] if key else []
    if node.spec.unschedulable:
        wanted.append((CORDONED, "NoSchedule"))
    ours = [(t.key, t.effect) for t in node.spec.taints if t.key in (UNREACHABLE, NOT_READY, CORDONED)]
    if sorted(ours) == sorted(wanted):
        return []
    kept = [t for t in node.spec.taints if t.key not in (UNREACHABLE, NOT_READY, CORDONED)]
    taints = [_taint_json(t) for t in [*kept, *(Taint(key=k, effect=e) for k, e in wanted)]]
    meta = {"resourceVersion": node.metadata.resource_version}
    return [Patch(SCHEME.of(Node), "", node.metadata.name, {"metadata": meta, "spec": {"taints": taints or None}})]


def _taint_json(taint: Taint) -> JsonObject:
    return {key: value for key, value in msgspec.to_builtins(taint).items() if value}


def _evicted(pods: list[Pod], taint: str, since_ms: int, now_ms: int) -> tuple[list[Delete], int | None]:
    """Those whose time is over, and when the next one's will be."""
    deletes, next_ms = [], None
    for pod in pods:
        if pod.metadata.deletion_timestamp is not None or pod.status.phase in ("Succeeded", "Failed"):
            continue
        endured_ms = _endured_ms(pod, taint)
        if endured_ms is FOREVER:
            continue
        due_ms = since_ms + endured_ms
        if now_ms >= due_ms:
            deletes.append(Delete(SCHEME.of(Pod), pod.metadata.namespace, pod.metadata.name, pod.metadata.uid))
        else:
            next_ms = min(due_ms, next_ms or due_ms)
    return deletes, next_ms


def _endured_ms(pod: Pod, taint: str) -> int | None:
    """How long a pod endures the taint; FOREVER."""
    endured = []
    for toleration in pod.spec.tolerations:
        names_it = toleration.key == taint or (not toleration.key and toleration.operator == "Exists")
        plain = toleration.operator == "Exists" or not toleration.value
        if names_it and plain and toleration.effect in ("", "NoExecute"):
            if toleration.toleration_seconds is None:
                return FOREVER
            endured.append(max(0, toleration.toleration_seconds) * 1000)
    return min(endured, default=TOLERATED_MS)


def _gone(pods: list[Pod], now_ms: int) -> Outcome:
    kind = SCHEME.of(Pod)
    writes: list[Write] = []
    wake_at_ms = None
    for pod in pods:
        meta = pod.metadata
        if pod.status.phase in ("Succeeded", "Failed") and meta.deletion_timestamp is None:
            continue
        mark = find_condition(pod.status.conditions, "DisruptionTarget")
        if mark is None or mark.reason != "DeletionByPodGC":
            wanted = Wanted("DisruptionTarget", "True", "DeletionByPodGC", "Its node does not exist.")
            conditions = [c for c in set_condition(pod.status.conditions, wanted, now_ms) if c.type == wanted.type]
            body = {"status": {"conditions": to_json(conditions)}}
            writes.append(Patch(kind, meta.namespace, meta.name, body, subresource="status", type="strategic"))
            due_ms = now_ms + GONE_MS
        else:
            due_ms = (parse_time(mark.last_transition_time) or now_ms) + GONE_MS
            if now_ms >= due_ms:
                writes.append(Delete(kind, meta.namespace, meta.name, meta.uid, grace_seconds=0))
                continue
        wake_at_ms = min(due_ms, wake_at_ms or due_ms)
    return Outcome(tuple(writes), wake_at_ms=wake_at_ms) if writes or wake_at_ms else NOTHING
