"""What became of jobs in a recording: when they came, how long they ran, how they went. One pass over its lines.

A job      a Workload with the pods that name it, or that it is made of; a PodGroup without a Workload, with pods that name it;
           a Job, or another kind that the queues know, in no queue, with the pods of which it is the controller; any other pod
           by itself. Pods of DaemonSets and of nodes themselves are no jobs. A pod that joins a Workload or a PodGroup later was
           that one's all the time.
It ran     from the first start of its pods, since it was evicted the last time, until the end of the last of them; of what ran
           when the recording began, what was left. A Workload of which no pod ran in the recording: from its admission until it
           finished. A Job of no queue may have more pods after those that ended: until it is finished, or deleted; suspended, it
           was stopped as an evicted one is.
Units      milliseconds, as the lines have them.
Not here   its shape and its place in time: record.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec

from kumi.api import core, kueue, volcano
from kumi.api.errors import KumiError
from kumi.api.kueue import QUEUE_LABEL, WORKLOAD_ANNOTATION
from kumi.api.meta import Object, ObjectMeta, is_true, parse_time
from kumi.api.scheme import SCHEME, Scheme, load
from kumi.api.wire import JsonObject
from kumi.bridge.into.shape import Shapes, volume_claims
from kumi.engine.model import PodShape
from kumi.evaluator.traces.lines import CHANGES, TORN, Line
from kumi.jobs import QUEUED
from kumi.jobs.base import QueuedJob
from kumi.jobs.pod_groups import GROUP_LABEL, MANAGED
from kumi.jobs.training import REPLICA_TYPE
from kumi.jobs.workload import name_of

NO_JOBS = ("DaemonSet", "Node")
"""owners of pods that belong to their node"""
KINDS = ("Pod", "Workload", "PodGroup")
QUEUED_TYPES = tuple(queued.view_type for queued in QUEUED)
OWNERS = tuple(SCHEME.of(type_).kind for type_ in QUEUED_TYPES)
OVER = ("Succeeded", "Failed")


def view_of(obj: JsonObject) -> Object | None:
    """The object as it is read; None for a kind that is not known, or what can't be read."""
    kind = _scheme().of_object(obj)
    if kind is None:
        return None
    try:
        view: Object = msgspec.convert(obj, kind.type)
    except msgspec.ValidationError:
        return None
    return view


@cache
def _scheme() -> Scheme:
    return load()


def queued_of(view: Object) -> QueuedJob[Any]:
    """What the queues know of the kind of such an object, which is of QUEUED_TYPES."""
    return next(queued for queued in QUEUED if isinstance(view, queued.view_type))


def job_of(view: Object) -> str:
    """The job that an object is, or is part of: `Kind namespace/name`; "" for what is none."""
    meta = view.metadata
    if isinstance(view, QUEUED_TYPES):
        return "" if meta.labels.get(QUEUE_LABEL) else f"{SCHEME.of(type(view)).kind} {view.key}"
    match view:
        case kueue.Workload():
            return f"Workload {view.key}"
        case volcano.PodGroup() if meta.annotations.get(WORKLOAD_ANNOTATION):
            return ""
        case volcano.PodGroup():
            return f"PodGroup {view.key}"
        case core.Pod():
            return _job_of_pod(view)
    return ""


def _job_of_pod(pod: core.Pod) -> str:
    meta = pod.metadata
    if any(owner.kind in NO_JOBS for owner in meta.owner_references):
        return ""
    for kind, annotation in (("Workload", WORKLOAD_ANNOTATION), ("PodGroup", volcano.GROUP_NAME_ANNOTATION)):
        if meta.annotations.get(annotation):
            return f"{kind} {meta.namespace}/{meta.annotations[annotation]}"
    if MANAGED in meta.labels:
        alone = name_of(SCHEME.of(core.Pod), meta.name, meta.uid)
        return f"Workload {meta.namespace}/{meta.labels.get(GROUP_LABEL) or alone}"
    if meta.controller is not None and meta.controller.kind in OWNERS:
        return f"{meta.controller.kind} {meta.namespace}/{meta.controller.name}"
    return f"Pod {pod.key}"


