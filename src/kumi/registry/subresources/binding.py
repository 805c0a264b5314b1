"""binding: puts a pod on a node, once and for good.

Refused    409  the pod is bound, is being deleted, has a scheduling gate, or is not the one with that uid
           422  the target is no node, or has no name
Labels and annotations of the Binding go onto the pod.
Source     Kubernetes: Binding, pod scheduling readiness; its behaviour as recorded.
"""

from __future__ import annotations

from kumi.api.errors import ApiError, FieldError, conflict
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry import metadata
from kumi.registry.environment import Environment
from kumi.registry.objects import Found
from kumi.registry.refusals import invalid_as
from kumi.registry.requests import Target, WriteOptions
from kumi.registry.writing import Writing

SCHEDULED = "PodScheduled"


async def bind(
    env: Environment, writing: Writing, target: Target, body: JsonObject, options: WriteOptions
) -> JsonObject:
    """A Status. ApiError 404, 409, 422."""
    node = _node(target, body)

    def wanted(found: Found) -> JsonObject:
        _check(target, body, found.object)
        new = found.copy()
        new["spec"]["nodeName"] = node
        for key in ("labels", "annotations"):
            extra = (body.get("metadata") or {}).get(key)
            if extra:
                new["metadata"][key] = {**(new["metadata"].get(key) or {}), **extra}
        status = new.setdefault("status", {})
        others = [c for c in status.get("conditions") or () if c.get("type") != SCHEDULED]
        scheduled = {"type": SCHEDULED, "status": "True", "lastProbeTime": None, "lastTransitionTime": env.now()}
        status["conditions"] = [*others, scheduled]
        new["metadata"]["resourceVersion"] = ""
        return new

    def prepare(new: JsonObject, found: Found) -> list[FieldError]:
        return metadata.keep(new["metadata"], found.object["metadata"])

    await writing.change(target, wanted, prepare, options)
    return done()


def done() -> JsonObject:
    """The Status of an act that was done."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def _node(target: Target, body: JsonObject) -> str:
    asked = body.get("target") or {}
    errors = []
    if asked.get("kind", "Node") not in ("", "Node"):
        supported = 'supported values: "Node", "<empty>"'
        errors.append(FieldError("target.kind", supported, "FieldValueNotSupported", asked["kind"]))
    if not asked.get("name"):
        errors.append(FieldError("target.name", "", "FieldValueRequired"))
    if errors:
        raise invalid_as("Binding", "", target.name, errors)
    return str(asked["name"])


def _check(target: Target, body: JsonObject, pod: JsonObject) -> None:
    name, spec, there = target.name, pod["spec"], pod["metadata"]
    uid = (body.get("metadata") or {}).get("uid")
    if uid and uid != there["uid"]:
        raise _refused(target.kind, name, f"Precondition failed: UID in precondition: {uid}, found {there['uid']}")
    if there.get("deletionTimestamp"):
        raise _refused(target.kind, name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise _refused(target.kind, name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise _refused(target.kind, name, f"pod {name} has non-empty .spec.schedulingGates")


def _refused(kind: Kind, name: str, why: str) -> ApiError:
    return conflict(f"{kind.plural}/binding", name, kind.group, why)
