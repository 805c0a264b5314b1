"""Deployment: keeps pods of one template, and replaces them when the template changes.

One look does the first of these that has something to do; what it writes leads to the next look:
    1 sets         adopt and let go (adoption.py)                    deleted: the status only
    2 paused       said so, and resumed
    3 new set      made, or numbered anew (revisions.py); a name that another set has taken counts as a collision
    4 revision     noted on the Deployment
    5 sizes        scaled, or one step of the rollout (rollout.py); a paused one is scaled only
    6 history      sets that are empty, beyond revisionHistoryLimit, the oldest revision first
    7 status       always (deployment_status.py)
Source     Kubernetes: Deployments.
"""

from __future__ import annotations

from collections.abc import Sequence

from kumi.api.apps import Deployment, DeploymentStatus, ReplicaSet
from kumi.api.core import Pod
from kumi.api.meta import Object, find_condition
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.controllers import deployment_status as progress
from kumi.controllers import revisions
from kumi.controllers.adoption import claim
from kumi.controllers.own_status import written
from kumi.controllers.owners import owner_keys, reference, takers
from kumi.controllers.rollout import Bounds, Size, bounds, grown, shared, shrunk
from kumi.jobs.templates import FINISHED
from kumi.runtime.reconcile import (
    NOTHING,
    Create,
    Delete,
    Note,
    Outcome,
    Patch,
    Related,
    Watches,
    Write,
    no_keys,
    own_key,
)
from kumi.runtime.view import View

_OWNER = owner_keys("apps", "Deployment")


class DeploymentController:
    """See the module."""

    name = "deployment-controller"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        related: dict[type[Object], Related] = {ReplicaSet: takers(Deployment), Pod: _of_pod}
        return Watches({Deployment: own_key, ReplicaSet: _OWNER, Pod: no_keys}, related=related)

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.partition("/")
        found = view.get(Deployment, namespace, name)
        if found is None:
            return NOTHING
        sets, claims = claim(found, found.spec.selector, view.list(ReplicaSet, namespace))
        if claims:
            return Outcome(tuple(claims))
        look = _Look(found, sets, view, now_ms)
        if found.metadata.deletion_timestamp is not None:
            return look.status()
        steps = (look.pausing, look.new_set, look.numbered, look.scaled, look.stepped, look.cleaned)
        for step in steps:
            outcome = step()
            if outcome is not None:
                return outcome
        return look.status()


