"""What an object uses of a namespace's quota.

The rule, per kind and resource name:
    any kind         count/<plural>.<group> (count/<plural> in the core group): one each
    some             by their plural too: services, secrets, configmaps, persistentvolumeclaims, resourcequotas ...
    Pod              pods, cpu and requests.cpu, memory and requests.memory, limits.cpu, limits.memory, ephemeral storage alike,
                     requests.<device>, hugepages-<size>: as long as it has not ended
    Service          services.loadbalancers; services.nodeports: a port each, unless none is opened
    Claim            requests.storage, and both by storage class: <class>.storageclass.storage.k8s.io/requests.storage
    A quota with scopes counts pods only, those that all of its scopes hold for.
Why        A pod that has ended holds nothing of its node any more.
Units      thousand-millionths (kumi.api.quantity.nano).
Cost       O(containers x resources).
Source     Kubernetes: resource quotas (compute, storage, object count, scopes).
Not here   who refuses: kumi.registry.quota. Who writes the status: kumi.controllers.resource_quota.
"""

from __future__ import annotations

from kumi.api.pod_requests import Amounts, pod_limits, pod_requests
from kumi.api.quantity import nano, nano_text, unit_of
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject

ONE = 10**9
COUNTED = (
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
)
"""plurals of the core group that are quota resources by themselves"""
_PLAIN = ("cpu", "memory", "ephemeral-storage")
_ENDED = ("Succeeded", "Failed")
_CLASS = ".storageclass.storage.k8s.io/"
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def count_name(kind: Kind) -> str:
    """The resource that counts a kind's objects."""
    return f"count/{kind.resource}"


def concerns(kind: Kind, name: str) -> bool:
    """Whether objects of a kind can use that resource."""
    if name == count_name(kind):
        return True
    if kind.group or name.startswith("count/"):
        return False
    if kind.kind == "Pod":
        return _is_of_pods(name)
    if kind.kind == "Service":
        return name == "services" or name.startswith("services.")
    if kind.kind == "PersistentVolumeClaim":
        return name in ("persistentvolumeclaims", "requests.storage") or _CLASS in name
    return name == kind.plural and name in COUNTED


def used_by(kind: Kind, obj: JsonObject) -> Amounts:
    """Resource name -> amount that one object uses. QuantityError for what validation would have refused."""
    used = {count_name(kind): ONE}
    if kind.group:
        return used
    if kind.kind == "Pod":
        if (obj.get("status") or {}).get("phase") not in _ENDED:
            used |= {"pods": ONE, **_of_pod(obj.get("spec") or {})}
    elif kind.plural in COUNTED:
        used[kind.plural] = ONE
    if kind.kind == "Service":
        used |= _of_service(obj.get("spec") or {})
    elif kind.kind == "PersistentVolumeClaim":
        used |= _of_claim(obj)
    return used


def unsaid(pod: JsonObject, names: set[str]) -> dict[str, list[str]]:
    """Resources of these that a pod has to say for each container -> the containers that don't, sorted."""
    found: dict[str, list[str]] = {}
    spec = pod.get("spec") or {}
    for container in [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]:
        resources = container.get("resources") or {}
        said = {f"requests.{name}" for name in resources.get("requests") or {}}
        said |= set(resources.get("requests") or {}) | {f"limits.{name}" for name in resources.get("limits") or {}}
        for name in names:
            if _must_be_said(name) and name not in said:
                found.setdefault(name, []).append(str(container.get("name", "")))
    return {name: sorted(containers) for name, containers in sorted(found.items())}


def in_scope(quota_spec: JsonObject, kind: Kind, obj: JsonObject) -> bool:
    """Whether a quota counts that object."""
    terms = [{"scopeName": scope, "operator": "Exists"} for scope in quota_spec.get("scopes") or ()]
    terms += (quota_spec.get("scopeSelector") or {}).get("matchExpressions") or []
    if not terms:
        return True
    return kind.kind == "Pod" and not kind.group and all(_holds(term, obj.get("spec") or {}) for term in terms)


def amount_text(name: str, amount: int) -> str:
    """An amount as a quota's status has it: bytes that are whole Ki in binary, all else decimal."""
    in_bytes = name.rpartition("requests.")[2].removeprefix("limits.") in ("memory", "storage", "ephemeral-storage")
    binary = (in_bytes or "hugepages-" in name) and amount % (1024 * ONE) == 0
    return nano_text(amount, "binary" if binary else "decimal")


def _holds(term: JsonObject, spec: JsonObject) -> bool:
    scope = term.get("scopeName")
    if scope in ("Terminating", "NotTerminating"):
        ends = (spec.get("activeDeadlineSeconds") or -1) >= 0
        return ends if scope == "Terminating" else not ends
    if scope in ("BestEffort", "NotBestEffort"):
        asks = any(name in _PLAIN[:2] and amount for name, amount in {**_limits(spec), **_requests(spec)}.items())
        return asks if scope == "NotBestEffort" else not asks
    if scope == "PriorityClass":
        name, values = spec.get("priorityClassName") or "", term.get("values") or []
        return {
            "In": name in values,
            "NotIn": name not in values,
            "Exists": bool(name),
            "DoesNotExist": not name,
        }.get(str(term.get("operator")), False)
    if scope == "CrossNamespacePodAffinity":
        return _crosses(spec.get("affinity") or {})
    return False


def _crosses(affinity: JsonObject) -> bool:
    for part in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(part) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        weighted = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [rule.get("podAffinityTerm") or {} for rule in weighted]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False


def _of_pod(spec: JsonObject) -> Amounts:
    used: Amounts = {}
    for name, amount in _requests(spec).items():
        if name in _PLAIN or name.startswith("hugepages-"):
            used[name] = amount
        used[f"requests.{name}"] = amount
    for name, amount in _limits(spec).items():
        used[f"limits.{name}"] = amount
    return used


def _requests(spec: JsonObject) -> Amounts:
    return {name: amount * (ONE // unit_of(name)) for name, amount in pod_requests(spec).items()}


def _limits(spec: JsonObject) -> Amounts:
    return {name: amount * (ONE // unit_of(name)) for name, amount in pod_limits(spec).items()}


def _of_service(spec: JsonObject) -> Amounts:
    type_, ports = spec.get("type"), len(spec.get("ports") or ())
    opened = type_ == "NodePort" or (type_ == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False)
    return {"services.loadbalancers": ONE * (type_ == "LoadBalancer"), "services.nodeports": ONE * ports * opened}


def _of_claim(claim: JsonObject) -> Amounts:
    spec = claim.get("spec") or {}
    size = nano(((spec.get("resources") or {}).get("requests") or {}).get("storage") or 0)
    used = {"requests.storage": size}
    name = (claim["metadata"].get("annotations") or {}).get(_OLD_CLASS) or spec.get("storageClassName")
    if name:
        used |= {f"{name}{_CLASS}requests.storage": size, f"{name}{_CLASS}persistentvolumeclaims": ONE}
    return used


def _is_of_pods(name: str) -> bool:
    if name in ("pods", *_PLAIN) or name.startswith(("limits.", "hugepages-")):
        return True
    return name.startswith("requests.") and name != "requests.storage"


def _must_be_said(name: str) -> bool:
    """cpu and memory have no amount that could stand for what is not said."""
    return name.removeprefix("requests.").removeprefix("limits.") in ("cpu", "memory")
