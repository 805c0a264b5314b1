"""Taints that drive pods away: a pod on a node with a NoExecute taint goes, unless it endures it.

The rule, for the NoExecute taints of a node but those of node_life.py:
    a taint without a time gets the present one, so that a restart of this loop forgets nothing
    a pod that endures not all of them        goes at once
    one that endures all                      goes when the shortest tolerationSeconds of its tolerations is over, counted from
                                              the taint or the pod, whichever is younger; stays where none has any
    a pod that goes is marked (condition DisruptionTarget) first
Source     Kubernetes: taints and tolerations (NoExecute), pod disruption conditions.
"""

from __future__ import annotations

import msgspec

from kumi.api.core import Node, Pod, Taint, Toleration
from kumi.api.meta import Object, format_time, parse_time
from kumi.api.scheme import SCHEME
from kumi.bridge.conditions import Wanted, set_condition, to_json
from kumi.controllers.node_life import NOT_READY, UNREACHABLE
from kumi.jobs.templates import is_live
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Patch, Watches, Write
from kumi.runtime.view import View

NO_EXECUTE = "NoExecute"


class TaintEviction:
    """See the module."""

    name = "kumi-taint-eviction"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({Node: lambda node: (node.metadata.name,), Pod: _node_key})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        node = view.get(Node, "", key)
        taints = _driving(node) if node is not None else []
        if node is None or not taints:
            return NOTHING
        if any(taint.time_added is None for taint in taints):
            return Outcome((_timed(node, taints, now_ms),))
        writes: list[Write] = []
        wakes = []
        for pod in view.list(Pod):
            if pod.spec.node_name != key or not is_live(pod):
                continue
            due_ms = due(pod, taints)
            if due_ms is None:
                continue
            if now_ms >= due_ms:
                writes += _evicted(pod, now_ms)
            else:
                wakes.append(due_ms)
        return Outcome(tuple(writes), wake_at_ms=min(wakes, default=None))


def due(pod: Pod, taints: list[Taint]) -> int | None:
    """When a pod has to go from a node with these taints; None: never."""
    times = []
    for taint in taints:
        enduring = [each for each in pod.spec.tolerations if tolerates(each, taint)]
        if not enduring:
            return 0
        seconds = [max(0, each.toleration_seconds) for each in enduring if each.toleration_seconds is not None]
        if seconds:
            since_ms = max(parse_time(taint.time_added) or 0, parse_time(pod.metadata.creation_timestamp) or 0)
            times.append(since_ms + 1000 * min(seconds))
    return min(times, default=None)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration is about that taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value


def _driving(node: Node) -> list[Taint]:
    own = (NOT_READY, UNREACHABLE)
    return [taint for taint in node.spec.taints if taint.effect == NO_EXECUTE and taint.key not in own]


def _timed(node: Node, taints: list[Taint], now_ms: int) -> Patch:
    """Each taint that drives pods away with its time."""
    body = []
    for taint in node.spec.taints:
        built = {key: value for key, value in msgspec.to_builtins(taint).items() if value}
        if taint in taints:
            built.setdefault("timeAdded", format_time(now_ms))
        body.append(built)
    meta = {"resourceVersion": node.metadata.resource_version}
    return Patch(SCHEME.of(Node), "", node.metadata.name, {"metadata": meta, "spec": {"taints": body}})


def _evicted(pod: Pod, now_ms: int) -> list[Write]:
    kind, meta = SCHEME.of(Pod), pod.metadata
    text = "Taint manager: deleting due to NoExecute taint"
    wanted = Wanted("DisruptionTarget", "True", "DeletionByTaintManager", text)
    conditions = [c for c in set_condition(pod.status.conditions, wanted, now_ms) if c.type == wanted.type]
    body = {"status": {"conditions": to_json(conditions)}}
    mark = Patch(kind, meta.namespace, meta.name, body, subresource="status", type="strategic")
    return [mark, Delete(kind, meta.namespace, meta.name, meta.uid)]


def _node_key(pod: Object) -> tuple[str, ...]:
    return (pod.spec.node_name,) if isinstance(pod, Pod) and pod.spec.node_name else ()
