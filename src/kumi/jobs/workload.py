"""A job's Workload: the object in which the queues see it, and whether the two still match.

Name       `<kind>-<job>` in lower case, cut to 247 letters, `-`, the first 5 hex digits of
           sha1("Kind\\nGroup\\njob\\nuid"): the same job has the same Workload, another of its name another one.
Priority   the job's label `kueue.x-k8s.io/priority-class` (a WorkloadPriorityClass), else the kind's own rule, else the
           first pod set with a priorityClassName (both a PriorityClass), else the cluster's default one, else 0.
Time       Until when the job must be done and how long it takes is said of its Workload as well (due.py).
Match      While the job is suspended everything that the queues read must be equal: counts, requests, node selectors,
           tolerations, affinity, priority, topology annotations. An edit between two admissions makes the Workload be built
           anew, so that suspend, edit, resume equals creating with the edited spec. A template that still carries what
           a start added counts as matching: it is restored first (stop_step), and compared then.
           While the job runs only counts and containers' requests are compared: the rest is what admission added.
Source     Kueue: workload names and priority (docs, WorkloadPriorityClass), job framework.
Not here   admission itself: kumi.engine.admission. What is added to a template: podset.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from kumi.api.kueue import (
    BOOST_ANNOTATION,
    ELASTIC_ANNOTATION,
    FLAVORS_ANNOTATION,
    GATES_ANNOTATION,
    JOB_UID_LABEL,
    PRIORITY_CLASS_LABEL,
    QUEUE_LABEL,
    PriorityClassRef,
    Workload,
    WorkloadPriorityClass,
)
from kumi.api.meta import Object, owner_reference
from kumi.api.scheduling import PriorityClass
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject
from kumi.jobs import topology
from kumi.jobs.base import J, PodSetShape, QueuedJob
from kumi.jobs.due import told
from kumi.jobs.podset import carries_admission, restored

MAX_EXEC_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"
PASSED_ON = (GATES_ANNOTATION, BOOST_ANNOTATION, FLAVORS_ANNOTATION, ELASTIC_ANNOTATION)
PASSED_PREFIX = "provreq.kueue.x-k8s.io/"
"""parameters of provisioning requests"""
NAME_LIMIT = 253
HASH_LETTERS = 5

_QUEUED_FIELDS = (
    "affinity",
    "nodeSelector",
    "overhead",
    "priorityClassName",
    "resourceClaims",
    "runtimeClassName",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
)


@dataclass(frozen=True)
class Priority:
    """A Workload's priority and the class it comes from (None: the cluster's default, or none)."""

    value: int = 0
    source: PriorityClassRef | None = None


def name_of(kind: Kind, name: str, uid: str) -> str:
    """The Workload's name. Cost O(1)."""
    digest = hashlib.sha1(f"{kind.kind}\n{kind.group}\n{name}\n{uid}".encode(), usedforsecurity=False).hexdigest()
    stem = f"{kind.kind.lower()}-{name}"[: NAME_LIMIT - HASH_LETTERS - 1]
    return f"{stem}-{digest[:HASH_LETTERS]}"


def priority_source(queued: QueuedJob[J], job: J) -> PriorityClassRef | None:
    """Which class gives the priority; None: the cluster's default PriorityClass."""
    workload_class = job.metadata.labels.get(PRIORITY_CLASS_LABEL, "")
    if workload_class:
        return PriorityClassRef(group="kueue.x-k8s.io", kind="WorkloadPriorityClass", name=workload_class)
    specs = ((shape.template.get("spec") or {}) for shape in queued.pod_sets(job))
    names = (queued.priority_class(job), *(str(spec.get("priorityClassName") or "") for spec in specs))
    pod_class = next((name for name in names if name), "")
    if not pod_class:
        return None
    return _pod_priority_class(pod_class)


def priority(
    source: PriorityClassRef | None,
    workload_classes: Sequence[WorkloadPriorityClass],
    pod_classes: Sequence[PriorityClass],
) -> Priority | None:
    """The value of a source; None when its class does not exist (yet). Of several default classes the lowest counts."""
    if source is None:
        defaults = (c for c in pod_classes if c.global_default)
        default = min(defaults, key=lambda c: (c.value, c.metadata.name), default=None)
        if default is None:
            return Priority()
        return Priority(default.value, _pod_priority_class(default.metadata.name))
    classes = workload_classes if source.kind == "WorkloadPriorityClass" else pod_classes
    found = next((c for c in classes if c.metadata.name == source.name), None)
    return None if found is None else Priority(found.value, source)


