"""Pods in a queue, alone or as groups: their Workload is made, and they are let go, stopped and counted by it.

The rule, for a pod with a queue's label that no other queued job owns, or all pods of a group:
     1 pods that are too many are deleted; those that were counted, or whose place is taken, or of which all are deleted, lose
       the finalizer `managed`
     2 none is left: the Workload is let go
     3 it is over: the Workload is Finished, and no finalizer is left
     4 there is no Workload: it is made once the pods are there
     5 the Workload is going, or is Evicted: running pods are deleted, and are gone before it gives its quota back. Those of a
       group that admission still holds stay, and wait for others to take the places of the deleted
     6 it is admitted: each pod is told what it got and loses its gate, late ones and replacements too; then PodsReady and the
       pods that have succeeded are told, and whether it waits for replacements
Why        A pod can't be stopped and started again, so a group goes on with new pods.
Keys       `namespace/group`: a group; `namespace/pod/uid`: a pod on its own.
Owners     a pod owns its Workload; of a group each pod does.
Source     Kueue: plain pods, groups of pods.
Not here   what is counted: kumi.jobs.pod_groups. The gate is set on the way in: kumi.jobs.pod_hook.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from kumi.api import core, kueue, scheduling
from kumi.api.meta import Object, find_condition, is_true, owner_reference
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.conditions import Wanted, says, set_all, status_patch, to_json
from kumi.bridge.out.reference import reference
from kumi.bridge.out.start import flavor_names, infos
from kumi.controllers import workload_status
from kumi.controllers.finalizers import without
from kumi.jobs.base import StartConflict
from kumi.jobs.due import told
from kumi.jobs.pod_groups import (
    GROUP_LABEL,
    MANAGED,
    POD,
    Group,
    is_gated,
    priority_source,
    queue_of,
    role_of,
    shapes,
    standing,
)
from kumi.jobs.pod_start import started
from kumi.jobs.templates import is_live
from kumi.jobs.workload import name_of, priority, time_limit
from kumi.runtime.reconcile import NOTHING, Create, Delete, Keys, Note, Outcome, Patch, Watches, Write, no_keys
from kumi.runtime.view import View

RETRY_MS = 2000
"""when to look again for a flavor or a priority class that is not there yet"""
OF_GROUP = "kueue.x-k8s.io/is-group-workload"
REPLACEMENTS = "WaitingForReplacementPods"


@dataclass(frozen=True)
class Whole:
    """A group (or a pod) and its Workload at one look."""

    namespace: str
    group: Group
    workload: kueue.Workload | None

    @property
    def about(self) -> JsonObject:
        """What its events are about: the first pod."""
        return reference(self.group.pods[0])


class PodGroups:
    """See the module."""

    name = "workload-pod"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        keys: dict[type[Object], Keys] = {
            kueue.ResourceFlavor: no_keys,
            kueue.WorkloadPriorityClass: no_keys,
            scheduling.PriorityClass: no_keys,
            core.Pod: _pod_key,
            kueue.Workload: _workload_key,
        }
        return Watches(keys, labels=(GROUP_LABEL,))

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        whole = _whole(view, key)
        group, workload = whole.group, whole.workload
        if not group.pods:
            return _let_go(workload)
        stands = standing(group)
        tidied = _tidied(group, over=stands.finished)
        if tidied:
            return Outcome(tuple(tidied))
        if workload is None:
            return NOTHING if stands.finished or not group.complete else self._make(view, whole, now_ms)
        if is_true(workload.status.conditions, "Finished"):
            return _let_go(workload)
        if stands.finished:
            reason = "Succeeded" if stands.succeeded else "Failed"
            note = Note(whole.about, "FinishedWorkload", f"Workload {workload.key} has finished")
            return Outcome((workload_status.finished(workload, reason, stands.message, now_ms),), (note,))
        if workload.metadata.deletion_timestamp is not None:
            return _stopped(whole, workload_status.without_finalizer(workload), "Its Workload is deleted.")
        if workload.status.admission is None:
            return NOTHING
        evicted = find_condition(workload.status.conditions, "Evicted")
        if evicted is not None and evicted.status == "True":
            return _stopped(whole, workload_status.given_back(workload, now_ms), evicted.message)
        if not is_true(workload.status.conditions, "Admitted"):
            return NOTHING
        return _admitted(view, whole, workload, now_ms)

    def _make(self, view: View, whole: Whole, now_ms: int) -> Outcome:
        classes = view.list(kueue.WorkloadPriorityClass), view.list(scheduling.PriorityClass)
        found = priority(priority_source(whole.group), *classes)
        if found is None:
            note = Note(whole.about, "PriorityClassNotFound", "Its priority class does not exist", "Warning")
            return Outcome(notes=(note,), wake_at_ms=now_ms + RETRY_MS)
        first = whole.group.pods[0]
        spec: JsonObject = {
            "podSets": shapes(whole.group),
            "queueName": queue_of(whole.group),
            "priority": found.value,
            "active": True,
        }
        if found.source is not None:
            spec["priorityClassRef"] = msgspec.to_builtins(found.source)
        limit = time_limit(first)
        if limit is not None:
            spec["maximumExecutionTimeSeconds"] = limit
        made: JsonObject = {
            "apiVersion": SCHEME.of(kueue.Workload).api_version,
            "kind": "Workload",
            "metadata": _metadata(whole),
            "spec": spec,
        }
        name = f"{whole.namespace}/{made['metadata']['name']}"
        return Outcome((Create(made),), (Note(whole.about, "CreatedWorkload", f"Workload {name} is created"),))


def _pod_key(obj: Object) -> tuple[str, ...]:
    meta = obj.metadata
    group = meta.labels.get(GROUP_LABEL)
    if meta.labels.get(MANAGED) != "true":
        return ()
    return (f"{meta.namespace}/{group}",) if group else (f"{meta.namespace}/{meta.name}/{meta.uid}",)


def _workload_key(obj: Object) -> tuple[str, ...]:
    meta = obj.metadata
    if meta.annotations.get(OF_GROUP) == "true":
        return (f"{meta.namespace}/{meta.name}",)
    owner = meta.controller
    if owner is None or (owner.api_version, owner.kind) != ("v1", POD):
        return ()
    return (f"{meta.namespace}/{owner.name}/{owner.uid}",)


def _whole(view: View, key: str) -> Whole:
    namespace, name, *uid = key.split("/")
    if uid:
        pod = view.get(core.Pod, namespace, name)
        pods = (pod,) if pod is not None and pod.metadata.uid == uid[0] else ()
        workload = view.get(kueue.Workload, namespace, name_of(SCHEME.of(core.Pod), name, uid[0]))
        return Whole(namespace, Group("", pods), workload)
    found = [p for p in view.labelled(core.Pod, GROUP_LABEL, name) if p.metadata.namespace == namespace]
    found = [p for p in found if p.metadata.labels.get(MANAGED) == "true"]
    ordered = sorted(found, key=lambda p: (p.metadata.creation_timestamp or "", p.metadata.name))
    return Whole(namespace, Group(name, tuple(ordered)), view.get(kueue.Workload, namespace, name))


def _metadata(whole: Whole) -> JsonObject:
    first, group = whole.group.pods[0], whole.group
    made: JsonObject = {"namespace": whole.namespace, "finalizers": [workload_status.FINALIZER]}
    words = told(*(p.metadata for p in group.counted))
    if not group.name:
        if words:
            made["annotations"] = words
        made["name"] = name_of(SCHEME.of(core.Pod), first.metadata.name, first.metadata.uid)
        made["labels"] = {kueue.JOB_UID_LABEL: first.metadata.uid}
        made["ownerReferences"] = [owner_reference(first, "v1", POD)]
        return made
    owners = [{k: v for k, v in owner_reference(p, "v1", POD).items() if k != "controller"} for p in group.counted]
    return {**made, "name": group.name, "annotations": {OF_GROUP: "true", **words}, "ownerReferences": owners}


def _tidied(group: Group, *, over: bool) -> list[Write]:
    """Excess pods are deleted; a finalizer that has done its work goes."""
    writes: list[Write] = [_delete(pod) for pod in group.excess]
    ended = [p for p in group.pods if p.status.phase in ("Succeeded", "Failed")]
    going = [p for p in group.pods if p.metadata.deletion_timestamp is not None and not is_live(p)]
    if over:
        counted: Iterable[core.Pod] = [p for p in group.pods if p in ended or p in going]
    elif group.name and any(p.metadata.deletion_timestamp is None for p in group.pods):
        counted = [p for p in group.replaced if p in ended or p.spec.node_name == ""]
    else:
        counted = [p for p in going if p in ended or p.spec.node_name == ""]
    patches = (without(pod, MANAGED) for pod in counted)
    return [*writes, *(patch for patch in patches if patch is not None)]


def _let_go(workload: kueue.Workload | None) -> Outcome:
    """Nobody is left who runs it."""
    if workload is None:
        return NOTHING
    patch = workload_status.without_finalizer(workload)
    if patch is not None:
        return Outcome((patch,))
    if workload.metadata.deletion_timestamp is not None or is_true(workload.status.conditions, "Finished"):
        return NOTHING
    meta = workload.metadata
    return Outcome((Delete(SCHEME.of(kueue.Workload), meta.namespace, meta.name, meta.uid),))


def _stopped(whole: Whole, then: Patch | None, message: str) -> Outcome:
    """Deletes what runs; once nothing does, `then`."""
    running = [p for p in whole.group.pods if not is_gated(p) and p.status.phase not in ("Succeeded", "Failed")]
    doomed = [p for p in running if p.metadata.deletion_timestamp is None]
    if doomed:
        notes = tuple(Note(reference(p), "Stopped", message) for p in doomed)
        return Outcome(tuple(_delete(p) for p in doomed), notes)
    return Outcome((then,)) if then is not None and not running else NOTHING


def _admitted(view: View, whole: Whole, workload: kueue.Workload, now_ms: int) -> Outcome:
    gated = [p for p in whole.group.counted if is_gated(p)]
    if not gated:
        patch = workload_status.running(workload, standing(whole.group), now_ms) or _waits(whole, workload, now_ms)
        return Outcome((patch,)) if patch is not None else NOTHING
    names = flavor_names(workload)
    flavors = {name: flavor for name in names if (flavor := view.get(kueue.ResourceFlavor, "", name)) is not None}
    if len(flavors) < len(names):
        return Outcome(wake_at_ms=now_ms + RETRY_MS)
    writes: list[Write] = []
    notes: list[Note] = []
    try:
        by_name = {info.name: info for info in infos(workload, flavors)}
        for pod in gated:
            info = by_name.get(role_of(pod)) if whole.group.name else next(iter(by_name.values()))
            if info is None:
                return _failed(whole, workload, f"pod {pod.metadata.name} is like none that was admitted", now_ms)
            body = started(pod, info)
            writes.append(Patch(SCHEME.of(core.Pod), pod.metadata.namespace, pod.metadata.name, body, type="json"))
            assert workload.status.admission is not None
            message = f"Admitted by ClusterQueue {workload.status.admission.cluster_queue}"
            notes.append(Note(reference(pod), "Started", message))
    except StartConflict as conflict:
        return _failed(whole, workload, str(conflict), now_ms)
    return Outcome(tuple(writes), tuple(notes))


def _failed(whole: Whole, workload: kueue.Workload, why: str, now_ms: int) -> Outcome:
    note = Note(whole.about, "FailedToStart", why, "Warning")
    return Outcome((workload_status.finished(workload, "FailedToStart", why, now_ms),), (note,))


def _waits(whole: Whole, workload: kueue.Workload, now_ms: int) -> Patch | None:
    """The condition WaitingForReplacementPods, where it is another one; nothing before the first pod is lost."""
    group, conditions = whole.group, workload.status.conditions
    missing = max(0, group.total - len(group.counted)) if group.name else 0
    if missing:
        wanted = Wanted(REPLACEMENTS, "True", "PodsFailed", f"{missing} of its pods have to be made anew.")
    elif is_true(conditions, REPLACEMENTS):
        wanted = Wanted(REPLACEMENTS, "False", "PodsReady", "All of its pods are there.")
    else:
        return None
    if says(conditions, wanted):
        return None
    status = {"conditions": to_json(set_all(conditions, [wanted], now_ms))}
    return status_patch(SCHEME.of(kueue.Workload), workload, status)


def _delete(pod: core.Pod) -> Delete:
    meta = pod.metadata
    return Delete(SCHEME.of(core.Pod), meta.namespace, meta.name, meta.uid)
