"""Arriving: manifests of jobs, pods and pod groups that are created at one instant, as Jobs.

The rule   in a queue     a job of a kind that the queues know, or pods, with the label kueue.x-k8s.io/queue-name: a Workload with
                          its pod sets, as kumi.jobs makes it; so is a Workload that stands alone
           in none        a job's pods come as they are: on their own; as a gang where they name Volcano as their scheduler, of as
                          many as scheduling.volcano.sh/group-min-member says, else one
           a PodGroup     with all pods that name it and are created at the same instant: a gang of minMember
           a pod          on its own; where it names Volcano, a gang of one
Key        namespace/name; again, or of another kind with that name: a number after it.
Priority   of a workload its class's; of pods their PriorityClass's, or the default one's; of a gang its own class's, else that of
           its pods.
Lengths    what they say (said.py); of pods together the longest. A Job with more completions than pods at a time runs in rounds,
           one after the other.
Roles      pod sets; of a PodGroup's pods those of one role (volcano.sh/task-spec) and shape.
Errors     ManifestError: a class that isn't there, pods without their group, a group without its pods, a job that never starts.
Not here   when, and what else there is: plays.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kumi.api import core, kueue, volcano
from kumi.api.batch import Job as BatchJob
from kumi.api.limits import LimitRange
from kumi.api.meta import Object, ObjectMeta, format_time
from kumi.api.node import RuntimeClass
from kumi.api.scheduling import PriorityClass
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.bridge.into.adjusted import Around, adjusted
from kumi.bridge.into.shape import Shapes
from kumi.bridge.scheduler_names import VOLCANO_SCHEDULER
from kumi.engine.model import PodShape
from kumi.evaluator.manifests import ManifestError, checked, name_of
from kumi.evaluator.model import Job, Role, Via
from kumi.evaluator.said import Said, said
from kumi.jobs import QUEUED
from kumi.jobs.base import PodSetShape, QueuedJob
from kumi.jobs.job_plan import plan_of
from kumi.jobs.pod_groups import ALONE, GROUP_LABEL, role_hash, total_of
from kumi.jobs.workload import priority, priority_source

LEAST = "scheduling.volcano.sh/group-min-member"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""the PriorityClasses that every cluster has"""
Made: TypeAlias = tuple[Job, tuple[tuple[JsonObject, str], ...]]
"""a job, and the manifests that it is made of, each with the role that it has as a pod of it"""


@dataclass(slots=True)
class _Came:
    """A manifest that came, as it is read. `role`: found when its job is made."""

    manifest: JsonObject
    stored: JsonObject
    view: Any
    role: str = ""

    @property
    def meta(self) -> ObjectMeta:
        """Its metadata."""
        meta: ObjectMeta = self.view.metadata
        return meta

    def wrong(self, what: str) -> ManifestError:
        """What is wrong with it."""
        return ManifestError(name_of(self.manifest), [what])


