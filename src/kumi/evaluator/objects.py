"""Objects: the engine's nouns as the API objects that they are read from, for settings that were made without any.

The rule   what kumi.bridge.into reads of the object that `objects_of` makes of a noun is that noun again; where the API keeps a
           part of it in the status (a node's resources, whether it is ready), that part is the status of the manifest
           what the bridge adds by itself (a node's name among its labels) is not written
Not here   jobs: job_objects.py. Nouns that others work out from objects (pods, workloads, what a volume claim waits for):
           they are given as objects, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kumi.api.errors import KumiError
from kumi.api.meta import format_time
from kumi.api.quantity import format_amount, nano_text
from kumi.api.wire import JsonObject
from kumi.bridge.into.shape import NAME_FIELD
from kumi.engine.gangs import DisruptionBudget, NodeGroups, PriorityClass, Queue
from kumi.engine.model import (
    AdmissionCheck,
    Amounts,
    ClusterQueue,
    Cohort,
    Evictable,
    Flavor,
    LocalQueue,
    Namespace,
    Node,
    Noun,
    Preemption,
    Quota,
    Requirement,
    ResourceGroup,
    StopPolicy,
    Taint,
    Toleration,
    Topology,
    VolumeLimits,
)

KUEUE = "kueue.x-k8s.io/v1beta2"
VOLCANO = "scheduling.volcano.sh/v1beta1"
NANO = 10**9
MAY_STOP, GO_ON = "MayStopSearch", "TryNextFlavor"


def object_of(noun: Noun) -> JsonObject:
    """The manifest. KumiError for a noun that is no object's alone."""
    make = _MAKERS.get(type(noun))
    if make is None:
        kind = type(noun).__name__
        raise KumiError(
            f"a setting of the engine's nouns with a {kind} has no objects: at stack speed it is given as YAML"
        )
    return make(noun)


def kind_of(type_: type[Noun]) -> tuple[str, str]:
    """(apiVersion, kind) of the objects of a noun. KumiError as of `object_of`."""
    found = _KINDS.get(type_)
    if found is None:
        raise KumiError(f"the engine's {type_.__name__} is no object's alone: at stack speed it is given as YAML")
    return found


def taint_json(taint: Taint) -> JsonObject:
    """A taint as the API has it."""
    return {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}


def toleration_json(toleration: Toleration) -> JsonObject:
    """A toleration as the API has it."""
    said = {"key": toleration.key, "value": toleration.value, "effect": toleration.effect}
    return {"operator": toleration.operator, **{key: text for key, text in said.items() if text}}


def requirement_json(requirement: Requirement) -> JsonObject:
    """A term of a selector as the API has it."""
    made: JsonObject = {"key": requirement.key, "operator": requirement.operator}
    return made | ({"values": list(requirement.values)} if requirement.values else {})


def selector_json(terms: Sequence[Requirement]) -> JsonObject:
    """A label selector as the API has it."""
    return {"matchExpressions": [requirement_json(term) for term in terms]} if terms else {}


def quantities(amounts: Sequence[tuple[str, int]] | Amounts) -> JsonObject:
    """Amounts in base units as quantities."""
    pairs = amounts.items() if isinstance(amounts, dict) else amounts
    return {name: format_amount(name, amount) for name, amount in pairs}


# nodes and namespaces


def _node(noun: Node) -> JsonObject:
    labels = {key: value for key, value in noun.labels if key != NAME_FIELD}
    amounts = quantities(noun.allocatable)
    spec: JsonObject = {"taints": [taint_json(taint) for taint in noun.taints]} if noun.taints else {}
    if noun.unschedulable:
        spec["unschedulable"] = True
    status: JsonObject = {
        "capacity": amounts,
        "allocatable": amounts,
        "conditions": [ready_condition(ready=noun.ready)],
    }
    if noun.images:
        status["images"] = [{"names": [name], "sizeBytes": size} for name, size in noun.images]
    meta = {"name": noun.name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}


def reported(manifest: JsonObject) -> JsonObject:
    """The manifest; of a node about which it doesn't say how it is: with the report that it is ready."""
    status = manifest.get("status") or {}
    if manifest.get("kind") != "Node" or status.get("conditions"):
        return manifest
    return {**manifest, "status": {**status, "conditions": [ready_condition(ready=True)]}}


