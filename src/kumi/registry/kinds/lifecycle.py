"""The life of a kind's objects, as far as kinds differ.

The rule for all: an object is created without a status, its generation counts changes of its spec, an update without a
resourceVersion is taken as unconditional, a deletion happens at once. Every field of `Lifecycle` is one exception.
Source     Kubernetes: API conventions, pod termination, garbage collection; its behaviour as recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.kinds import definitions, jobs, namespaces, pods, services

Step = Callable[[JsonObject], None]
Compare = Callable[[JsonObject, JsonObject], None]
Grace = Callable[[JsonObject, int | None], int]


def _nothing(_: JsonObject) -> None:
    return None


def _nothing_new(_new: JsonObject, _old: JsonObject) -> None:
    return None


@dataclass(frozen=True)
class Lifecycle:
    """Where a kind departs from the rule for all."""

    on_create: Step = _nothing
    """completes a new object after defaulting, before validation"""
    on_update: Compare = _nothing_new
    """(new, old): puts back what a write to the main resource may not change"""
    counts_generation: bool = False
    keeps_status: bool = False
    """takes the status that its creator wrote"""
    grace: Grace | None = None
    """(object, asked or None) -> seconds between the mark and the removal; None: no grace at all"""
    marked: Step = _nothing
    """completes an object that is being marked for deletion"""
    held: Callable[[JsonObject], bool] = lambda _: False
    """whether something beside finalizers keeps an object that is marked"""
    answers_object: bool = False
    """whether its removal answers the object rather than a Status"""
    orphans: bool = False
    """whether a deletion that says nothing leaves its dependents"""
    conditional: bool = False
    """whether an update must say which resourceVersion it is about"""
    upserts: bool = False
    """whether an update of what is not there creates it"""
    protected: tuple[str, ...] = ()
    """names that may not be deleted"""


PLAIN = Lifecycle()
COUNTED = Lifecycle(counts_generation=True)
CUSTOM = Lifecycle(counts_generation=True, conditional=True)

_COUNTED_GROUPS = ("apps", "autoscaling", "batch", "networking.k8s.io", "policy", "scheduling.k8s.io")

_OWN: dict[tuple[str, str], Lifecycle] = {
    ("", "Pod"): Lifecycle(on_create=pods.on_create, grace=pods.grace, counts_generation=True, answers_object=True),
    ("", "Namespace"): Lifecycle(
        on_create=namespaces.on_create,
        on_update=namespaces.on_update,
        marked=namespaces.terminate,
        held=namespaces.held,
        answers_object=True,
        protected=namespaces.PROTECTED,
    ),
    ("", "Node"): Lifecycle(keeps_status=True),
    ("", "Service"): Lifecycle(on_update=services.on_update, answers_object=True, upserts=True),
    ("", "ServiceAccount"): Lifecycle(answers_object=True),
    ("", "PersistentVolume"): Lifecycle(answers_object=True),
    ("", "PersistentVolumeClaim"): Lifecycle(answers_object=True),
    ("", "ResourceQuota"): Lifecycle(answers_object=True),
    ("", "Event"): Lifecycle(upserts=True),
    ("", "Endpoints"): Lifecycle(upserts=True),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Lifecycle(
        counts_generation=True, conditional=True, marked=definitions.marked, held=definitions.held
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): PLAIN,
    ("batch", "Job"): Lifecycle(on_create=jobs.on_create, counts_generation=True, orphans=True),
    ("coordination.k8s.io", "Lease"): Lifecycle(upserts=True, conditional=True),
    ("policy", "PodDisruptionBudget"): Lifecycle(counts_generation=True, conditional=True),
}


def lifecycle(kind: Kind) -> Lifecycle:
    """What holds for a kind."""
    if kind.custom:
        return CUSTOM
    return _OWN.get((kind.group, kind.kind)) or (COUNTED if kind.group in _COUNTED_GROUPS else PLAIN)