class Arriving:
    """See the module; holds what is around jobs, and the keys that were given out."""

    def __init__(self) -> None:
        self._shapes = Shapes()
        self._around = Around()
        self._classes = {
            name: PriorityClass(metadata=ObjectMeta(name=name), value=value) for name, value in SYSTEM_CLASSES.items()
        }
        self._workload_classes: dict[str, kueue.WorkloadPriorityClass] = {}
        self._keys: dict[str, None] = {}
        self._queued = {(SCHEME.of(q.view_type).group, SCHEME.of(q.view_type).kind): q for q in QUEUED}

    def takes(self, obj: JsonObject) -> bool:
        """Whether such an object is a job, or a part of one."""
        return _group_kind(obj) in self._queued or _group_kind(obj) in PARTS

    def learn(self, view: LimitRange | RuntimeClass, *, gone: bool) -> None:
        """There is such a thing around pods now, or it is gone."""
        if gone:
            self._around.drop(view)
        else:
            self._around.put(view)

    def rank(self, view: kueue.WorkloadPriorityClass | PriorityClass, *, gone: bool) -> None:
        """There is such a class now, or it is gone."""
        classes: dict[str, Any] = self._classes if isinstance(view, PriorityClass) else self._workload_classes
        if gone:
            classes.pop(view.metadata.name, None)
        else:
            classes[view.metadata.name] = view

    def jobs(self, at_ms: int, manifests: Sequence[JsonObject]) -> Iterator[Made]:
        """What was created at one instant, as jobs, in the order in which their first manifests came. ManifestError."""
        now = format_time(at_ms)
        came = [_Came(obj, right.stored, right.view) for obj in manifests for right in (checked(obj, now),)]
        for together in _together(came):
            job = self._job(together)
            made_of = tuple((one.manifest, one.role) for one in together)
            yield replace(job, key=self._key(job.key), arrives_ms=at_ms), made_of

    def _job(self, together: Sequence[_Came]) -> Job:
        first = together[0]
        queued = self._queued.get(_group_kind(first.manifest))
        if queued is not None:
            return self._of_kind(queued, first)
        match first.view:
            case kueue.Workload():
                return self._of_workload(first)
            case volcano.PodGroup():
                return self._of_group(first, together[1:])
        if kueue.QUEUE_LABEL in first.meta.labels:
            return self._of_queued_pods(together)
        if volcano.GROUP_NAME_ANNOTATION in first.meta.annotations:
            group = first.meta.annotations[volcano.GROUP_NAME_ANNOTATION]
            raise first.wrong(f"its PodGroup {group!r} is not created at the same moment")
        return self._of_pod(first)

    def _of_kind(self, queued: QueuedJob[Any], came: _Came) -> Job:
        shapes = queued.pod_sets(came.view)
        metas = [came.meta, *(_meta_of(shape.template, came.meta.creation_timestamp) for shape in shapes)]
        words = _in_rounds(came.view, said(metas))
        queue = came.meta.labels.get(kueue.QUEUE_LABEL, "")
        if not queue and queued.standing(came.view).suspended:
            raise came.wrong("is suspended, and in no queue: it never starts")
        job = self._made(came, [self._role(shape, came.meta.namespace) for shape in shapes], words, _labels_of(shapes))
        if queue:
            found = priority(
                priority_source(queued, came.view), [*self._workload_classes.values()], [*self._classes.values()]
            )
            if found is None:
                raise came.wrong("names a priority class that isn't there")
            least = shapes[0].min_count if len(shapes) == 1 else None
            kind = str(came.manifest["kind"])
            return replace(job, via=Via.WORKLOAD, queue=queue, priority=found.value, least=least, kind=kind)
        specs = [shape.template.get("spec") or {} for shape in shapes]
        job = replace(job, priority=max(self._rank(came, str(s.get("priorityClassName") or "")) for s in specs))
        if any(spec.get("schedulerName") == VOLCANO_SCHEDULER for spec in specs):
            return replace(job, via=Via.GANG, queue=_volcano_queue(metas[::-1]), least=_least(came.meta))
        return job

    def _of_workload(self, came: _Came) -> Job:
        view: kueue.Workload = came.view
        templates = [pod_set.template for pod_set in view.spec.pod_sets]
        shapes = [PodSetShape(p.name, p.count, p.template, p.min_count) for p in view.spec.pod_sets]
        words = said([came.meta, *(_meta_of(template, came.meta.creation_timestamp) for template in templates)])
        roles = [self._role(shape, came.meta.namespace) for shape in shapes]
        least = shapes[0].min_count if len(shapes) == 1 else None
        job = self._made(came, roles, words, _labels_of(shapes))
        rank = view.spec.priority or 0
        queue = view.spec.queue_name
        return replace(job, via=Via.WORKLOAD, queue=queue, priority=rank, least=least, kind="Workload")

    def _of_group(self, group: _Came, pods: Sequence[_Came]) -> Job:
        if not pods:
            raise group.wrong("no pod that names it is created at the same moment")
        view: volcano.PodGroup = group.view
        own = said([group.meta])
        of_pods = _longest(pods)
        words = replace(
            of_pods,
            runs_ms=of_pods.runs_ms if of_pods.runs_ms is not None else own.runs_ms,
            said_ms=own.said_ms if own.said_ms is not None else of_pods.said_ms,
            deadline_ms=own.deadline_ms if own.deadline_ms is not None else of_pods.deadline_ms,
            checkpoint_ms=own.checkpoint_ms if own.checkpoint_ms is not None else of_pods.checkpoint_ms,
        )
        rank = max(self._rank(pod, pod.view.spec.priority_class_name) for pod in pods)
        if view.spec.priority_class_name:
            rank = self._rank(group, view.spec.priority_class_name)
        job = self._made(group, self._roles(pods), words, _common([pod.meta.labels for pod in pods]))
        return replace(job, via=Via.GANG, queue=view.spec.queue, priority=rank, least=view.spec.min_member or None)

    def _of_queued_pods(self, pods: Sequence[_Came]) -> Job:
        first = pods[0]
        group = first.meta.labels.get(GROUP_LABEL, "")
        if group and len(pods) != total_of(first.meta.annotations):
            total = total_of(first.meta.annotations)
            raise first.wrong(
                f"{len(pods)} pods of its group {group!r} are created at this moment, {total} belong to it"
            )
        by_hash: dict[str, list[_Came]] = {}
        for pod in pods:
            pod.role = role_hash(pod.stored["spec"]) if group else ALONE
            by_hash.setdefault(pod.role, []).append(pod)
        roles = [Role(name, len(alike), self._shape(alike[0])) for name, alike in sorted(by_hash.items())]
        label = first.meta.labels.get(kueue.PRIORITY_CLASS_LABEL, "")
        ranks = [self._rank(pod, pod.view.spec.priority_class_name) for pod in pods]
        if label and label not in self._workload_classes:
            raise first.wrong(f"names a WorkloadPriorityClass {label!r} that isn't there")
        rank = self._workload_classes[label].value if label else ranks[0]
        job = self._made(first, roles, _longest(pods), _common([pod.meta.labels for pod in pods]), group)
        queue = first.meta.labels[kueue.QUEUE_LABEL]
        kind = "Workload" if group else "Pod"
        return replace(job, via=Via.WORKLOAD, queue=queue, priority=rank, renews=True, kind=kind)

    def _of_pod(self, pod: _Came) -> Job:
        spec: core.PodSpec = pod.view.spec
        pod.role = "main"
        job = self._made(pod, [Role(pod.role, 1, self._shape(pod))], said([pod.meta]), pod.meta.labels)
        job = replace(job, priority=self._rank(pod, spec.priority_class_name))
        if spec.scheduler_name == VOLCANO_SCHEDULER:
            return replace(job, via=Via.GANG, queue=_volcano_queue([pod.meta]), least=1)
        return job

    def _made(self, came: _Came, roles: Sequence[Role], words: Said, labels: dict[str, str], name: str = "") -> Job:
        """The job as a whole; its key and its arrival are given later."""
        return Job(
            key=f"{came.meta.namespace}/{name or came.meta.name}",
            arrives_ms=0,
            roles=tuple(roles),
            runs_ms=words.runs_ms,
            said_ms=words.said_ms,
            deadline_ms=words.deadline_ms,
            checkpoint_ms=words.checkpoint_ms,
            labels=tuple(sorted(labels.items())),
        )

    def _role(self, shape: PodSetShape, namespace: str) -> Role:
        template = adjusted(shape.template, self._around.limits(namespace), self._around.classes)
        return Role(shape.name, shape.count, self._shapes.of_template(template, namespace))

    def _shape(self, pod: _Came) -> PodShape:
        template = {"metadata": pod.stored["metadata"], "spec": pod.stored["spec"]}
        filled = adjusted(template, self._around.limits(pod.meta.namespace), self._around.classes)
        return self._shapes.of_template(filled, pod.meta.namespace)

    def _roles(self, pods: Sequence[_Came]) -> list[Role]:
        """Pods of one role and one shape; of a role with several shapes each but the first has a number."""
        alike: dict[tuple[str, PodShape], list[_Came]] = {}
        for pod in pods:
            alike.setdefault((volcano.role_of(pod.meta) or "task", self._shape(pod)), []).append(pod)
        roles: list[Role] = []
        for (name, shape), found in alike.items():
            before = sum(role.name == name or role.name.startswith(f"{name}.") for role in roles)
            roles.append(Role(f"{name}.{before + 1}" if before else name, len(found), shape))
            for pod in found:
                pod.role = roles[-1].name
        return roles

    def _rank(self, came: _Came, name: str) -> int:
        """The value of a PriorityClass, "" being the default one."""
        if not name:
            default = [c for c in self._classes.values() if c.global_default]
            return min(default, key=lambda c: (c.value, c.metadata.name)).value if default else 0
        if name not in self._classes:
            raise came.wrong(f"names a PriorityClass {name!r} that isn't there")
        return self._classes[name].value

    def _key(self, key: str) -> str:
        """One that nobody had."""
        made, number = key, 1
        while made in self._keys:
            number += 1
            made = f"{key}-{number}"
        self._keys[made] = None
        return made