def ready_condition(*, ready: bool, now_ms: int = 0) -> JsonObject:
    """Of a node."""
    said = ("True", "KubeletReady") if ready else ("False", "NodeLost")
    at = format_time(now_ms)
    return {"type": "Ready", "status": said[0], "reason": said[1], "lastTransitionTime": at, "lastHeartbeatTime": at}


def _namespace(noun: Namespace) -> JsonObject:
    return _made("v1", "Namespace", {"name": noun.name, "labels": dict(noun.labels)})


def _priority_class(noun: PriorityClass) -> JsonObject:
    made = _made("scheduling.k8s.io/v1", "PriorityClass", {"name": noun.name})
    return made | {"value": noun.value} | ({"globalDefault": True} if noun.default else {})


def _volume_limits(noun: VolumeLimits) -> JsonObject:
    drivers = [{"name": name, "nodeID": noun.node, "allocatable": {"count": most}} for name, most in noun.most]
    return _made("storage.k8s.io/v1", "CSINode", {"name": noun.node}, {"drivers": drivers})


def _budget(noun: DisruptionBudget) -> JsonObject:
    """How many may go is its controller's to say: `allowed` is not written."""
    namespace, _, name = noun.key.partition("/")
    spec: JsonObject = {"maxUnavailable": noun.allowed}
    if noun.selector is not None:
        spec["selector"] = selector_json(noun.selector)
    return _made("policy/v1", "PodDisruptionBudget", {"namespace": namespace, "name": name}, spec)


# queues of workloads


def _flavor(noun: Flavor) -> JsonObject:
    spec: JsonObject = {}
    if noun.node_labels:
        spec["nodeLabels"] = dict(noun.node_labels)
    if noun.taints:
        spec["nodeTaints"] = [taint_json(taint) for taint in noun.taints]
    if noun.tolerations:
        spec["tolerations"] = [toleration_json(toleration) for toleration in noun.tolerations]
    if noun.topology:
        spec["topologyName"] = noun.topology
    return _made(KUEUE, "ResourceFlavor", {"name": noun.name}, spec)


def _topology(noun: Topology) -> JsonObject:
    return _made(KUEUE, "Topology", {"name": noun.name}, {"levels": [{"nodeLabel": label} for label in noun.levels]})


def _check(noun: AdmissionCheck) -> JsonObject:
    made = _made(KUEUE, "AdmissionCheck", {"name": noun.name}, {"controllerName": noun.controller})
    said = {"type": "Active", "status": "True" if noun.active else "False", "reason": "Setting", "message": ""}
    return made | {"status": {"conditions": [said | {"lastTransitionTime": format_time(0)}]}}


def _cohort(noun: Cohort) -> JsonObject:
    spec: JsonObject = {"parentName": noun.parent} if noun.parent else {}
    if noun.groups:
        spec["resourceGroups"] = _groups(noun.groups)
    return _made(KUEUE, "Cohort", {"name": noun.name}, spec | _share(noun.weight))


