"""An object reference, as an event's involvedObject has it."""

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