PARTS = (("", "Pod"), ("scheduling.volcano.sh", "PodGroup"), ("kueue.x-k8s.io", "Workload"))


def _group_kind(obj: JsonObject) -> tuple[str, str]:
    return str(obj.get("apiVersion", "")).rpartition("/")[0], str(obj.get("kind", ""))


def _together(came: Sequence[_Came]) -> list[list[_Came]]:
    """What makes one job each: a PodGroup with its pods, the pods of a queue's group, anything else by itself."""
    found: dict[tuple[str, str, str], list[_Came]] = {}
    for one in came:
        if isinstance(one.view, volcano.PodGroup):
            found[("PodGroup", one.meta.namespace, one.meta.name)] = [one]
    for one in came:
        group = _joins(one)
        if isinstance(one.view, volcano.PodGroup):
            continue
        if group is not None and (group in found or group[0] == "pods"):
            found.setdefault(group, []).append(one)
        else:
            found[(_group_kind(one.manifest)[1], one.meta.namespace, one.meta.name)] = [one]
    first = {id(one): number for number, one in enumerate(came)}
    return sorted(found.values(), key=lambda together: min(first[id(one)] for one in together))


def _joins(one: _Came) -> tuple[str, str, str] | None:
    """The group of a pod that names one."""
    if not isinstance(one.view, core.Pod):
        return None
    gang = one.meta.annotations.get(volcano.GROUP_NAME_ANNOTATION, "")
    if gang:
        return "PodGroup", one.meta.namespace, gang
    group = one.meta.labels.get(GROUP_LABEL, "")
    return ("pods", one.meta.namespace, group) if group and kueue.QUEUE_LABEL in one.meta.labels else None


