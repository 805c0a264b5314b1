"""An object's status as its controller writes it: what changed, and only onto the version that it has seen."""

from __future__ import annotations

from kumi.api.meta import Object, View
from kumi.api.scheme import SCHEME
from kumi.jobs.status import status_patch
from kumi.runtime.reconcile import Patch


def written(obj: Object, before: View, after: View) -> list[Patch]:
    """The write that makes `before`, the status of `obj`, become `after`; none where they are the same."""
    body = status_patch(before, after)
    if body is None:
        return []
    meta = obj.metadata
    patch = {"metadata": {"resourceVersion": meta.resource_version}, "status": body}
    return [Patch(SCHEME.of(type(obj)), meta.namespace, meta.name, patch, subresource="status")]