class _Look:
    """One look at a Deployment and its sets."""

    def __init__(self, found: Deployment, sets: Sequence[ReplicaSet], view: View, now_ms: int) -> None:
        self._found, self._view, self._now_ms = found, view, now_ms
        self._new = revisions.new_set(found, sets)
        by_age = sorted(sets, key=lambda each: (each.metadata.creation_timestamp or "", each.metadata.name))
        self._old = [each for each in by_age if each is not self._new]
        wanted = 1 if found.spec.replicas is None else found.spec.replicas
        rolling = found.spec.strategy.type == "RollingUpdate"
        self._recreates = not rolling
        self._bounds = bounds(wanted, found.spec.strategy.rolling_update) if rolling else Bounds(wanted, 0, wanted)

    def pausing(self) -> Outcome | None:
        """Says once that it is paused, and once that it goes on."""
        before = find_condition(self._found.status.conditions, progress.PROGRESSING)
        was_paused = before is not None and before.reason == progress.PAUSED
        if self._found.spec.paused and not was_paused:
            return self._said(progress.PAUSED, "Deployment is paused", "Unknown")
        if not self._found.spec.paused and was_paused:
            return self._said(progress.RESUMED, "Deployment is resumed", "Unknown")
        return None

    def new_set(self) -> Outcome | None:
        """Makes the new set, or gives it the number and the annotations that it should have."""
        if self._found.spec.paused:
            return None
        revision = 1 + max((revisions.revision_of(old.metadata.annotations) for old in self._old), default=0)
        if self._new is not None:
            lacking = revisions.renumbered(self._found, self._new, revision)
            if lacking:
                return Outcome((self._annotate(self._new, lacking),))
            before = find_condition(self._found.status.conditions, progress.PROGRESSING)
            if before is None:
                text = f'Found new replica set "{self._new.metadata.name}"'
                return self._said(progress.FOUND, text, "True")
            return None
        if self._recreates and (any(each.spec.replicas for each in self._old) or self._old_pods()):
            return None
        made = revisions.made(self._found, 0, self._bounds.most, revision)
        name = made["metadata"]["name"]
        if self._view.get(ReplicaSet, self._found.metadata.namespace, name) is not None:
            status = _copied(self._found.status)
            status.collision_count = (status.collision_count or 0) + 1
            return Outcome(tuple(self._patched(status)))
        size = grown(self._bounds, Size(name, 0, 0), self._sizes(self._old))
        made["spec"]["replicas"] = self._bounds.wanted if self._recreates else size
        said = progress.announced(self._found, progress.MADE, f'Created new replica set "{name}"', "True", self._now_ms)
        text = f"Scaled up replica set {name} from 0 to {made['spec']['replicas']}"
        notes = (Note(reference(self._found), "ScalingReplicaSet", text),) if made["spec"]["replicas"] else ()
        return Outcome((Create(made), *(self._patched(said) if said is not None else ())), notes)

    def numbered(self) -> Outcome | None:
        """Notes the revision on the Deployment."""
        if self._new is None:
            return None
        revision = self._new.metadata.annotations.get(revisions.REVISION, "")
        if not revision or self._found.metadata.annotations.get(revisions.REVISION) == revision:
            return None
        return Outcome((self._annotate(self._found, {revisions.REVISION: revision}),))

    def scaled(self) -> Outcome | None:
        """Follows a change of the number wanted: at once where one set has all pods, else in proportion."""
        sets = [*([self._new] if self._new else []), *reversed(self._old)]
        active = [each for each in sets if each.spec.replicas]
        stale = [each for each in active if _noted(each, revisions.DESIRED) not in (None, self._bounds.wanted)]
        if not stale:
            return None
        if len(active) == 1 and active[0] is self._new:
            return self._resize({active[0].metadata.name: self._bounds.wanted}) or self._renote(active)
        if self._recreates:
            return self._renote(active)
        return self._resize(shared(self._bounds, self._sizes(sets))) or self._renote(active)

    def stepped(self) -> Outcome | None:
        """One step of the rollout."""
        if self._found.spec.paused:
            return self._lone()
        if self._recreates:
            down = {each.metadata.name: 0 for each in self._old if each.spec.replicas}
            if down:
                return self._resize(down)
            if self._new is not None and not self._old_pods():
                return self._resize({self._new.metadata.name: self._bounds.wanted})
            return None
        if self._new is None:
            return None
        [new], old = self._sizes([self._new]), self._sizes(self._old)
        up = self._resize({new.name: grown(self._bounds, new, old)})
        return up or self._resize(shrunk(self._bounds, new, old))

    def cleaned(self) -> Outcome | None:
        """Drops the oldest revisions that are too many."""
        limit = self._found.spec.revision_history_limit
        status = progress.status_of(self._found, self._new, self._old, self._bounds.least, self._now_ms)
        if limit is None or not progress.is_complete(self._found, status):
            return None
        empty = [
            each
            for each in self._old
            if not each.spec.replicas
            and not each.status.replicas
            and each.status.observed_generation >= each.metadata.generation
            and each.metadata.deletion_timestamp is None
        ]
        surplus = max(0, len(empty) - limit)
        empty.sort(key=lambda each: (revisions.revision_of(each.metadata.annotations), each.metadata.name))
        writes = [self._delete(each) for each in empty[:surplus]]
        return Outcome(tuple(writes)) if writes else None

    def status(self) -> Outcome:
        """The status as it is now."""
        status = progress.status_of(self._found, self._new, self._old, self._bounds.least, self._now_ms)
        wake_at_ms = None
        if not self._found.spec.paused:
            wake_at_ms = progress.judge_progress(self._found, self._new, status, self._now_ms)
        return Outcome(tuple(self._patched(status)), wake_at_ms=wake_at_ms)

    def _lone(self) -> Outcome | None:
        """A paused one that has all pods in one set is still scaled."""
        active = [each for each in [*([self._new] if self._new else []), *self._old] if each.spec.replicas]
        if len(active) != 1:
            return None
        return self._resize({active[0].metadata.name: self._bounds.wanted})

    def _old_pods(self) -> bool:
        """Whether pods of old sets still run or stop."""
        uids = [each.metadata.uid for each in self._old]
        pods = [pod for uid in uids for pod in self._view.owned(Pod, uid)]
        return any(pod.status.phase not in FINISHED for pod in pods)

    def _sizes(self, sets: Sequence[ReplicaSet]) -> list[Size]:
        return [
            Size(
                each.metadata.name,
                each.spec.replicas or 0,
                each.status.available_replicas,
                _noted(each, revisions.MOST) or 0,
            )
            for each in sets
        ]

    def _resize(self, sizes: dict[str, int]) -> Outcome | None:
        """Patches of the sets whose size changes, with the room that they now share."""
        by_name = {each.metadata.name: each for each in [*([self._new] if self._new else []), *self._old]}
        writes: list[Write] = []
        notes = []
        for name, size in sizes.items():
            each = by_name[name]
            before = each.spec.replicas or 0
            if before == size:
                continue
            noted = revisions.numbers(self._found, self._bounds.most)
            writes.append(self._annotate(each, noted, {"spec": {"replicas": size}}))
            way = "up" if size > before else "down"
            text = f"Scaled {way} replica set {name} from {before} to {size}"
            notes.append(Note(reference(self._found), "ScalingReplicaSet", text))
        return Outcome(tuple(writes), tuple(notes)) if writes else None

    def _renote(self, sets: Sequence[ReplicaSet]) -> Outcome | None:
        """Notes the size that sets now share, where they need no other."""
        noted = revisions.numbers(self._found, self._bounds.most)
        return Outcome(tuple(self._annotate(each, noted) for each in sets))

    def _said(self, reason: str, text: str, status: str) -> Outcome | None:
        new = progress.announced(self._found, reason, text, status, self._now_ms)
        return Outcome(tuple(self._patched(new))) if new is not None else None

    def _patched(self, status: DeploymentStatus) -> list[Write]:
        return [*written(self._found, self._found.status, status)]

    def _annotate(self, obj: Object, annotations: dict[str, str], more: JsonObject | None = None) -> Patch:
        meta = obj.metadata
        body = {"metadata": {"resourceVersion": meta.resource_version, "annotations": annotations}, **(more or {})}
        return Patch(SCHEME.of(type(obj)), meta.namespace, meta.name, body)

    def _delete(self, each: ReplicaSet) -> Delete:
        return Delete(SCHEME.of(ReplicaSet), each.metadata.namespace, each.metadata.name, each.metadata.uid)


def _copied(status: DeploymentStatus) -> DeploymentStatus:
    return DeploymentStatus(**{name: getattr(status, name) for name in DeploymentStatus.__struct_fields__})


def _noted(each: ReplicaSet, annotation: str) -> int | None:
    text = each.metadata.annotations.get(annotation, "")
    return int(text) if text.isdecimal() else None


def _of_pod(pod: Object, view: View) -> list[str]:
    """A pod that goes may be the last of an old set that a recreation waits for."""
    owner = pod.metadata.controller
    if owner is None or owner.kind != "ReplicaSet":
        return []
    found = view.get(ReplicaSet, pod.metadata.namespace, owner.name)
    return [*_OWNER(found)] if found is not None and found.metadata.uid == owner.uid else []
