"""eviction: a deletion that may be refused, as `kubectl drain` asks for it.

A pod that is on no node, has ended or is already going is deleted without asking; so is any pod as long as no disruption
budget guards it.
Source     Kubernetes: API-initiated eviction.
"""

from __future__ import annotations

from kumi.api.errors import bad_request
from kumi.api.wire import JsonObject
from kumi.registry.deletion import Deleting
from kumi.registry.requests import DeleteOptions, Target, WriteOptions
from kumi.registry.subresources.binding import done


async def evict(deleting: Deleting, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
    """A Status. ApiError 400, 404, 409."""
    name = (body.get("metadata") or {}).get("name") or target.name
    if name != target.name:
        raise bad_request("name in URL does not match name in Eviction object")
    asked = body.get("deleteOptions") or {}
    preconditions = asked.get("preconditions") or {}
    delete = DeleteOptions(
        uid=preconditions.get("uid") or "",
        revision=preconditions.get("resourceVersion") or "",
        grace_seconds=asked.get("gracePeriodSeconds"),
        propagation=asked.get("propagationPolicy") or "",
        dry_run=options.dry_run or bool(asked.get("dryRun")),
    )
    await deleting.delete(target, delete)
    return done()
