"""Companions: the pods that one is to be spread with where it says nothing of it itself: those of its services and its maker.

The rule   a pod without topologySpreadConstraints of its own is better (never: must be) spread over hosts, none having 3 more
           than another, and over zones, none having 5 more
           among  the pods that all of these mean: its namespace's services that select it, and its controller, where that is a
                  ReplicaSet, a StatefulSet or a ReplicationController; where there is none of these, nothing
           nodes without such a label count as well
Spared     pods of a Workload: they go where that was admitted. Pods of a gang (`on_their_own`): they want to be near, and have
           a service only to find each other. `anybody` spares none of these; it is what Volcano does.
Known      services and makers come and change by themselves: `Touched` says which pods are to be read again then, `Waiting`
           finds them among those that wait.
Cost       O(services of the namespace) a pod; nothing where there are none and nobody made it. A change that leaves the selector
           as it is touches nobody; another one costs O(pods that wait and that it made) for a maker, for a service
           O(pods of the namespace that wait, are nobody's gang and say nothing of it themselves).
Source     Kubernetes scheduler: PodTopologySpread, default constraints of the system.
Not here   what follows from a constraint: engine/placement/plugins/spread.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from kumi.api import core, volcano
from kumi.api.apps import ReplicaSet, StatefulSet
from kumi.api.kueue import HOST_LEVEL, WORKLOAD_ANNOTATION
from kumi.api.meta import Object
from kumi.api.replication import ReplicationController
from kumi.bridge.into.neighbours import selector
from kumi.engine import model

TYPES: tuple[type[Object], ...] = (core.Service, ReplicaSet, StatefulSet, ReplicationController)
ZONE = "topology.kubernetes.io/zone"
SKEWS = ((HOST_LEVEL, 3), (ZONE, 5))
"""over what, and how many more one may have than another before it counts"""

Requirements: TypeAlias = tuple[model.Requirement, ...]
Whom: TypeAlias = Callable[[core.Pod], bool]


def anybody(pod: core.Pod) -> bool:
    """All pods but those of a Workload."""
    return WORKLOAD_ANNOTATION not in pod.metadata.annotations


def on_their_own(pod: core.Pod) -> bool:
    """And none that is in a gang."""
    return anybody(pod) and volcano.GROUP_NAME_ANNOTATION not in pod.metadata.annotations


@dataclass(frozen=True, slots=True)
class Touched:
    """Pods that a change concerns: those in the namespace on whose labels one of the selectors holds, or that the maker of that
    uid made."""

    namespace: str
    selectors: tuple[Mapping[str, str], ...] = ()
    maker: str = ""

    def concerns(self, pod: core.Pod) -> bool:
        """Is it one of them?"""
        meta = pod.metadata
        if meta.namespace != self.namespace:
            return False
        if self.maker:
            return meta.controller is not None and meta.controller.uid == self.maker
        return any(_selects(one, meta.labels) for one in self.selectors)


@dataclass(slots=True)
class Companions:
    """Services and makers as far as they are known. `whom`: which pods are spread with theirs."""

    whom: Whom = on_their_own
    _services: dict[str, dict[str, Mapping[str, str]]] = field(default_factory=dict)
    """namespace -> service -> its selector"""
    _makers: dict[str, Requirements] = field(default_factory=dict)
    """uid -> whom it means"""

    def learn(self, obj: Object, *, gone: bool = False) -> Touched | None:
        """There is such a service or maker now, or it is gone. The pods that are to be read again; None: nobody. KumiError for
        one that can't be read, of which is known what was known."""
        meta = obj.metadata
        if isinstance(obj, core.Service):
            return self._learn_service(obj, gone=gone)
        said = () if gone else _of_maker(obj)
        if self._makers.get(meta.uid, ()) == said:
            return None
        if said:
            self._makers[meta.uid] = said
        else:
            del self._makers[meta.uid]
        return Touched(meta.namespace, maker=meta.uid)

    def may_spread(self, pod: core.Pod) -> bool:
        """Is it one that gets constraints, if there is anybody to be spread with?"""
        return not pod.spec.topology_spread_constraints and self.whom(pod)

    def spread(self, pod: core.Pod) -> tuple[model.SpreadTerm, ...]:
        """The constraints that the pod gets; () none."""
        meta = pod.metadata
        services, maker = self._services.get(meta.namespace), meta.controller
        if (services is None and maker is None) or not self.may_spread(pod):
            return ()
        labels: dict[str, str] = {}
        for said in (services or {}).values():
            if _selects(said, meta.labels):
                labels.update(said)
        own = self._makers.get(maker.uid, ()) if maker is not None else ()
        of_services = tuple(model.Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))
        among = (*of_services, *(r for r in own if r not in of_services))
        if not among:
            return ()
        return tuple(model.SpreadTerm(key, among, skew, hard=False, unlabelled=True) for key, skew in SKEWS)

    def _learn_service(self, service: core.Service, *, gone: bool) -> Touched | None:
        meta, said = service.metadata, {} if gone else service.spec.selector
        there = self._services.setdefault(meta.namespace, {})
        before = there.pop(meta.name, {})
        if said:
            there[meta.name] = said
        if not there:
            del self._services[meta.namespace]
        if before == said:
            return None
        return Touched(meta.namespace, tuple(one for one in (before, said) if one))


@dataclass(slots=True)
class Waiting:
    """Pods that a change of a companion may concern, by namespace and by maker, to be found without a look at all of them."""

    _pods: dict[str, core.Pod] = field(default_factory=dict)
    _by_place: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    """(namespace, "") and (namespace, maker's uid) -> uids"""

    def put(self, pod: core.Pod) -> None:
        """It waits, as it is now."""
        uid = pod.metadata.uid
        self.drop(uid)
        self._pods[uid] = pod
        for place in _places(pod):
            self._by_place.setdefault(place, {})[uid] = None

    def drop(self, uid: str) -> None:
        """It doesn't wait any more, or never did."""
        pod = self._pods.pop(uid, None)
        for place in _places(pod) if pod is not None else ():
            there = self._by_place[place]
            del there[uid]
            if not there:
                del self._by_place[place]

    def concerned(self, touched: Touched) -> list[core.Pod]:
        """Those that a change concerns, by uid."""
        found = self._by_place.get((touched.namespace, touched.maker), {})
        return [pod for uid in sorted(found) if touched.concerns(pod := self._pods[uid])]


def _places(pod: core.Pod) -> list[tuple[str, str]]:
    meta = pod.metadata
    maker = meta.controller.uid if meta.controller is not None else ""
    return [(meta.namespace, ""), *([(meta.namespace, maker)] if maker else [])]


def _selects(said: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in said.items())


def _of_maker(obj: Object) -> Requirements:
    if isinstance(obj, ReplicationController):
        return selector({"matchLabels": obj.spec.selector}) or ()
    assert isinstance(obj, ReplicaSet | StatefulSet)
    return selector(msgspec.to_builtins(obj.spec.selector)) or ()