@dataclass(slots=True)
class Seen:
    """A job. `started_ms`, `ended_ms`: of the run of its pods that counts, None: not yet."""

    started_ms: int | None = None
    ended_ms: int | None = None
    admitted_ms: int | None = None
    finished_ms: int | None = None
    """as its Workload says"""
    begun: dict[str, None] = field(default_factory=dict)
    """uids of pods that run, or did"""
    running: dict[str, None] = field(default_factory=dict)
    """uids of pods that run"""
    live: dict[str, tuple[str, PodShape]] = field(default_factory=dict)
    """uid -> role and shape, of pods that are there"""
    most: dict[tuple[str, PodShape], int] = field(default_factory=dict)
    """role and shape -> how many at once"""
    own: dict[str, None] = field(default_factory=dict)
    """uids of all its pods"""
    by_pods: bool = False
    """it is a job if it has pods of its own only"""
    goes_on: bool = False
    """its controller may make more pods: it is neither finished nor deleted"""
    priority: int = 0
    """of its pods, the highest"""

    @property
    def counts(self) -> bool:
        """Is it a job at all?"""
        return bool(self.own) or not self.by_pods

    @property
    def ran_ms(self) -> int | None:
        """How long it ran to its end; None: it didn't, or still does."""
        if self.begun:
            since, until = self.started_ms, None if self.running or self.goes_on else self.ended_ms
        else:
            since, until = self.admitted_ms, self.finished_ms
        return None if since is None or until is None else max(0, until - since)

    def begins(self, uid: str, at_ms: int) -> None:
        """A pod of it runs."""
        if uid in self.begun:
            return
        self.begun[uid] = self.running[uid] = None
        self.started_ms = at_ms if self.started_ms is None else min(self.started_ms, at_ms)

    def ends(self, uid: str, at_ms: int) -> None:
        """A pod of it is over."""
        if uid in self.running:
            del self.running[uid]
            self.ended_ms = at_ms

    def evicted(self) -> None:
        """It was stopped, and will begin anew with other pods."""
        self.started_ms = self.ended_ms = self.admitted_ms = None
        self.running.clear()


class Names:
    """Which job an object is part of. A name that comes again, with another uid, is another job: it has a number after it.
    What a Workload is made of is the Workload, and so are its pods, though nothing but the Workload may say so."""

    def __init__(self) -> None:
        self._workload_of: dict[str, str] = {}
        """uid of what a Workload is made of -> the Workload's name"""
        self._now: dict[str, tuple[str, int]] = {}
        """name -> uid of the one that has it now ("": not seen yet), and how many there were before"""

    def of(self, view: Object) -> str:
        """`Kind namespace/name`, with a number where it isn't the first; "": it is no job, nor part of one."""
        name = self._of(view)
        if not name:
            return ""
        uid, before = self._now.get(name, ("", 0))
        if is_itself(view, name):
            if uid and uid != view.metadata.uid:
                before += 1
            uid = view.metadata.uid
        self._now[name] = uid, before
        return f"{name}-{before + 1}" if before else name

    def _of(self, view: Object) -> str:
        meta = view.metadata
        if isinstance(view, kueue.Workload):
            self._workload_of.update({owner.uid: f"Workload {view.key}" for owner in meta.owner_references})
        elif isinstance(view, QUEUED_TYPES):
            if meta.labels.get(QUEUE_LABEL):
                workload = name_of(SCHEME.of(type(view)), meta.name, meta.uid)
                self._workload_of.setdefault(meta.uid, f"Workload {meta.namespace}/{workload}")
            return "" if meta.uid in self._workload_of else job_of(view)
        elif isinstance(view, core.Pod):
            owner = meta.controller
            queued = self._workload_of.get(meta.uid) or (
                self._workload_of.get(owner.uid) if owner is not None else None
            )
            return queued or job_of(view)
        return job_of(view)


def is_itself(view: Object, name: str) -> bool:
    """Whether it is the job, not a pod of it."""
    return not isinstance(view, core.Pod) or name.startswith("Pod ")


