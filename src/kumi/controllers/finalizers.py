"""Finalizers: what keeps an object that is being deleted until whoever set them lets go.

with_(object, finalizer)      the patch that adds one, None where it is there
without(object, finalizer)    the patch that takes one away, None where there is none

Why        Adding is a JSON merge patch at the version that was read: two loops never lose each other's. Taking away is a JSON
           patch that tests what it removes.
Source     Kubernetes: finalizers.
"""

from __future__ import annotations

from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject
from kumi.runtime.reconcile import Patch


def with_(obj: Object, finalizer: str) -> Patch | None:
    """See the module."""
    meta = obj.metadata
    if finalizer in meta.finalizers:
        return None
    body: JsonObject = {
        "metadata": {"finalizers": [*meta.finalizers, finalizer], "resourceVersion": meta.resource_version}
    }
    return Patch(SCHEME.of(type(obj)), meta.namespace, meta.name, body)


def without(obj: Object, finalizer: str) -> Patch | None:
    """See the module."""
    meta = obj.metadata
    if finalizer not in meta.finalizers:
        return None
    path = f"/metadata/finalizers/{meta.finalizers.index(finalizer)}"
    body: list[JsonObject] = [{"op": "test", "path": path, "value": finalizer}, {"op": "remove", "path": path}]
    return Patch(SCHEME.of(type(obj)), meta.namespace, meta.name, body, type="json")