def _longest(pods: Sequence[_Came]) -> Said:
    """What pods say together: the longest run, the first deadline."""
    words = [said([pod.meta]) for pod in pods]
    return Said(
        runs_ms=max((w.runs_ms for w in words if w.runs_ms is not None), default=None),
        said_ms=max((w.said_ms for w in words if w.said_ms is not None), default=None),
        deadline_ms=min((w.deadline_ms for w in words if w.deadline_ms is not None), default=None),
        checkpoint_ms=max((w.checkpoint_ms for w in words if w.checkpoint_ms is not None), default=None),
    )


def _in_rounds(view: Object, words: Said) -> Said:
    """A Job's pods that don't fit beside each other come one round after the other."""
    if not isinstance(view, BatchJob):
        return words
    plan = plan_of(view)
    rounds = (
        -(-(plan.completions or 0) // max(1, min(plan.parallelism, plan.completions or 1))) if plan.parallelism else 1
    )
    if rounds <= 1:
        return words
    runs, own = words.runs_ms, words.said_ms
    return replace(
        words, runs_ms=None if runs is None else runs * rounds, said_ms=None if own is None else own * rounds
    )


def _meta_of(template: JsonObject, created: str | None = None) -> ObjectMeta:
    meta = template.get("metadata") or {}
    labels, annotations = dict(meta.get("labels") or {}), dict(meta.get("annotations") or {})
    return ObjectMeta(creation_timestamp=created, labels=labels, annotations=annotations)


def _labels_of(shapes: Sequence[PodSetShape]) -> dict[str, str]:
    return _common([_meta_of(shape.template).labels for shape in shapes])


def _common(all_labels: Sequence[dict[str, str]]) -> dict[str, str]:
    """The labels that all have."""
    first = all_labels[0] if all_labels else {}
    return {key: value for key, value in first.items() if all(labels.get(key) == value for labels in all_labels)}


def _volcano_queue(metas: Iterable[ObjectMeta]) -> str:
    """The Queue that the first of these names that names any."""
    return next((m.annotations[VOLCANO_QUEUE] for m in metas if m.annotations.get(VOLCANO_QUEUE)), "")


def _least(meta: ObjectMeta) -> int:
    text = meta.annotations.get(LEAST, "")
    return int(text) if text.isascii() and text.isdecimal() and int(text) > 0 else 1
