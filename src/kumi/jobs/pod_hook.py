"""Admission of pods that belong to a queue: made gated, marked as managed, their group's annotations checked.

At creation   a pod with the label `kueue.x-k8s.io/queue-name` that no queued job owns gets the gate
              `kueue.x-k8s.io/admission`, the label and the finalizer `kueue.x-k8s.io/managed`, and, in a group, the hash of its
              shape. One that is bound to a node already is left alone.
Pod makers    the pods of a Deployment or a StatefulSet with that label get it by its template: each is a workload of its own, so
              that one can be replaced, and their number can change, at any time.
Group         pod-group-name: a DNS subdomain, given with pod-group-total-count, a number above 0; either needs the other.
Changes       the group's name is fixed; the queue's name while the pod is not gated.
Structurally the registry's AdmissionHook.
Source        Kueue: plain pods, Deployments, StatefulSets.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.kueue import PRIORITY_CLASS_LABEL, QUEUE_LABEL
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject
from kumi.jobs import QUEUED
from kumi.jobs.pod_groups import GATE, GROUP_LABEL, MANAGED, POD, ROLE, TOTAL, role_hash, total_of
from kumi.jobs.queue_hook import Operation, wrong_names


class PodHook:
    """See the module."""

    def __init__(self) -> None:
        kinds = [SCHEME.of(queued.view_type) for queued in QUEUED]
        self._parents = {(kind.group, kind.kind) for kind in kinds}

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Holds a pod back that is being created in a queue; marks the template of one who makes such pods."""
        name = _labels(new).get(QUEUE_LABEL)
        if operation != "CREATE" or not name or self._is_child(new):
            return
        if (kind.group, kind.kind) == ("", POD):
            if not (new.get("spec") or {}).get("nodeName"):
                _gate(new)
        elif kind.group == "apps" and kind.kind in ("Deployment", "StatefulSet"):
            _mark(new)

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """Every wrong label and annotation."""
        if (kind.group, kind.kind) != ("", POD) or self._is_child(new):
            return []
        labels, annotations = _labels(new), new["metadata"].get("annotations") or {}
        errors = wrong_names(labels, (QUEUE_LABEL, GROUP_LABEL))
        total = f"metadata.annotations[{TOTAL}]"
        if GROUP_LABEL in labels and TOTAL not in annotations:
            errors.append(FieldError(total, "must be given with the group's name", "FieldValueRequired"))
        elif TOTAL in annotations and GROUP_LABEL not in labels:
            path = f"metadata.labels[{GROUP_LABEL}]"
            errors.append(FieldError(path, "must be given with the group's total count", "FieldValueRequired"))
        elif TOTAL in annotations and not total_of(annotations):
            errors.append(FieldError(total, "must be a whole number above 0", value=annotations[TOTAL]))
        if operation == "UPDATE" and old is not None:
            errors += _fixed(new, old)
        return errors

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        """None."""
        return []

    def _is_child(self, obj: JsonObject) -> bool:
        """Whether a queued job owns it."""
        owners = obj["metadata"].get("ownerReferences") or ()
        return any(
            (str(o.get("apiVersion", "")).rpartition("/")[0], o.get("kind")) in self._parents
            for o in owners
            if o.get("controller")
        )


def _gate(pod: JsonObject) -> None:
    meta, spec = pod["metadata"], pod["spec"]
    meta.setdefault("labels", {})[MANAGED] = "true"
    finalizers = meta.setdefault("finalizers", [])
    if MANAGED not in finalizers:
        finalizers.append(MANAGED)
    if GROUP_LABEL in meta["labels"]:
        meta.setdefault("annotations", {})[ROLE] = role_hash(spec)
    gates = spec.setdefault("schedulingGates", [])
    if GATE not in [gate.get("name") for gate in gates]:
        gates.append({"name": GATE})


def _mark(maker: JsonObject) -> None:
    template = (maker.get("spec") or {}).get("template")
    if not isinstance(template, dict):
        return
    labels, given = template.setdefault("metadata", {}).setdefault("labels", {}), _labels(maker)
    for label in (QUEUE_LABEL, PRIORITY_CLASS_LABEL):
        if label in given:
            labels.setdefault(label, given[label])


def _fixed(new: JsonObject, old: JsonObject) -> list[FieldError]:
    now, before = _labels(new), _labels(old)
    errors = []
    if before.get(MANAGED) == "true" and now.get(GROUP_LABEL) != before.get(GROUP_LABEL):
        path = f"metadata.labels[{GROUP_LABEL}]"
        errors.append(FieldError(path, "field is immutable", value=now.get(GROUP_LABEL, "")))
    gated = any(gate.get("name") == GATE for gate in (new.get("spec") or {}).get("schedulingGates") or ())
    if before.get(MANAGED) == "true" and not gated and now.get(QUEUE_LABEL) != before.get(QUEUE_LABEL):
        path = f"metadata.labels[{QUEUE_LABEL}]"
        errors.append(FieldError(path, "can't change once the pod is admitted", value=now.get(QUEUE_LABEL, "")))
    return errors


def _labels(obj: JsonObject) -> dict[str, str]:
    labels: dict[str, str] = obj["metadata"].get("labels") or {}
    return labels
