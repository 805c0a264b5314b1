"""The Workload of a job: one loop for each kind that the queues can hold back.

The rule, first that holds:
     1 the job is gone            a deleted Workload is let go once no pod of the job is left
     2 nobody queues it           no queue label, or its owner is a queued job itself: no Workload
     3 the job has finished       the Workload is Finished; none is ever made for a finished job
     4 there is no Workload       a running job is suspended; one that holds no pods gets its Workload
     5 the Workload is going, is Finished, or is Evicted
                                  the job is stopped; then the Workload is let go, or gives its quota back
     6 it is not admitted         a running job is stopped; a Workload that no longer says what the job wants is changed
     7 it is admitted             a job that changed meanwhile gets a new Workload; else it is started; then its priority
                                  follows its class, and PodsReady and reclaimable pods are told
Why        Quota is given back only when the job holds no pods, so that the next one never meets the pods of the last.
           A job that changes under its Workload never runs with what was admitted for another.
Keys       `namespace/job/uid`: a name that is used again is another job.
Writes     All conditional: on the job's version for start and stop, on the Workload's for its status.
Events     CreatedWorkload, UpdatedWorkload, Started, Stopped, Suspended, FinishedWorkload on the job.
Source     Kueue: the generic job reconciler, see the page "Kueue integration".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import msgspec

from kumi.api import core, kueue, scheduling
from kumi.api.meta import Object, find_condition, is_true
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.into.workload import words
from kumi.bridge.out.reference import reference
from kumi.bridge.out.start import flavor_names, infos
from kumi.controllers import slices, workload_status
from kumi.jobs.base import J, QueuedJob, Standing, StartConflict
from kumi.jobs.due import told
from kumi.jobs.workload import (
    Priority,
    build,
    matches,
    name_of,
    priority,
    priority_source,
    stop_step,
    time_limit,
)
from kumi.runtime.reconcile import NOTHING, Create, Delete, Keys, Note, Outcome, Patch, Watches
from kumi.runtime.view import View

MISSING_RETRY_MS = 2000
"""when to look again for a priority class or a flavor that is not there yet"""


@dataclass(frozen=True)
class Pair(Generic[J]):
    """A job and its Workload at one look."""

    job: J
    workload: kueue.Workload
    standing: Standing


class WorkloadController(Generic[J]):
    """See the module. `parents` are the (group, kind) of all queued kinds: a child of one is not queued again."""

    def __init__(self, queued: QueuedJob[J], parents: tuple[tuple[str, str], ...] = ()) -> None:
        self._queued = queued
        self._parents = parents
        self._kind = SCHEME.of(queued.view_type)
        self._workloads = SCHEME.of(kueue.Workload)
        self.name = f"workload-{self._kind.kind.lower()}"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        keys: dict[type[Object], Keys] = {
            kueue.ResourceFlavor: _no_keys,
            kueue.WorkloadPriorityClass: _no_keys,
            scheduling.PriorityClass: _no_keys,
            self._queued.view_type: lambda job: (f"{job.key}/{job.metadata.uid}",),
            kueue.Workload: self._owner_key,
            core.Pod: lambda pod: self._owner_key(pod) if _concerns(pod) else (),
        }
        return Watches(keys, related={kueue.WorkloadPriorityClass: self._of_class})

    def _owner_key(self, child: Object) -> tuple[str, ...]:
        owner = child.metadata.controller
        if owner is None or owner.kind != self._kind.kind or _group(owner.api_version) != self._kind.group:
            return ()
        return (f"{child.metadata.namespace}/{owner.name}/{owner.uid}",)

    def _of_class(self, changed: Object, view: View) -> list[str]:
        """The jobs whose Workloads have that priority class."""
        name = changed.metadata.name
        found: list[str] = []
        for workload in view.list(kueue.Workload):
            source = workload.spec.priority_class_ref
            if source is not None and (source.kind, source.name) == ("WorkloadPriorityClass", name):
                found += self._owner_key(workload)
        return found

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, name, uid = key.split("/")
        job = view.get(self._queued.view_type, namespace, name)
        workload = view.get(kueue.Workload, namespace, name_of(self._kind, name, uid))
        if job is None or job.metadata.uid != uid or job.metadata.deletion_timestamp is not None:
            return self._gone(view, uid)
        standing = self._queued.standing(job)
        if not self._is_queued(job):
            return self._not_queued(workload, standing)
        if slices.is_elastic(self._kind, job):
            return self._elastic(view, job, standing, now_ms)
        if workload is None:
            return NOTHING if standing.finished else self._make(view, job, standing, now_ms)
        return self._settle(view, Pair(job, workload, standing), now_ms)

    def _elastic(self, view: View, job: J, standing: Standing, now_ms: int) -> Outcome:
        """A job that may change its size while it runs; see slices.py."""
        owned = view.owned(kueue.Workload, job.metadata.uid)
        current, waiting = slices.told_apart(owned)
        if current is None:
            return NOTHING if standing.finished else self._make(view, job, standing, now_ms)
        gone = slices.let_go(owned, current)
        if gone:
            return Outcome(tuple(gone))
        runs = is_true(current.status.conditions, "Admitted") and not is_true(current.status.conditions, "Evicted")
        more = slices.grown(self._queued, job, current)
        if not runs or standing.finished or standing.suspended or more <= 0:
            if waiting is not None:
                return Outcome((self._delete(waiting),))
            if runs and more < 0 and not standing.suspended:
                return Outcome((slices.resized(self._queued, job, current),))
            strays = slices.adopted(view, job.metadata.uid, current) if runs else []
            return Outcome(tuple(strays)) if strays else self._settle(view, Pair(job, current, standing), now_ms)
        if waiting is not None:
            grows = slices.grown(self._queued, job, waiting)
            return Outcome((slices.resized(self._queued, job, waiting),)) if grows else NOTHING
        found = self._priority(view, job)
        if found is None:
            return Outcome(wake_at_ms=now_ms + MISSING_RETRY_MS)
        made = slices.successor(self._queued, job, found, current)
        note = Note(
            reference(job), "CreatedWorkload", f"Slice {made['metadata']['name']} is to take over with {more} more pods"
        )
        return Outcome((Create(made),), (note,))

    def _settle(self, view: View, pair: Pair[J], now_ms: int) -> Outcome:
        """The rule from 3 on, for a job with a Workload."""
        workload, standing = pair.workload, pair.standing
        conditions = workload.status.conditions
        if standing.finished:
            return self._finished(pair, now_ms)
        if workload.metadata.deletion_timestamp is not None:
            return self._stopped_first(
                pair, "Suspended", "Its Workload is deleted.", workload_status.without_finalizer(workload)
            )
        if is_true(conditions, "Finished"):
            ended = find_condition(conditions, "Finished")
            return self._stopped_first(pair, "Stopped", ended.message if ended is not None else "", None)
        if workload.status.admission is None:
            if not standing.suspended:
                return self._stopped_first(pair, "Suspended", "No quota is reserved for it.", None)
            return self._updated(view, pair)
        if is_true(conditions, "Evicted"):
            evicted = find_condition(conditions, "Evicted")
            message = evicted.message if evicted is not None else ""
            return self._stopped_first(pair, "Stopped", message, workload_status.given_back(workload, now_ms))
        return self._admitted(view, pair, now_ms)

    def _is_queued(self, job: J) -> bool:
        owner = job.metadata.controller
        if owner is not None and (_group(owner.api_version), owner.kind) in self._parents:
            return False
        return bool(job.metadata.labels.get(kueue.QUEUE_LABEL))

    def _gone(self, view: View, uid: str) -> Outcome:
        if any(p.status.phase in ("Pending", "Running") for p in view.owned(core.Pod, uid)):
            return NOTHING
        patches = [workload_status.without_finalizer(w) for w in view.owned(kueue.Workload, uid)]
        return Outcome(tuple(patch for patch in patches if patch is not None))

    def _not_queued(self, workload: kueue.Workload | None, standing: Standing) -> Outcome:
        """Its label was taken off: a Workload that is left over goes, and with it what it holds."""
        if workload is None:
            return NOTHING
        if workload.metadata.deletion_timestamp is None:
            return Outcome((self._delete(workload),))
        patch = None if standing.active else workload_status.without_finalizer(workload)
        return Outcome((patch,)) if patch is not None else NOTHING

    def _make(self, view: View, job: J, standing: Standing, now_ms: int) -> Outcome:
        about = reference(job)
        if not standing.suspended:
            said = Note(about, "Suspended", "It waits in its queue: no quota is reserved for it")
            return Outcome((self._job_patch(job, self._queued.suspend_patch()),), (said,))
        if standing.active:
            return NOTHING
        found = self._priority(view, job)
        if found is None:
            source = priority_source(self._queued, job)
            missing = f"{source.kind} {source.name} does not exist" if source is not None else "no priority class"
            note = Note(about, "PriorityClassNotFound", missing, "Warning")
            return Outcome(notes=(note,), wake_at_ms=now_ms + MISSING_RETRY_MS)
        made = build(self._queued, job, found)
        made["metadata"]["finalizers"] = [workload_status.FINALIZER]
        note = Note(
            about, "CreatedWorkload", f"Workload {made['metadata']['namespace']}/{made['metadata']['name']} is created"
        )
        return Outcome((Create(made),), (note,))

    def _finished(self, pair: Pair[J], now_ms: int) -> Outcome:
        workload, standing = pair.workload, pair.standing
        if is_true(workload.status.conditions, "Finished"):
            let_go = workload_status.without_finalizer(workload)
            return Outcome((let_go,)) if let_go is not None else NOTHING
        reason = "Succeeded" if standing.succeeded else "Failed"
        patch = workload_status.finished(workload, reason, standing.message or f"The job has {reason.lower()}.", now_ms)
        return Outcome(
            (patch,), (Note(reference(pair.job), "FinishedWorkload", f"Workload {workload.key} has finished"),)
        )

    def _stopped_first(self, pair: Pair[J], reason: str, message: str, then: Patch | None) -> Outcome:
        """Stops the job step by step; once it holds no pods, `then`.

        A patch of nothing at the job's version goes first: it is refused if the job has been started since."""
        step = stop_step(self._queued, pair.job, pair.workload)
        if step is not None:
            notes = () if pair.standing.suspended else (Note(reference(pair.job), reason, message),)
            return Outcome((self._job_patch(pair.job, step),), notes)
        if pair.standing.active or then is None:
            return NOTHING
        return Outcome((self._job_patch(pair.job, {}), then))

    def _updated(self, view: View, pair: Pair[J]) -> Outcome:
        step = stop_step(self._queued, pair.job, pair.workload)
        if step is not None:
            return Outcome((self._job_patch(pair.job, step),))
        patch = self._update(view, pair)
        if patch is None:
            return NOTHING
        note = Note(reference(pair.job), "UpdatedWorkload", f"Workload {pair.workload.key} follows the job's changes")
        return Outcome((patch,), (note,))

    def _update(self, view: View, pair: Pair[J]) -> Patch | None:
        """What makes a Workload without quota say again what the job wants; None where it does."""
        job, workload = pair.job, pair.workload
        opened = self._opened(pair) or self._told(pair)
        if opened is not None:
            return opened
        same_queue = job.metadata.labels.get(kueue.QUEUE_LABEL, "") == workload.spec.queue_name
        found = self._priority(view, job)
        if found is None:
            return None
        same_priority = self._same_priority(pair) and found.value == (workload.spec.priority or 0)
        same_limit = time_limit(job) == workload.spec.maximum_execution_time_seconds
        if same_queue and same_priority and same_limit and matches(self._queued, job, workload):
            return None
        spec = build(self._queued, job, found)["spec"]
        wanted: JsonObject = {key: spec[key] for key in ("podSets", "queueName", "priority")}
        for optional in ("priorityClassRef", "maximumExecutionTimeSeconds"):
            wanted[optional] = spec.get(optional)
        return self._spec_patch(workload, wanted)

    def _admitted(self, view: View, pair: Pair[J], now_ms: int) -> Outcome:
        job, workload, standing = pair.job, pair.workload, pair.standing
        same_queue = job.metadata.labels.get(kueue.QUEUE_LABEL, "") == workload.spec.queue_name
        if not (same_queue and matches(self._queued, job, workload)):
            return Outcome((self._delete(workload),))
        if not is_true(workload.status.conditions, "Admitted"):
            return NOTHING
        if standing.suspended:
            return self._start(view, pair, now_ms)
        patch = self._new_priority(view, pair) or workload_status.running(workload, standing, now_ms)
        return Outcome((patch,)) if patch is not None else NOTHING

    def _start(self, view: View, pair: Pair[J], now_ms: int) -> Outcome:
        job, workload = pair.job, pair.workload
        names = flavor_names(workload)
        flavors = {name: flavor for name in names if (flavor := view.get(kueue.ResourceFlavor, "", name)) is not None}
        if len(flavors) < len(names):
            return Outcome(wake_at_ms=now_ms + MISSING_RETRY_MS)
        try:
            patch = self._queued.start_patch(job, infos(workload, flavors))
        except StartConflict as conflict:
            note = Note(reference(job), "FailedToStart", str(conflict), "Warning")
            return Outcome((workload_status.finished(workload, "FailedToStart", str(conflict), now_ms),), (note,))
        assert workload.status.admission is not None
        note = Note(reference(job), "Started", f"Admitted by ClusterQueue {workload.status.admission.cluster_queue}")
        return Outcome((self._job_patch(job, patch),), (note,))

    def _priority(self, view: View, job: J) -> Priority | None:
        source = priority_source(self._queued, job)
        return priority(source, view.list(kueue.WorkloadPriorityClass), view.list(scheduling.PriorityClass))

    def _opened(self, pair: Pair[J]) -> Patch | None:
        """Gates that were taken from the job are taken from its Workload; none is ever added."""
        said, wanted = (
            words(obj.metadata.annotations.get(kueue.GATES_ANNOTATION)) for obj in (pair.workload, pair.job)
        )
        left = [gate for gate in said if gate in wanted]
        if len(left) == len(said):
            return None
        meta = pair.workload.metadata
        annotations = {kueue.GATES_ANNOTATION: ",".join(left) or None}
        body: JsonObject = {"metadata": {"resourceVersion": meta.resource_version, "annotations": annotations}}
        return Patch(self._workloads, meta.namespace, meta.name, body)

    def _told(self, pair: Pair[J]) -> Patch | None:
        """What the job says of time now; what only the Workload says stays."""
        meta, words = pair.workload.metadata, told(pair.job.metadata)
        if all(meta.annotations.get(key) == word for key, word in words.items()):
            return None
        body: JsonObject = {"metadata": {"resourceVersion": meta.resource_version, "annotations": words}}
        return Patch(self._workloads, meta.namespace, meta.name, body)

    def _new_priority(self, view: View, pair: Pair[J]) -> Patch | None:
        """Its class is another one, or is worth something else: the order of what waits and the choice of victims follow."""
        found, workload = self._priority(view, pair.job), pair.workload
        if found is None or (self._same_priority(pair) and found.value == workload.spec.priority):
            return None
        source = msgspec.to_builtins(found.source) if found.source is not None else None
        return self._spec_patch(workload, {"priority": found.value, "priorityClassRef": source})

    def _same_priority(self, pair: Pair[J]) -> bool:
        wanted, said = priority_source(self._queued, pair.job), pair.workload.spec.priority_class_ref
        if wanted is None:
            return said is None or said.kind != "WorkloadPriorityClass"
        return said is not None and (said.kind, said.name) == (wanted.kind, wanted.name)

    def _job_patch(self, job: J, body: JsonObject) -> Patch:
        meta = job.metadata
        conditional = {**body, "metadata": {**body.get("metadata", {}), "resourceVersion": meta.resource_version}}
        return Patch(self._kind, meta.namespace, meta.name, conditional)

    def _spec_patch(self, workload: kueue.Workload, spec: JsonObject) -> Patch:
        meta = workload.metadata
        body = {"metadata": {"resourceVersion": meta.resource_version}, "spec": spec}
        return Patch(self._workloads, meta.namespace, meta.name, body)

    def _delete(self, workload: kueue.Workload) -> Delete:
        meta = workload.metadata
        return Delete(self._workloads, meta.namespace, meta.name, meta.uid)


def _concerns(pod: Object) -> bool:
    """Whether a pod's change may matter to a Workload: it goes, or it is a slice's."""
    return bool(pod.metadata.deletion_timestamp) or kueue.SLICE_ANNOTATION in pod.metadata.annotations


def _no_keys(_: Object) -> tuple[str, ...]:
    return ()


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]
