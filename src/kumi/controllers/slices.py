"""Slices of an elastic job: it changes its size while it runs, and its quota follows.

The rule, of a job with the annotation `kueue.x-k8s.io/elastic-job: "true"` that runs, with c pods admitted and w wanted:
    w < c      its Workload shrinks in place; a slice that waited goes
    w > c      a new slice of w pods waits in the queue, in place of the one that runs (annotation
               workload-slice-replacement-for). When it is admitted the old one is Finished, WorkloadSliceReplaced, and the pods
               are the new one's: their annotation `workload` follows
    w = c      a slice that waited goes
  One that does not run has one Workload, which changes in place.
Why        A running job is never stopped to grow; what it grows by is queued like anybody's.
Names      the first slice is named like any Workload; later ones by the job's generation too. All of a job's pods have the first
           one's name in their annotation workload-slice-name.
Source     Kueue: elastic workloads via workload slices (KEP-77).
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api import core, kueue
from kumi.api.meta import Object, is_true
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject
from kumi.controllers import workload_status
from kumi.jobs.base import J, QueuedJob
from kumi.jobs.queue_hook import ELASTIC_KINDS
from kumi.jobs.templates import FINISHED
from kumi.jobs.workload import NAME_LIMIT, Priority, build, name_of, pod_sets
from kumi.runtime.reconcile import Patch
from kumi.runtime.view import View


def is_elastic(kind: Kind, job: Object) -> bool:
    """Whether it may change its size while it runs."""
    return kind.kind in ELASTIC_KINDS and job.metadata.annotations.get(kueue.ELASTIC_ANNOTATION) == "true"


def told_apart(owned: Sequence[kueue.Workload]) -> tuple[kueue.Workload | None, kueue.Workload | None]:
    """Of a job's Workloads the one that counts, and the slice that waits to take its place."""
    live = [w for w in owned if not is_true(w.status.conditions, "Finished")]
    held = [w for w in live if w.status.admission is not None]
    waiting = [w for w in live if w.status.admission is None and w.metadata.deletion_timestamp is None]
    if held:
        return held[-1], waiting[-1] if waiting else None
    first = [w for w in live if not w.metadata.annotations.get(kueue.SLICE_OF_ANNOTATION)]
    return next(iter(first or live), None), None


def let_go(owned: Sequence[kueue.Workload], current: kueue.Workload) -> list[Patch]:
    """Slices that are being deleted and hold nothing: nobody waits for them."""
    gone = [w for w in owned if w is not current and w.status.admission is None]
    return [patch for w in gone if (patch := workload_status.without_finalizer(w)) is not None]


def grown(queued: QueuedJob[J], job: J, workload: kueue.Workload) -> int:
    """How many more pods the job wants than its Workload has; negative: fewer."""
    wanted = {str(p["name"]): int(p["count"]) for p in pod_sets(queued, job)}
    return sum(wanted.get(p.name, p.count) - p.count for p in workload.spec.pod_sets)


def resized(queued: QueuedJob[J], job: J, workload: kueue.Workload) -> Patch:
    """The Workload with the job's counts, its templates as they are stored."""
    wanted = {str(p["name"]): int(p["count"]) for p in pod_sets(queued, job)}
    sets = [
        {**_written(pod_set), "count": wanted.get(pod_set.name, pod_set.count)} for pod_set in workload.spec.pod_sets
    ]
    meta = workload.metadata
    body: JsonObject = {"metadata": {"resourceVersion": meta.resource_version}, "spec": {"podSets": sets}}
    return Patch(SCHEME.of(kueue.Workload), meta.namespace, meta.name, body)


def successor(queued: QueuedJob[J], job: J, priority: Priority, current: kueue.Workload) -> JsonObject:
    """The slice that is to take the place of the one that runs: of its shape, with the job's counts."""
    made = build(queued, job, priority)
    counts = {str(p["name"]): p["count"] for p in made["spec"]["podSets"]}
    made["spec"]["podSets"] = [{**_written(p), "count": counts.get(p.name, p.count)} for p in current.spec.pod_sets]
    meta = job.metadata
    stem = name_of(SCHEME.of(queued.view_type), meta.name, meta.uid)
    suffix = f"-{meta.generation}"
    made["metadata"]["name"] = f"{stem[: NAME_LIMIT - len(suffix)]}{suffix}"
    made["metadata"]["finalizers"] = [kueue.IN_USE]
    made["metadata"].setdefault("annotations", {}).update(
        {
            kueue.SLICE_OF_ANNOTATION: current.key,
            kueue.SLICE_ANNOTATION: current.metadata.annotations.get(kueue.SLICE_ANNOTATION, current.metadata.name),
        }
    )
    return made


def adopted(view: View, uid: str, current: kueue.Workload) -> list[Patch]:
    """The pods of the job that are still marked as another slice's."""
    name, kind = current.metadata.name, SCHEME.of(core.Pod)
    patches = []
    for pod in view.owned(core.Pod, uid):
        said = pod.metadata.annotations.get(kueue.WORKLOAD_ANNOTATION)
        if said is not None and said != name and pod.status.phase not in FINISHED:
            body: JsonObject = {"metadata": {"annotations": {kueue.WORKLOAD_ANNOTATION: name}}}
            patches.append(Patch(kind, pod.metadata.namespace, pod.metadata.name, body))
    return patches


def _written(pod_set: kueue.PodSet) -> JsonObject:
    made: JsonObject = {"name": pod_set.name, "count": pod_set.count, "template": pod_set.template}
    if pod_set.min_count is not None:
        made["minCount"] = pod_set.min_count
    if pod_set.topology_request is not None:
        made["topologyRequest"] = pod_set.topology_request
    return made