def build(queued: QueuedJob[J], job: J, priority: Priority) -> JsonObject:
    """The Workload that a job should have, as it is created."""
    kind = SCHEME.of(queued.view_type)
    meta = job.metadata
    spec: JsonObject = {
        "podSets": pod_sets(queued, job),
        "queueName": meta.labels.get(QUEUE_LABEL, ""),
        "priority": priority.value,
        "active": True,
    }
    if priority.source is not None:
        spec["priorityClassRef"] = msgspec.to_builtins(priority.source)
    limit = time_limit(job)
    if limit is not None:
        spec["maximumExecutionTimeSeconds"] = limit
    return {
        "apiVersion": SCHEME.of(Workload).api_version,
        "kind": "Workload",
        "metadata": {
            "name": name_of(kind, meta.name, meta.uid),
            "namespace": meta.namespace,
            "labels": {JOB_UID_LABEL: meta.uid},
            **({"annotations": told} if (told := passed_on(job)) else {}),
            "ownerReferences": [owner_reference(job, kind.api_version, kind.kind)],
        },
        "spec": spec,
    }


def passed_on(job: Object) -> dict[str, str]:
    """The job's annotations that are about its Workload, and what it says of time."""
    annotations = job.metadata.annotations
    kept = {
        key: value for key, value in sorted(annotations.items()) if key in PASSED_ON or key.startswith(PASSED_PREFIX)
    }
    return {**kept, **told(job.metadata)}


def pod_sets(queued: QueuedJob[J], job: J) -> list[JsonObject]:
    """The job's pod sets, as its Workload has them."""
    return [pod_set(shape) for shape in queued.pod_sets(job)]


def time_limit(job: Object) -> int | None:
    """For how long it may run, in seconds; None: as long as it takes."""
    text = job.metadata.labels.get(MAX_EXEC_LABEL, "")
    return int(text) if text.isascii() and text.isdecimal() else None


def stored_shapes(workload: Workload) -> list[PodSetShape]:
    """The pod sets as they were when the Workload was built: what eviction puts back."""
    return [PodSetShape(p.name, p.count, p.template, p.min_count) for p in workload.spec.pod_sets]


def matches(queued: QueuedJob[J], job: J, workload: Workload) -> bool:
    """Whether the Workload still says what the job wants; see the module."""
    shapes, stored = queued.pod_sets(job), stored_shapes(workload)
    if [s.name for s in shapes] != [s.name for s in stored]:
        return False
    pairs = list(zip(shapes, stored, strict=True))
    if queued.standing(job).suspended:
        if any(carries_admission(a.template, b.template) for a, b in pairs):
            return True
        return all((a.count, a.min_count) == (b.count, b.min_count) and _queued(a) == _queued(b) for a, b in pairs)
    assigned = (
        {p.name: p.count for p in workload.status.admission.pod_set_assignments} if workload.status.admission else {}
    )
    return all(
        a.count in (b.count, assigned.get(b.name)) and _requests(a.template) == _requests(b.template) for a, b in pairs
    )


def stop_step(queued: QueuedJob[J], job: J, workload: Workload) -> JsonObject | None:
    """The next merge patch on the way to "suspended, templates as stored"; None when the job is there.

    Most kinds need one, a batch/v1 Job two: its template can't change before it is suspended and its start time is
    cleared, so that the second is asked for when the job shows that."""
    if queued.standing(job).suspended:
        pairs = restored(queued.pod_sets(job), stored_shapes(workload))
        if not any(carries_admission(a.template, b.template) for a, b in pairs):
            return None
    return queued.stop_patch(job, stored_shapes(workload)) or None


def _pod_priority_class(name: str) -> PriorityClassRef:
    return PriorityClassRef(group="scheduling.k8s.io", kind="PriorityClass", name=name)


def pod_set(shape: PodSetShape) -> JsonObject:
    """One pod set of a Workload."""
    made: JsonObject = {"name": shape.name, "count": shape.count, "template": shape.template}
    if shape.min_count is not None:
        made["minCount"] = shape.min_count
    request = topology.request(shape)
    if request:
        made["topologyRequest"] = request
    return made


def _queued(shape: PodSetShape) -> JsonObject:
    """What the queues read of a template, in a form to compare."""
    meta, spec = shape.template.get("metadata") or {}, shape.template.get("spec") or {}
    seen: JsonObject = {field: spec[field] for field in _QUEUED_FIELDS if spec.get(field)}
    for field in ("labels", "annotations"):
        if meta.get(field):
            seen[field] = meta[field]
    return {**seen, "requests": _requests(shape.template)}


def _requests(template: JsonObject) -> list[object]:
    spec = template.get("spec") or {}
    lists: Sequence[str] = ("initContainers", "containers")
    rows: list[object] = [
        [field, c.get("name"), c.get("restartPolicy"), _amounts(c.get("resources"))]
        for field in lists
        for c in spec.get(field) or ()
    ]
    return [*rows, ["pod", _amounts(spec.get("resources")), spec.get("overhead") or {}]]


def _amounts(resources: JsonObject | None) -> JsonObject:
    """Effective requests: a server fills in those that only have a limit, or it doesn't; that is no difference."""
    return {**((resources or {}).get("limits") or {}), **((resources or {}).get("requests") or {})}
