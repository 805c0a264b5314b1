"""Admission of jobs that belong to a queue: made suspended, their labels checked.

At creation   a job with the label `kueue.x-k8s.io/queue-name` is stored suspended. A job that another queued kind owns is
              not: its owner waits for both.
Labels        queue-name, prebuilt-workload-name: DNS subdomains.  max-exec-time-seconds: a positive integer.
              The elastic-job annotation is for kinds that can change their size while they run.
Changes       while the job is not suspended, queue-name and max-exec-time-seconds are fixed; the priority class may
              change, but not come or go: there would be a Workload with no one to hold it, or quota without a job.
Warnings      of fields that a job kind has replaced by others.
Structurally the registry's AdmissionHook.
Source        Kueue: the job webhooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from kumi.api.errors import FieldError
from kumi.api.kueue import PRIORITY_CLASS_LABEL, QUEUE_LABEL
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject
from kumi.jobs import QUEUED
from kumi.jobs.base import QueuedJob
from kumi.jobs.workload import MAX_EXEC_LABEL

PREBUILT_LABEL = "kueue.x-k8s.io/prebuilt-workload-name"
ELASTIC_ANNOTATION = "kueue.x-k8s.io/elastic-job"
ELASTIC_KINDS = ("Job",)

DEPRECATED = {"PyTorchJob": {"spec.elasticPolicy.nProcPerNode": "spec.nprocPerNode"}}
"""by kind: a field, and what takes its place"""

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_TEXT = "must be lower case letters, digits, '-' and '.', and start and end with a letter or digit"
Operation = Literal["CREATE", "UPDATE"]


class QueueHook:
    """See the module."""

    def __init__(self, queued: tuple[QueuedJob[Any], ...] = QUEUED) -> None:
        self._queued = {SCHEME.of(q.view_type).kind: q for q in queued}
        self._kinds = {SCHEME.of(q.view_type).kind: SCHEME.of(q.view_type) for q in queued}

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Suspends a job that is being created in a queue."""
        queued = self._of(kind)
        if operation == "CREATE" and queued is not None and _labels(new).get(QUEUE_LABEL) and not self._is_child(new):
            _merge(new, queued.suspend_patch())

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """Every wrong label."""
        queued = self._of(kind)
        if queued is None or self._is_child(new):
            return []
        errors = wrong_names(_labels(new)) + _wrong_limit(_labels(new))
        annotations = new["metadata"].get("annotations") or {}
        if ELASTIC_ANNOTATION in annotations and kind.kind not in ELASTIC_KINDS:
            path = f"metadata.annotations[{ELASTIC_ANNOTATION}]"
            errors.append(FieldError(path, f"{kind.kind} can't be elastic", "FieldValueForbidden"))
        if operation == "UPDATE" and old is not None and not queued.standing(_view(queued, new)).suspended:
            errors += _fixed(_labels(new), _labels(old))
        return errors

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        """What the writer of a job should stop using."""
        spec = new.get("spec") or {}
        return [
            f"{old} is deprecated, use {now} instead"
            for old, now in DEPRECATED.get(kind.kind, {}).items()
            if _has(spec, old)
        ]

    def _of(self, kind: Kind) -> QueuedJob[Any] | None:
        return self._queued.get(kind.kind) if self._kinds.get(kind.kind) is kind else None

    def _is_child(self, obj: JsonObject) -> bool:
        """Whether its controller is itself of a queued kind."""
        for owner in obj["metadata"].get("ownerReferences") or ():
            kind = self._kinds.get(owner.get("kind", ""))
            if owner.get("controller") and kind is not None:
                return bool(str(owner.get("apiVersion", "")).rpartition("/")[0] == kind.group)
        return False


def _view(queued: QueuedJob[Any], obj: JsonObject) -> Object:
    view: Object = msgspec.convert(obj, queued.view_type)
    return view


def _labels(obj: JsonObject) -> dict[str, str]:
    labels: dict[str, str] = obj["metadata"].get("labels") or {}
    return labels


def _has(spec: JsonObject, path: str) -> bool:
    """Whether a field below spec is set."""
    here: object = spec
    for word in path.split(".")[1:]:
        here = here.get(word) if isinstance(here, dict) else None
    return here is not None


def wrong_names(labels: Mapping[str, str], names: Iterable[str] = (QUEUE_LABEL, PREBUILT_LABEL)) -> list[FieldError]:
    """The labels among `names` that are no DNS subdomains."""
    return [
        FieldError(f"metadata.labels[{label}]", _SUBDOMAIN_TEXT, value=labels[label])
        for label in names
        if label in labels and not (_SUBDOMAIN.fullmatch(labels[label]) and len(labels[label]) <= 253)
    ]


def _wrong_limit(labels: dict[str, str]) -> list[FieldError]:
    text = labels.get(MAX_EXEC_LABEL)
    if text is None or (text.isascii() and text.isdecimal() and int(text) > 0):
        return []
    return [FieldError(f"metadata.labels[{MAX_EXEC_LABEL}]", "must be a whole number of seconds above 0", value=text)]


def _fixed(new: dict[str, str], old: dict[str, str]) -> list[FieldError]:
    """What may not change while the job is not suspended."""
    errors = [
        FieldError(f"metadata.labels[{label}]", "can't change while the job is not suspended", value=new.get(label, ""))
        for label in (QUEUE_LABEL, MAX_EXEC_LABEL)
        if new.get(label) != old.get(label)
    ]
    queued = QUEUE_LABEL in new or QUEUE_LABEL in old
    if queued and (PRIORITY_CLASS_LABEL in new) != (PRIORITY_CLASS_LABEL in old):
        path, value = f"metadata.labels[{PRIORITY_CLASS_LABEL}]", new.get(PRIORITY_CLASS_LABEL, "")
        errors.append(FieldError(path, "can't be added or removed while the job is not suspended", value=value))
    return errors


def _merge(into: JsonObject, patch: JsonObject) -> None:
    for key, value in patch.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value