class Survey:
    """What became of all jobs, by name; until when the recording goes, in time and in lines."""

    def __init__(self, start_ms: int) -> None:
        self.jobs: dict[str, Seen] = {}
        self.end_ms = start_ms
        self.last_line = 1
        self.torn = 0
        """the line that was not written to its end, 0 for none"""
        self.of_nodes: dict[str, None] = {}
        """uids of pods that are no jobs"""
        self.owners: dict[str, ObjectMeta] = {}
        """uid -> metadata, of jobs that have Workloads and say anything in annotations"""
        self._start_ms = start_ms
        self._names = Names()
        self._shapes = Shapes()
        self._evicted: dict[str, str] = {}
        self._of_pod: dict[str, Seen] = {}
        """uid -> whose it is"""

    def see(self, line: Line) -> None:
        """The next line."""
        if line.type == TORN:
            self.torn = line.number
            return
        self.end_ms, self.last_line = line.at_ms, line.number
        if line.type not in CHANGES or line.said["object"]["kind"] not in (*KINDS, *OWNERS):
            return
        view = view_of(line.said["object"])
        if isinstance(view, QUEUED_TYPES) and view.metadata.annotations:
            self.owners[view.metadata.uid] = view.metadata
        name = self._names.of(view) if view is not None else ""
        if view is None or not name:
            if isinstance(view, core.Pod):
                self.of_nodes[view.metadata.uid] = None
            return
        gone = line.type == "DELETED"
        job = self.jobs.setdefault(name, Seen())
        if isinstance(view, core.Pod):
            job.by_pods |= is_itself(view, name)
            self._joins(job, view.metadata.uid)
            self._pod(job, view, line.at_ms, gone=gone)
        elif isinstance(view, QUEUED_TYPES):
            standing = queued_of(view).standing(view)
            job.by_pods, job.goes_on = True, not (gone or standing.finished)
            if standing.suspended and not gone:
                job.evicted()
        elif isinstance(view, kueue.Workload) and not gone:
            self._workload(job, view, line.at_ms)

    def _joins(self, job: Seen, uid: str) -> None:
        """The pod is its own, and no other's."""
        before = self._of_pod.get(uid)
        if before is job:
            return
        if before is not None:
            for table in (before.own, before.live, before.running):
                table.pop(uid, None)
        self._of_pod[uid] = job
        job.own[uid] = None

    def _pod(self, job: Seen, pod: core.Pod, at_ms: int, *, gone: bool) -> None:
        uid, phase = pod.metadata.uid, pod.status.phase
        if uid not in job.live and not gone and phase not in OVER:
            try:
                claims = volume_claims(pod.metadata.namespace, pod.metadata.name, pod.spec.volumes)
                meta = pod.metadata
                part = role_of(pod), self._shapes.of(pod.spec, claims, meta.labels, meta.annotations)
            except KumiError:
                return
            job.live[uid] = part
            job.priority = max(job.priority, pod.spec.priority or 0) if job.most else pod.spec.priority or 0
            job.most[part] = max(job.most.get(part, 0), sum(each == part for each in job.live.values()))
        if not gone and (phase == "Running" or (phase in OVER and uid in job.live)):
            said_ms = parse_time(pod.status.start_time) or at_ms
            job.begins(uid, at_ms if phase == "Running" and at_ms > self._start_ms else max(self._start_ms, said_ms))
        if gone or phase in OVER:
            job.ends(uid, at_ms)
            job.live.pop(uid, None)

    def _workload(self, job: Seen, view: kueue.Workload, at_ms: int) -> None:
        conditions = view.status.conditions
        evicted = next((c for c in conditions if c.type == "Evicted" and c.status == "True"), None)
        at = evicted.last_transition_time or "" if evicted is not None else ""
        if evicted is not None and self._evicted.get(view.key) != at:
            self._evicted[view.key] = at
            job.evicted()
        if job.admitted_ms is None and evicted is None and is_true(conditions, "Admitted"):
            job.admitted_ms = at_ms
        if job.finished_ms is None and is_true(conditions, "Finished"):
            job.finished_ms = at_ms


def role_of(pod: core.Pod) -> str:
    """What part of its job a pod is."""
    return volcano.role_of(pod.metadata) or pod.metadata.labels.get(REPLICA_TYPE) or "task"


def roles(most: Iterable[tuple[tuple[str, PodShape], int]]) -> Iterator[tuple[str, int, PodShape]]:
    """(name, how many, shape): of a role with several shapes each but the first has a number."""
    names: dict[str, int] = {}
    for (name, shape), count in most:
        number = names[name] = names.get(name, 0) + 1
        yield (name if number == 1 else f"{name}.{number}"), count, shape
