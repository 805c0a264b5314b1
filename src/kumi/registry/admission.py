"""Admission that is part of the API itself: it reads other objects, which the hooks of `hooks.py` can't.

    namespace     nothing is created in a namespace that is not there (404) or is being terminated (403)
    priority      a pod gets the number and the preemption policy of its priority class; one that names none gets the
                  class that is the global default (the lowest, if several claim it), or 0
    address       a service gets a cluster address that no other has (kumi.registry.kinds.services)
All happen on CREATE only: an object that is there keeps what it got, and may be changed in a terminating namespace.
Source     Kubernetes: namespaces, pod priority and preemption; admission plug-ins NamespaceLifecycle and Priority.
"""

from __future__ import annotations

from kumi.api.errors import FieldError, not_found
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.environment import Environment
from kumi.registry.kinds.services import allocate
from kumi.registry.objects import prefix_of
from kumi.registry.refusals import forbidden

PREEMPT = "PreemptLowerPriority"


def admit_namespace(env: Environment, kind: Kind, namespace: str, name: str) -> None:
    """ApiError 404, 403."""
    namespaces = env.scheme.find("", "Namespace")
    if not kind.namespaced or namespaces is None:
        return
    found = env.objects.get(namespaces, "", namespace)
    if found is None:
        raise not_found("namespaces", namespace)
    phase = (found.object.get("status") or {}).get("phase")
    if phase == "Terminating" or found.object["metadata"].get("deletionTimestamp"):
        raise forbidden(
            kind,
            name,
            f"unable to create new content in namespace {namespace} because it is being terminated",
            [
                {
                    "reason": "NamespaceTerminating",
                    "message": f"namespace {namespace} is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        )


def admit_priority(env: Environment, kind: Kind, pod: JsonObject) -> None:
    """Sets the pod's priority. ApiError 403."""
    classes = env.scheme.find("scheduling.k8s.io", "PriorityClass")
    if kind.group or kind.kind != "Pod" or classes is None:
        return
    spec, name = pod["spec"], pod["metadata"].get("name", "")
    wanted = spec.get("priorityClassName")
    if wanted:
        found = env.objects.get(classes, "", wanted)
        if found is None:
            raise forbidden(kind, name, f"no PriorityClass with name {wanted} was found")
        chosen: JsonObject = found.object
    else:
        chosen = _default_class(env, classes)
        if chosen:
            spec["priorityClassName"] = chosen["metadata"]["name"]
    value, policy = int(chosen.get("value") or 0), chosen.get("preemptionPolicy") or PREEMPT
    if spec.get("priority") not in (None, value):
        raise forbidden(kind, name, _given("integer", "priority", spec["priority"], value))
    if spec.get("preemptionPolicy") not in (None, policy):
        raise forbidden(kind, name, _given("string", "PreemptionPolicy", spec["preemptionPolicy"], policy))
    spec["priority"], spec["preemptionPolicy"] = value, policy


def admit_address(env: Environment, kind: Kind, service: JsonObject) -> list[FieldError]:
    """Allocates the service's address; every wrong field."""
    if kind.group or kind.kind != "Service":
        return []
    services = (env.objects.listed(entry) for entry in env.objects.page(prefix_of(kind, "")).entries)
    return allocate(service, {(other.get("spec") or {}).get("clusterIP", "") for other in services})


def _default_class(env: Environment, classes: Kind) -> JsonObject:
    """The class for pods that name none; an empty object if there is none."""
    entries = env.objects.page(prefix_of(classes, "")).entries
    found = [c for c in (env.objects.found(e).object for e in entries) if c.get("globalDefault")]
    return min(found, key=lambda c: (int(c.get("value") or 0), c["metadata"]["name"]), default={})


def _given(type_: str, field: str, asked: object, computed: object) -> str:
    return (
        f"the {type_} value of {field} ({asked}) must not be provided in pod spec; "
        f"priority admission controller computed {computed} from the given PriorityClass name"
    )
