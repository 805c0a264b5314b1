"""What queues and workloads still need is not gone at once when it is deleted: the finalizer kueue.x-k8s.io/resource-in-use.

The rule   ClusterQueue      needed while a Workload that is not finished holds quota of it
           ResourceFlavor    while a ClusterQueue or a Cohort names it
           AdmissionCheck    while a ClusterQueue asks for it
           Topology          while a ResourceFlavor names it
           Each gets the finalizer while nobody deletes it; once it is being deleted and nobody needs it, the finalizer goes.
Why        A queue that is gone while work runs in it would free nothing to nobody; a flavor that is gone closes its queues.
Cost       O(users of the kind) for one that is being deleted, O(1) else.
Source     Kueue: controllers of ClusterQueue, ResourceFlavor, AdmissionCheck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from kumi.api.kueue import (
    IN_USE,
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    ResourceFlavor,
    ResourceGroup,
    Topology,
    Workload,
)
from kumi.api.meta import Object, is_true
from kumi.controllers.finalizers import with_, without
from kumi.runtime.reconcile import NOTHING, Outcome, Watches, own_key
from kumi.runtime.view import View

T = TypeVar("T", bound=Object)
Names = Callable[[Object], Iterable[str]]
"""Which objects of the kind another object needs."""


class InUse(Generic[T]):
    """See the module. `users`: by type, what such an object needs."""

    def __init__(self, kind: type[T], users: Mapping[type[Object], Names]) -> None:
        self._kind, self._users = kind, users
        self.name = f"in-use-{kind.__name__.lower()}"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({self._kind: own_key, **{user: partial(_keys, names) for user, names in self._users.items()}})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        found = view.get(self._kind, "", key)
        if found is None:
            return NOTHING
        if found.metadata.deletion_timestamp is None:
            patch = with_(found, IN_USE)
        elif any(key in names(user) for type_, names in self._users.items() for user in view.list(type_)):
            return NOTHING
        else:
            patch = without(found, IN_USE)
        return Outcome((patch,)) if patch is not None else NOTHING


def in_use_controllers() -> list[InUse[Any]]:
    """One for each kind."""
    return [
        InUse(ClusterQueue, {Workload: _queue_of_workload}),
        InUse(ResourceFlavor, {ClusterQueue: _flavors, Cohort: _flavors}),
        InUse(AdmissionCheck, {ClusterQueue: _checks}),
        InUse(Topology, {ResourceFlavor: _topology}),
    ]


def _keys(names: Names, obj: Object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names(obj)))


def _queue_of_workload(obj: Object) -> list[str]:
    assert isinstance(obj, Workload)
    if obj.status.admission is None or is_true(obj.status.conditions, "Finished"):
        return []
    return [obj.status.admission.cluster_queue]


def _flavors(obj: Object) -> list[str]:
    groups: list[ResourceGroup] = obj.spec.resource_groups if isinstance(obj, ClusterQueue | Cohort) else []
    return [flavor.name for group in groups for flavor in group.flavors]


def _checks(obj: Object) -> list[str]:
    assert isinstance(obj, ClusterQueue)
    strategy = obj.spec.admission_checks_strategy
    return [rule.name for rule in strategy.admission_checks] if strategy is not None else []


def _topology(obj: Object) -> list[str]:
    assert isinstance(obj, ResourceFlavor)
    return [obj.spec.topology_name] if obj.spec.topology_name else []
