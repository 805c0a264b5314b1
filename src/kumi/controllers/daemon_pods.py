"""Which nodes a DaemonSet has a pod on, and the pod of a node.

The rule, for a node
    wanted    the template names no other node, its node selector and required affinity hold on the node's labels, and its
              tolerations and those of every daemon endure the node's NoSchedule and NoExecute taints
    kept      the same, NoSchedule taints aside: a pod that is there stays where no new one would go
The pod    that of the template, with the tolerations of every daemon, and a required affinity to the node's own name in place of
           the field of each term: the scheduler binds it like any other pod, and nowhere else.
Daemons    endure that a node is not ready or unreachable for ever, short of memory, disk or process ids, and cordoned; on the
           host's network also that the node has none.
Source     Kubernetes: DaemonSet (how daemon pods are scheduled, taints and tolerations).
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from dataclasses import dataclass

import msgspec

from kumi.api.apps import DaemonSet
from kumi.api.core import Node, Pod, PodSpec
from kumi.api.wire import JsonObject
from kumi.bridge.into.node import labels_of
from kumi.bridge.into.shape import NAME_FIELD, Shapes
from kumi.controllers.controller_revisions import HASH, Revision
from kumi.engine import model
from kumi.engine.selectors import affinity_holds, tolerates
from kumi.jobs.pod_names import pod_name
from kumi.jobs.templates import pod_of

KIND = ("apps/v1", "DaemonSet")
NO_NETWORK = "node.kubernetes.io/network-unavailable"
ENDURED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True)
class Fit:
    """What a node is for a DaemonSet."""

    wanted: bool
    kept: bool


class Selection:
    """The nodes that a DaemonSet's template is meant for."""

    def __init__(self, found: DaemonSet) -> None:
        spec = msgspec.convert(found.spec.template.get("spec") or {}, PodSpec)
        bare = PodSpec(node_selector=spec.node_selector, tolerations=spec.tolerations, affinity=spec.affinity)
        self._node_name, self._shape = spec.node_name, Shapes().of(bare)
        extra = tolerations(found.spec.template.get("spec") or {})
        everybody = (model.Toleration(each["key"], each["operator"], "", each["effect"]) for each in extra)
        self._tolerations = (*self._shape.tolerations, *everybody)

    def fit(self, node: Node) -> Fit:
        """See the module."""
        here = labels_of(node)
        if self._node_name not in ("", node.metadata.name):
            return Fit(wanted=False, kept=False)
        if any(here.get(key) != value for key, value in self._shape.node_selector):
            return Fit(wanted=False, kept=False)
        if not affinity_holds(self._shape.affinity, here):
            return Fit(wanted=False, kept=False)
        taints = [model.Taint(each.key, each.value, each.effect) for each in node.spec.taints]
        effects = [taint.effect for taint in taints if not any(tolerates(each, taint) for each in self._tolerations)]
        kept = "NoExecute" not in effects
        return Fit(wanted=kept and "NoSchedule" not in effects, kept=kept)


def tolerations(spec: JsonObject) -> list[JsonObject]:
    """Those of every daemon whose pods have this spec."""
    endured = [*ENDURED, (NO_NETWORK, "NoSchedule")] if spec.get("hostNetwork") else ENDURED
    return [{"key": key, "operator": "Exists", "effect": effect} for key, effect in endured]


def pod_for(found: DaemonSet, node: str, revision: Revision, taken: Collection[str]) -> JsonObject:
    """The pod of a node, under a name that is not `taken`."""
    meta = found.metadata
    name = pod_name(meta.uid, f"{meta.name}-", taken, f"{node}/{meta.resource_version}")
    pod = pod_of(found, KIND, revision.template, name, {HASH: revision.hash})
    pod["metadata"]["generateName"] = f"{meta.name}-"
    spec = pod["spec"]
    there = spec.get("tolerations") or []
    spec["tolerations"] = [*there, *(each for each in tolerations(spec) if each not in there)]
    spec["affinity"] = _pinned(spec.get("affinity") or {}, node)
    return pod


def node_of(pod: Pod) -> str:
    """The node that a pod is on, or is meant for while no node has it; "" for none."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = (pod.spec.affinity or {}).get("nodeAffinity") or {}
    for term in (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field.get("key") == NAME_FIELD and field.get("operator") == "In" and len(field.get("values") or ()) == 1:
                return str(field["values"][0])
    return ""


def _pinned(affinity: JsonObject, node: str) -> JsonObject:
    made = deepcopy(affinity)
    near = made.setdefault("nodeAffinity", {})
    terms = (near.get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    field = {"key": NAME_FIELD, "operator": "In", "values": [node]}
    near[_REQUIRED] = {"nodeSelectorTerms": [{**term, "matchFields": [field]} for term in terms]}
    return made