def _cluster_queue(noun: ClusterQueue) -> JsonObject:
    spec: JsonObject = {"resourceGroups": _groups(noun.groups), "queueingStrategy": noun.strategy.value}
    if noun.stop is not StopPolicy.NONE:
        spec["stopPolicy"] = noun.stop.value
    if noun.selector is not None:
        spec["namespaceSelector"] = selector_json(noun.selector)
    if noun.cohort:
        spec["cohortName"] = noun.cohort
    if noun.preemption != Preemption():
        spec["preemption"] = _preemption(noun.preemption)
    ways = noun.fungibility
    spec["flavorFungibility"] = {
        "whenCanBorrow": MAY_STOP if ways.stop_at_borrowing else GO_ON,
        "whenCanPreempt": MAY_STOP if ways.stop_at_preemption else GO_ON,
    }
    if ways.prefer_preemption:
        spec["flavorFungibility"]["preference"] = "PreemptionOverBorrowing"
    if noun.checks:
        rules = [{"name": c.name, **({"onFlavors": list(c.flavors)} if c.flavors else {})} for c in noun.checks]
        spec["admissionChecksStrategy"] = {"admissionChecks": rules}
    if noun.by_usage:
        spec["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    return _made(KUEUE, "ClusterQueue", {"name": noun.name}, spec | _share(noun.weight))


def _preemption(noun: Preemption) -> JsonObject:
    made: JsonObject = {"withinClusterQueue": noun.within.value, "reclaimWithinCohort": noun.reclaim.value}
    if noun.borrowing is not Evictable.NEVER:
        borrowing: JsonObject = {"policy": noun.borrowing.value}
        if noun.borrowing_threshold is not None:
            borrowing["maxPriorityThreshold"] = noun.borrowing_threshold
        made["borrowWithinCohort"] = borrowing
    return made


def _groups(groups: Sequence[ResourceGroup]) -> list[JsonObject]:
    return [
        {
            "coveredResources": list(group.resources),
            "flavors": [
                {"name": flavor.flavor, "resources": [_quota(name, quota) for name, quota in flavor.quotas]}
                for flavor in group.flavors
            ],
        }
        for group in groups
    ]


def _quota(resource: str, quota: Quota) -> JsonObject:
    made: JsonObject = {"name": resource, "nominalQuota": format_amount(resource, quota.nominal)}
    for field, limit in (("borrowingLimit", quota.borrowing_limit), ("lendingLimit", quota.lending_limit)):
        if limit is not None:
            made[field] = format_amount(resource, limit)
    return made


def _local_queue(noun: LocalQueue) -> JsonObject:
    namespace, _, name = noun.key.partition("/")
    spec: JsonObject = {"clusterQueue": noun.cluster_queue} | _share(noun.weight)
    if noun.stop is not StopPolicy.NONE:
        spec["stopPolicy"] = noun.stop.value
    return _made(KUEUE, "LocalQueue", {"namespace": namespace, "name": name}, spec)


def _share(weight: float) -> JsonObject:
    return {} if weight == 1.0 else {"fairSharing": {"weight": nano_text(round(weight * NANO))}}


# queues of gangs


def _queue(noun: Queue) -> JsonObject:
    spec: JsonObject = {"weight": noun.weight, "reclaimable": noun.reclaimable}
    for field, amounts in (("capability", noun.capability), ("deserved", noun.deserved)):
        if amounts:
            spec[field] = quantities(amounts)
    if noun.guarantee:
        spec["guarantee"] = {"resource": quantities(noun.guarantee)}
    if noun.priority:
        spec["priority"] = noun.priority
    if noun.parent:
        spec["parent"] = noun.parent
    if noun.groups is not None:
        spec["affinity"] = _node_groups(noun.groups)
    meta: JsonObject = {"name": noun.name}
    if noun.hierarchy:
        weights = "/".join(f"{weight:g}" for weight in noun.weights)
        meta["annotations"] = {
            "volcano.sh/hierarchy": "/".join(noun.hierarchy),
            "volcano.sh/hierarchy-weights": weights,
        }
    return _made(VOLCANO, "Queue", meta, spec) | {"status": {"state": noun.state.value}}


def _node_groups(groups: NodeGroups) -> JsonObject:
    hard, soft = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
    return {
        "nodeGroupAffinity": {hard: list(groups.required), soft: list(groups.preferred)},
        "nodeGroupAntiAffinity": {hard: list(groups.anti_required), soft: list(groups.anti_preferred)},
    }


def _made(version: str, kind: str, meta: JsonObject, spec: JsonObject | None = None) -> JsonObject:
    made: JsonObject = {"apiVersion": version, "kind": kind, "metadata": meta}
    return made if spec is None else made | {"spec": spec}


_MAKERS: dict[type[Noun], Callable[[Any], JsonObject]] = {
    Node: _node,
    Namespace: _namespace,
    PriorityClass: _priority_class,
    DisruptionBudget: _budget,
    VolumeLimits: _volume_limits,
    Flavor: _flavor,
    Topology: _topology,
    AdmissionCheck: _check,
    Cohort: _cohort,
    ClusterQueue: _cluster_queue,
    LocalQueue: _local_queue,
    Queue: _queue,
}

_KINDS: dict[type[Noun], tuple[str, str]] = {
    Node: ("v1", "Node"),
    Namespace: ("v1", "Namespace"),
    PriorityClass: ("scheduling.k8s.io/v1", "PriorityClass"),
    DisruptionBudget: ("policy/v1", "PodDisruptionBudget"),
    VolumeLimits: ("storage.k8s.io/v1", "CSINode"),
    Flavor: (KUEUE, "ResourceFlavor"),
    Topology: (KUEUE, "Topology"),
    AdmissionCheck: (KUEUE, "AdmissionCheck"),
    Cohort: (KUEUE, "Cohort"),
    ClusterQueue: (KUEUE, "ClusterQueue"),
    LocalQueue: (KUEUE, "LocalQueue"),
    Queue: (VOLCANO, "Queue"),
}
