"""Object references, as an event's involvedObject has them: of an object, and of the job that owns it."""

from __future__ import annotations

from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.api.wire import JsonObject


def reference(obj: Object) -> JsonObject:
    """apiVersion, kind, namespace, name, uid; the first two from the scheme, since items of lists lack them."""
    kind, meta = SCHEME.of(type(obj)), obj.metadata
    said = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
    }
    return {k: v for k, v in said.items() if v}


def job_reference(obj: Object) -> JsonObject | None:
    """The controller owner in the object's namespace; None where nobody owns it."""
    owner = obj.metadata.controller
    if owner is None:
        return None
    return {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "namespace": obj.metadata.namespace,
        "name": owner.name,
        "uid": owner.uid,
    }
