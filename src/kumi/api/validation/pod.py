"""Validation of pods and pod templates: what must be there, what may be said, what belongs together.

    pod_spec(spec, path)          one spec; container by container in validation.container
    validate_pod_rules            a Pod: its spec, and on update what may still change:
                                  images, the deadline (given, or earlier), tolerations (more), gates (fewer),
                                  and while there are gates, a narrower node selector and affinity;
                                  one that is stored as it is and is wrong keeps nobody from writing the rest
    what annotations want of GPUs api.gpu_sharing
Source     Kubernetes: Pod API reference, pod life cycle, pod scheduling readiness.
"""

from __future__ import annotations

from copy import deepcopy

from kumi.api import gpu_sharing
from kumi.api.errors import FieldError
from kumi.api.validation import container as containers
from kumi.api.validation import placement, volumes
from kumi.api.validation.metadata import validate_annotations, with_metadata
from kumi.api.validation.names import Rule, label, labels, subdomain
from kumi.api.validation.resources import amounts, requirements
from kumi.api.validation.words import not_supported, required
from kumi.api.wire import JsonObject

RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_KINDS = ("requests", "limits")
_MUTABLE = (
    "`spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, "
    "`spec.tolerations` (only additions to existing tolerations), `spec.terminationGracePeriodSeconds`"
)


def pod_template(template: JsonObject, path: str) -> list[FieldError]:
    """A PodTemplateSpec."""
    metadata = template.get("metadata") or {}
    return [
        *labels(metadata.get("labels"), f"{path}.metadata.labels"),
        *validate_annotations(metadata.get("annotations"), f"{path}.metadata.annotations"),
        *_gpus(template, f"{path}.metadata.annotations"),
        *pod_spec(template.get("spec") or {}, f"{path}.spec"),
    ]


def pod_spec(spec: JsonObject, path: str) -> list[FieldError]:
    """A PodSpec."""
    known, errors = volumes.volumes(spec.get("volumes") or [], f"{path}.volumes")
    errors += containers.containers(spec, path, known)
    errors += _policies(spec, path)
    errors += _names(spec, path)
    errors += placement.placement(spec, path)
    errors += requirements(spec.get("resources"), f"{path}.resources")
    errors += amounts(spec.get("overhead") or {}, f"{path}.overhead")[1]
    return errors


def pod_rules(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
    """A Pod, beside its metadata."""
    spec, before, gpus = new.get("spec") or {}, (old or {}).get("spec") or {}, _gpus(new, "metadata.annotations")
    if old is None:
        return [*gpus, *pod_spec(spec, "spec")]
    return gpus if spec == before else [*gpus, *pod_spec(spec, "spec"), *_update(spec, before)]


validate_pod = with_metadata(subdomain, pod_rules)


def _gpus(pod: JsonObject, path: str) -> list[FieldError]:
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    if not any(key in annotations for key in (gpu_sharing.SHARE, gpu_sharing.MILLI, gpu_sharing.COUNT)):
        return []
    containers_of = [c for part in ("containers", "initContainers") for c in (pod.get("spec") or {}).get(part) or ()]
    resources = [
        resources.get(kind) or {} for c in containers_of if (resources := c.get("resources")) for kind in _KINDS
    ]
    asks = any(gpu_sharing.RESOURCE in one for one in resources)
    return gpu_sharing.errors_of(annotations, gpu_sharing.WHOLE if asks else 0, path)


def _policies(spec: JsonObject, path: str) -> list[FieldError]:
    errors = []
    policy = spec.get("restartPolicy")
    if not policy:
        errors.append(required(f"{path}.restartPolicy"))
    elif policy not in RESTART_POLICIES:
        errors.append(not_supported(f"{path}.restartPolicy", policy, RESTART_POLICIES))
    dns = spec.get("dnsPolicy")
    if not dns:
        errors.append(required(f"{path}.dnsPolicy"))
    elif dns not in _DNS_POLICIES:
        errors.append(not_supported(f"{path}.dnsPolicy", dns, _DNS_POLICIES))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        errors.append(
            FieldError(f"{path}.activeDeadlineSeconds", "must be between 1 and 2147483647, inclusive", value=deadline)
        )
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        errors.append(
            FieldError(f"{path}.terminationGracePeriodSeconds", "must be greater than or equal to 0", value=grace)
        )
    preemption = spec.get("preemptionPolicy")
    if preemption and preemption not in ("PreemptLowerPriority", "Never"):
        errors.append(not_supported(f"{path}.preemptionPolicy", preemption, ("PreemptLowerPriority", "Never")))
    return errors


def _names(spec: JsonObject, path: str) -> list[FieldError]:
    errors = []
    rules: tuple[tuple[str, Rule], ...] = (
        ("nodeName", subdomain),
        ("serviceAccountName", subdomain),
        ("priorityClassName", subdomain),
        ("runtimeClassName", subdomain),
        ("hostname", label),
        ("subdomain", label),
    )
    for field, rule in rules:
        name = spec.get(field)
        wrong = rule(str(name)) if name else ""
        if wrong:
            errors.append(FieldError(f"{path}.{field}", wrong, value=name))
    return errors


def _update(new: JsonObject, old: JsonObject) -> list[FieldError]:
    """What an update changed that it may not."""
    errors = []
    if len(new.get("containers") or ()) != len(old.get("containers") or ()):
        return [FieldError("spec.containers", "pod updates may not add or remove containers", "FieldValueForbidden")]
    errors += _deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds"))
    errors += _gates(new, old)
    missing = [t for t in old.get("tolerations") or () if t not in (new.get("tolerations") or ())]
    allowed = deepcopy(new)
    _put_back(allowed, old)
    if missing or allowed != old:
        detail = f"pod updates may not change fields other than {_MUTABLE}"
        errors.append(FieldError("spec", detail, "FieldValueForbidden"))
    return errors


def _put_back(spec: JsonObject, old: JsonObject) -> None:
    """Undoes what may change, so that what is left must be equal."""
    for name in ("containers", "initContainers"):
        for container, before in zip(spec.get(name) or (), old.get(name) or (), strict=False):
            container["image"] = before.get("image")
    fields = ["activeDeadlineSeconds", "tolerations", "schedulingGates"]
    if old.get("terminationGracePeriodSeconds", 0) < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        fields.append("terminationGracePeriodSeconds")
    if old.get("schedulingGates"):
        selector, before = spec.get("nodeSelector") or {}, old.get("nodeSelector") or {}
        if all(selector.get(key) == value for key, value in before.items()):
            fields.append("nodeSelector")
        if placement.narrower(spec.get("affinity"), old.get("affinity")):
            fields.append("affinity")
    for field in fields:
        spec.pop(field, None)
        if field in old:
            spec[field] = old[field]


def _deadline(new: int | None, old: int | None) -> list[FieldError]:
    path = "spec.activeDeadlineSeconds"
    if old is not None and new is None:
        return [FieldError(path, "must not update from a positive integer to nil value", value=None)]
    if old is not None and new is not None and new > old:
        return [FieldError(path, "must be less than or equal to previous value", value=new)]
    return []


def _gates(new: JsonObject, old: JsonObject) -> list[FieldError]:
    before = [gate.get("name") for gate in old.get("schedulingGates") or ()]
    added = [gate.get("name") for gate in new.get("schedulingGates") or () if gate.get("name") not in before]
    if added:
        detail = f"only deletion is allowed, but found new scheduling gate '{added[0]}'"
        return [FieldError("spec.schedulingGates", detail, "FieldValueForbidden")]
    return []
