"""StatefulSet: pods with names that stay, made in order, one after the other.

    pod        `<set>-<ordinal>`, ordinals from ordinals.start on; its claims `<template>-<set>-<ordinal>` are made before it
    revision   a ControllerRevision holds each template that pods were made from; a pod's label controller-revision-hash says
               which is its own
The rule, one look:
    1 claims and a missing revision are written
    2 ended pods (Failed, Succeeded) are deleted, and made again under their name when they are gone
    3 ordinals from the first up: a missing pod is made, of the update revision, but of the current one below the partition.
      Ordered: it goes on only past a pod that runs, is ready (for minReadySeconds) and is not being deleted
    4 pods beyond the last ordinal are deleted, the last first. Ordered: one at a time, and only when all before are well
    5 RollingUpdate: of pods at or past the partition the last one that is not of the update revision is deleted, once all past
      it are well
    6 claims of pods that are no more, where whenScaled is Delete
Safety     A pod of the right name that another manages is in the way: nothing is made in its place.
Status     counts; the update revision becomes the current one when all pods are of it and well.
Source     Kubernetes: StatefulSet (deployment and scaling guarantees, update strategies, claim retention).
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api.apps import ControllerRevision, StatefulSet, StatefulSetStatus
from kumi.api.claims import PersistentVolumeClaim
from kumi.api.core import Pod
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.controllers.availability import available_at_ms
from kumi.controllers.controller_revisions import HASH, Revision, kept, revision_of, surplus
from kumi.controllers.own_status import written
from kumi.controllers.owners import owner_keys, reference
from kumi.controllers.stateful_pods import claims_of, pod_for
from kumi.jobs.templates import FINISHED, is_ready
from kumi.runtime.reconcile import NOTHING, Create, Delete, Keys, Note, Outcome, Watches, Write, own_key
from kumi.runtime.view import View


class StatefulSetController:
    """See the module."""

    name = "statefulset-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        children: tuple[type[Object], ...] = (Pod, ControllerRevision, PersistentVolumeClaim)
        keys: dict[type[Object], Keys] = dict.fromkeys(children, owner_keys("apps", "StatefulSet"))
        return Watches({**keys, StatefulSet: own_key})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        found = view.get(StatefulSet, namespace, name)
        if found is None:
            return NOTHING
        return _Look(found, view, now_ms).outcome()


class _Look:
    """One look at a set and its pods."""

    def __init__(self, found: StatefulSet, view: View, now_ms: int) -> None:
        self._found, self._view, self._now_ms = found, view, now_ms
        self._ordered = found.spec.pod_management_policy != "Parallel"
        self._wanted = 1 if found.spec.replicas is None else found.spec.replicas
        self._start = found.spec.ordinals.start
        self._pods = {ordinal_of(found, pod): pod for pod in view.owned(Pod, found.metadata.uid)}
        self._revisions = list(view.owned(ControllerRevision, found.metadata.uid))
        self._update = revision_of(found, found.spec.template, self._revisions)
        current = next((r for r in self._revisions if r.metadata.name == found.status.current_revision), None)
        self._current = Revision.of(current) if current is not None else self._update
        self._wakes: list[int] = []

    def outcome(self) -> Outcome:
        """See the module."""
        lacking = kept(self._update, self._found, self._revisions, {"controller.kubernetes.io/hash": self._update.hash})
        if lacking is not None:
            return Outcome((lacking,))
        writes: list[Write] = []
        notes: list[Note] = []
        if self._found.metadata.deletion_timestamp is None:
            for step in (self._ended, self._missing, self._surplus, self._outdated, self._history, self._old_claims):
                done, told = step()
                writes, notes = writes + done, notes + told
                if done and self._ordered:
                    break
        writes += written(self._found, self._found.status, self._status())
        return Outcome(tuple(writes), tuple(notes), min(self._wakes, default=None))

    def _ordinals(self) -> range:
        return range(self._start, self._start + self._wanted)

    def _ended(self) -> tuple[list[Write], list[Note]]:
        ended = [p for p in self._pods.values() if p.status.phase in FINISHED and not p.metadata.deletion_timestamp]
        return self._deleted(ended, "RecreatingTerminatedPod", "is recreating terminated")

    def _missing(self) -> tuple[list[Write], list[Note]]:
        writes: list[Write] = []
        notes: list[Note] = []
        for ordinal in self._ordinals():
            if ordinal not in self._pods:
                made = self._make(ordinal)
                writes += made
                if made:
                    name = self._found.metadata.name
                    text = f"create Pod {name}-{ordinal} in StatefulSet {name} successful"
                    notes.append(Note(reference(self._found), "SuccessfulCreate", text))
            if self._ordered and (ordinal not in self._pods or not self._is_well(self._pods[ordinal])):
                break
        return writes, notes

    def _make(self, ordinal: int) -> list[Write]:
        found, name = self._found, f"{self._found.metadata.name}-{ordinal}"
        if self._view.get(Pod, found.metadata.namespace, name) is not None:
            return []
        missing = [
            claim
            for claim in claims_of(found, ordinal)
            if self._view.get(PersistentVolumeClaim, found.metadata.namespace, claim["metadata"]["name"]) is None
        ]
        revision = self._current if ordinal < self._start + self._partition() else self._update
        return [*map(Create, missing), Create(pod_for(found, ordinal, revision.template, revision.name))]

    def _surplus(self) -> tuple[list[Write], list[Note]]:
        beyond = sorted((o for o in self._pods if o not in self._ordinals()), reverse=True)
        if self._ordered:
            if any(not self._is_well(pod) for ordinal, pod in self._pods.items() if ordinal in self._ordinals()):
                return [], []
            if any(self._pods[ordinal].metadata.deletion_timestamp for ordinal in beyond):
                return [], []
            beyond = beyond[:1]
        return self._deleted([self._pods[o] for o in beyond], "SuccessfulDelete", "")

    def _outdated(self) -> tuple[list[Write], list[Note]]:
        if self._found.spec.update_strategy.type != "RollingUpdate":
            return [], []
        for ordinal in reversed(self._ordinals()):
            pod = self._pods.get(ordinal)
            if ordinal < self._start + self._partition():
                return [], []
            if pod is None or pod.metadata.deletion_timestamp is not None:
                return [], []
            if pod.metadata.labels.get(HASH) != self._update.name:
                return self._deleted([pod], "SuccessfulDelete", "")
            if not self._is_well(pod):
                return [], []
        return [], []

    def _history(self) -> tuple[list[Write], list[Note]]:
        """Revisions that no pod is of, beyond the limit, the oldest first."""
        used = {pod.metadata.labels.get(HASH, "") for pod in self._pods.values()}
        used |= {self._update.name, self._current.name}
        return surplus(self._revisions, used, self._found.spec.revision_history_limit), []

    def _old_claims(self) -> tuple[list[Write], list[Note]]:
        if self._found.spec.persistent_volume_claim_retention_policy.when_scaled != "Delete":
            return [], []
        kind = SCHEME.of(PersistentVolumeClaim)
        writes: list[Write] = []
        for claim in self._view.list(PersistentVolumeClaim, self._found.metadata.namespace):
            ordinal = self._ordinal_of_claim(claim)
            if ordinal is None or ordinal in self._ordinals() or ordinal in self._pods:
                continue
            if claim.metadata.deletion_timestamp is None:
                writes.append(Delete(kind, claim.metadata.namespace, claim.metadata.name, claim.metadata.uid))
        return writes, []

    def _ordinal_of_claim(self, claim: PersistentVolumeClaim) -> int | None:
        for template in self._found.spec.volume_claim_templates:
            start = f"{template['metadata']['name']}-{self._found.metadata.name}-"
            rest = claim.metadata.name.removeprefix(start)
            if claim.metadata.name.startswith(start) and rest.isdecimal():
                return int(rest)
        return None

    def _deleted(self, pods: Sequence[Pod], reason: str, doing: str) -> tuple[list[Write], list[Note]]:
        kind, about, name = SCHEME.of(Pod), reference(self._found), self._found.metadata.name
        writes: list[Write] = []
        notes = []
        for pod in pods:
            if pod.metadata.deletion_timestamp is not None:
                continue
            writes.append(Delete(kind, pod.metadata.namespace, pod.metadata.name, pod.metadata.uid))
            text = f"delete Pod {pod.metadata.name} in StatefulSet {name} successful"
            if doing:
                text = f"StatefulSet {pod.metadata.namespace}/{name} {doing} Pod {pod.metadata.name}"
            notes.append(Note(about, reason, text))
        return writes, notes

    def _partition(self) -> int:
        rolling = self._found.spec.update_strategy.rolling_update or {}
        return int(rolling.get("partition") or 0)

    def _is_well(self, pod: Pod) -> bool:
        """Runs, is available, and stays."""
        if pod.metadata.deletion_timestamp is not None or pod.status.phase in FINISHED:
            return False
        at = available_at_ms(pod, self._found.spec.min_ready_seconds)
        if at is not None and at > self._now_ms:
            self._wakes.append(at)
        return at is not None and at <= self._now_ms

    def _status(self) -> StatefulSetStatus:
        live = [pod for pod in self._pods.values() if pod.status.phase not in FINISHED]
        updated = [pod for pod in live if pod.metadata.labels.get(HASH) == self._update.name]
        well = [pod for pod in live if self._is_well(pod)]
        settled = len(updated) == len(well) == len(live) == self._wanted
        current = self._update.name if settled else self._found.status.current_revision or self._current.name
        return StatefulSetStatus(
            observed_generation=self._found.metadata.generation,
            replicas=len(live),
            ready_replicas=sum(is_ready(pod) for pod in live),
            available_replicas=len(well),
            current_replicas=sum(pod.metadata.labels.get(HASH) == current for pod in live),
            updated_replicas=len(updated),
            current_revision=current,
            update_revision=self._update.name,
            collision_count=self._found.status.collision_count or 0,
            conditions=self._found.status.conditions,
        )


def ordinal_of(found: StatefulSet, pod: Pod) -> int:
    """A pod's number; -1 for a name that has none."""
    rest = pod.metadata.name.removeprefix(f"{found.metadata.name}-")
    return int(rest) if rest.isdecimal() else -1
