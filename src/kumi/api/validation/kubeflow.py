"""Validation of kubeflow.org/v1: PyTorchJob. It sees the object as written: kubeflow's own defaults come later.

The rules, with `spec.pytorchReplicaSpecs[<Type>]` as path:
    the replica types are Master and Worker, spelled so; the Master has exactly one replica, and says so
    a Worker has at least one, if it says how many; no negative number anywhere
    each has containers, each container an image, and one is called `pytorch`
    an elastic job has Workers, and says the processes of a node once
    what is fixed: managedBy, the scheduling policy's queue
Source     Kubeflow training operator 1.9: PyTorchJob.
Templates  are held to the rules of pods (validation.pod) too, as their pods would be: better told now than when pods are made.
"""

from __future__ import annotations

from copy import deepcopy

from kumi.api.defaulting.pod import default_template
from kumi.api.errors import FieldError
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import label_1035
from kumi.api.validation.pod import pod_template
from kumi.api.wire import JsonObject

MANAGERS = ("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")
MASTER, WORKER = "Master", "Worker"
CONTAINER = "pytorch"


def pytorchjob_rules(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """What the training operator refuses, beside metadata."""
    spec = new.get("spec") or {}
    path = "spec.pytorchReplicaSpecs"
    replicas = spec.get("pytorchReplicaSpecs")
    errors = run_policy_rules(spec, (old or {}).get("spec") if old else None)
    if replicas is None:
        return [*errors, FieldError(path, f"must say how many of {MASTER} and {WORKER}", "FieldValueRequired")]
    for type_, replica in replicas.items():
        here = f"{path}[{type_}]"
        if type_ not in (MASTER, WORKER):
            errors.append(_not_supported(here, type_, (MASTER, WORKER)))
        errors += replica_rules(replica or {}, here, CONTAINER)
    errors += _counts(replicas, path)
    errors += _elastic(spec, replicas, path)
    return errors + _templates(replicas, path, {error.path for error in errors})


validate_pytorchjob = with_metadata(label_1035, pytorchjob_rules)


def run_policy_rules(spec: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """spec.runPolicy, the same for all kinds of the group."""
    errors = []
    policy, path = spec.get("runPolicy") or {}, "spec.runPolicy"
    before = None if old is None else old.get("runPolicy") or {}
    manager = policy.get("managedBy")
    if manager is not None and manager not in MANAGERS:
        errors.append(_not_supported(f"{path}.managedBy", manager, MANAGERS))
    if before is not None and before.get("managedBy") != manager:
        errors.append(FieldError(f"{path}.managedBy", "field is immutable", value=manager))
    for field in ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        errors += _not_negative(policy.get(field), f"{path}.{field}")
    queue = (policy.get("schedulingPolicy") or {}).get("queue")
    if before is not None and (before.get("schedulingPolicy") or {}).get("queue", queue) != queue:
        errors.append(FieldError(f"{path}.schedulingPolicy.queue", "field is immutable", value=queue))
    return errors


def replica_rules(replica: JsonObject, path: str, container_name: str) -> list[FieldError]:
    """One replica type: its pod template has containers with images, and the one that the kind knows by name."""
    here = f"{path}.template.spec.containers"
    containers = ((replica.get("template") or {}).get("spec") or {}).get("containers") or []
    if not containers:
        return [FieldError(here, "must be specified", "FieldValueRequired")]
    errors = [
        FieldError(f"{here}[{index}].image", "must be specified", "FieldValueRequired")
        for index, container in enumerate(containers)
        if not (container or {}).get("image")
    ]
    if not any((container or {}).get("name") == container_name for container in containers):
        detail = f'must have one container with the name "{container_name}"'
        errors.append(FieldError(here, detail, "FieldValueRequired"))
    return errors


def _templates(replicas: JsonObject, path: str, told: set[str]) -> list[FieldError]:
    """What is wrong with the pods to come, where it is not told yet; with the defaults that they will get."""
    errors = []
    for type_, replica in replicas.items():
        template = deepcopy((replica or {}).get("template") or {})
        default_template(template)
        errors += pod_template(template, f"{path}[{type_}].template")
    return [error for error in errors if error.path not in told]


def _counts(replicas: JsonObject, path: str) -> list[FieldError]:
    errors = []
    for type_, replica in replicas.items():
        count, here = (replica or {}).get("replicas"), f"{path}[{type_}].replicas"
        if type_ == MASTER and count != 1:
            errors.append(FieldError(here, "must be 1", value=count))
        elif type_ == WORKER and count is not None and count < 1:
            errors.append(FieldError(here, "must be at least 1", value=count))
    return errors


def _elastic(spec: JsonObject, replicas: JsonObject, path: str) -> list[FieldError]:
    elastic = spec.get("elasticPolicy")
    if elastic is None:
        return []
    errors = []
    if WORKER not in replicas:
        errors.append(FieldError(f"{path}[{WORKER}]", "an elastic job has workers", "FieldValueRequired"))
    if elastic.get("nProcPerNode") is not None and spec.get("nprocPerNode") is not None:
        detail = "must not be set together with spec.nprocPerNode"
        errors.append(FieldError("spec.elasticPolicy.nProcPerNode", detail, "FieldValueForbidden"))
    least, most = elastic.get("minReplicas"), elastic.get("maxReplicas")
    for field, value in (("minReplicas", least), ("maxReplicas", most), ("maxRestarts", elastic.get("maxRestarts"))):
        errors += _not_negative(value, f"spec.elasticPolicy.{field}")
    if least is not None and most is not None and least > most:
        errors.append(FieldError("spec.elasticPolicy.minReplicas", "must not be greater than maxReplicas", value=least))
    return errors


def _not_negative(value: object, path: str) -> list[FieldError]:
    if isinstance(value, int) and value < 0:
        return [FieldError(path, "must be greater than or equal to 0", value=value)]
    return []


def _not_supported(path: str, value: str, supported: tuple[str, ...]) -> FieldError:
    words = ", ".join(f'"{word}"' for word in supported)
    return FieldError(path, f"supported values: {words}", "FieldValueNotSupported", value)
