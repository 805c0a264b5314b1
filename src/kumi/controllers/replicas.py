"""The loop that makes a job's pods: one for all kinds, what each kind wants is in kumi.jobs.

The rule   read the job and its children (those whose controller reference has the job's uid: nothing is adopted by name or
           label), ask the kind, and write: alterations, deletions, creations, the status, or the end of the job.
Safety     a deletion names the uid; an alteration and the status carry the version that was read, so that a decision
           on a stale view is refused and made again; a creation has a name that a repetition of it finds taken.
           A merge patch of the status comes last: what it claims has been done.
Orphans    a child that a finalizer holds, and whose job is gone, loses the finalizer: nobody will count it any more.
Source     Kubernetes: controllers, owners and dependents, finalizers.
"""

from __future__ import annotations

from typing import Generic

from kumi.api.core import Pod, Service
from kumi.api.meta import Object
from kumi.api.scheduling import PriorityClass
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.out.reference import reference
from kumi.controllers.owners import owner_keys
from kumi.jobs.base import Children, J, Replicas, Settings, Sync
from kumi.runtime.reconcile import NOTHING, Create, Delete, Keys, Note, Outcome, Patch, Watches, Write, no_keys, own_key
from kumi.runtime.view import View


class ReplicasController(Generic[J]):
    """See the module."""

    def __init__(self, replicas: Replicas[J], settings: Settings) -> None:
        self._replicas, self._settings = replicas, settings
        self._child_types = replicas.child_types(settings)
        self._kind = SCHEME.of(replicas.view_type)
        self._owner_keys = owner_keys(self._kind.group, self._kind.kind)
        self.name = f"{self._kind.kind.lower()}-controller"

    @property
    def watches(self) -> Watches:
        """The job by its own key, children by their controller's name."""
        keys: dict[type[Object], Keys] = {self._replicas.view_type: own_key}
        for child in self._child_types:
            keys[child] = self._owner_keys
        if self._settings.gang_scheduler:
            keys[PriorityClass] = no_keys
        labels = (self._replicas.name_label,) if self._replicas.finalizer else ()
        return Watches(keys, labels)

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """One look at one job."""
        namespace, _, name = key.partition("/")
        job = view.get(self._replicas.view_type, namespace, name)
        orphans = self._orphans(view, namespace, name, job)
        if job is None:
            return Outcome(orphans) if orphans else NOTHING
        sync = self._replicas.sync(job, self._children(view, job), self._settings, now_ms)
        about = reference(job)
        return Outcome(
            writes=(*orphans, *self._writes(job, sync)),
            notes=tuple(Note(about, said.reason, said.message, said.type) for said in sync.said),
            wake_at_ms=sync.wake_at_ms,
        )

    def _children(self, view: View, job: J) -> Children:
        uid = job.metadata.uid
        others: list[Object] = []
        for type_ in self._child_types:
            if type_ not in (Pod, Service):
                others += view.owned(type_, uid)
        services = view.owned(Service, uid) if Service in self._child_types else ()
        gang = self._settings.gang_scheduler
        ranks = {c.metadata.name: c.value for c in view.list(PriorityClass)} if gang else {}
        return Children(tuple(view.owned(Pod, uid)), tuple(services), tuple(others), ranks)

    def _orphans(self, view: View, namespace: str, name: str, job: J | None) -> tuple[Write, ...]:
        finalizer = self._replicas.finalizer
        if not finalizer:
            return ()
        return tuple(
            _without(pod, finalizer)
            for pod in view.labelled(Pod, self._replicas.name_label, name)
            if pod.metadata.namespace == namespace
            and finalizer in pod.metadata.finalizers
            and self._owner_keys(pod) == (f"{namespace}/{name}",)
            and (job is None or pod.metadata.controller is None or pod.metadata.controller.uid != job.metadata.uid)
        )

    def _writes(self, job: J, sync: Sync) -> list[Write]:
        meta = job.metadata
        writes: list[Write] = []
        for alteration in sync.alter:
            body = alteration.body
            version = {"resourceVersion": alteration.object.metadata.resource_version}
            conditional = {**body, "metadata": {**(body.get("metadata") or {}), **version}}
            writes.append(_patch(alteration.object, conditional))
        writes += [_delete(removal.object) for removal in sync.remove]
        writes += [Create(obj) for obj in sync.create]
        if sync.status is not None:
            body = {"metadata": {"resourceVersion": meta.resource_version}, "status": sync.status}
            writes.append(Patch(self._kind, meta.namespace, meta.name, body, "status"))
        if sync.delete_job:
            writes.append(Delete(self._kind, meta.namespace, meta.name, meta.uid))
        return writes


def _patch(obj: Object, body: JsonObject) -> Patch:
    return Patch(SCHEME.of(type(obj)), obj.metadata.namespace, obj.metadata.name, body)


def _delete(obj: Object) -> Delete:
    return Delete(SCHEME.of(type(obj)), obj.metadata.namespace, obj.metadata.name, obj.metadata.uid)


def _without(pod: Pod, finalizer: str) -> Patch:
    left = [f for f in pod.metadata.finalizers if f != finalizer]
    version = pod.metadata.resource_version
    return _patch(pod, {"metadata": {"resourceVersion": version, "finalizers": left or None}})
