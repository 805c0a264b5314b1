"""visibility.kueue.x-k8s.io: lines of queues, answered and never stored, so that its kinds are in no scheme.

    clusterqueues/NAME/pendingworkloads    localqueues/NAME/pendingworkloads      a PendingWorkloadsSummary

Source     Kueue: visibility API v1beta2, v1beta1.
"""

from __future__ import annotations

from kumi.api.meta import Object
from kumi.api.scheme import Convert, Kind
from kumi.api.wire import JsonObject

GROUP = "visibility.kueue.x-k8s.io"
VERSIONS = ("v1beta2", "v1beta1")
PENDING = "pendingworkloads"
SUMMARY = "PendingWorkloadsSummary"


class ClusterQueue(Object):
    """One that is asked for its line."""


class LocalQueue(Object):
    """One that is asked for its line."""


def _queue(type_: type[Object], *, namespaced: bool) -> Kind:
    kind, plural = type_.__name__, f"{type_.__name__.lower()}s"
    newest, *others = VERSIONS
    unchanged: dict[str, tuple[Convert, Convert]] = dict.fromkeys(others, (_same, _same))
    return Kind(GROUP, newest, kind, plural, type_, namespaced, subresources=(PENDING,), conversions=unchanged)


def _same(obj: JsonObject) -> JsonObject:
    return obj


QUEUES = (_queue(ClusterQueue, namespaced=False), _queue(LocalQueue, namespaced=True))
