"""Doing a write, and what an error of it means to the loop that wanted it.

DONE         a deletion of what is gone (404): the world is as wanted
LOOK_AGAIN   a creation of what is there (AlreadyExists): as wanted, but the view did not know: look again
RETRY        Conflict, 404 of a patch, too many requests, 5xx, a lost connection, a time-out: the world has changed or is
             busy; look again soon
REFUSED      everything else (invalid, forbidden, unknown kind): it will be refused again until something changes; look
             again after a while, and tell somebody
"""

from __future__ import annotations

from enum import Enum

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.runtime.client import Writer
from kumi.runtime.reconcile import Create, Delete, Patch, Write


class Verdict(Enum):
    """See the module."""

    DONE = "done"
    LOOK_AGAIN = "look again"
    RETRY = "retry"
    REFUSED = "refused"


FAULTS = (ApiError, OSError, TimeoutError)
"""What a write may raise; anything else is a bug."""


async def perform(writer: Writer, write: Write) -> JsonObject | None:
    """Does the write; the object as it is now, None for a deletion."""
    match write:
        case Create():
            return await writer.create(write.object, subresource=write.subresource)
        case Patch():
            return await writer.patch(
                write.kind, write.namespace, write.name, write.body, type=write.type, subresource=write.subresource
            )
        case Delete():
            await writer.delete(
                write.kind,
                write.namespace,
                write.name,
                uid=write.uid,
                grace_seconds=write.grace_seconds,
                propagation=write.propagation,
                revision=write.revision,
            )
            return None


def verdict(write: Write, error: Exception) -> Verdict:
    """What the error means; one that is not of FAULTS is a bug of the client's, and tried again like a lost connection."""
    if not isinstance(error, ApiError):
        return Verdict.RETRY
    if error.code == 404 and isinstance(write, Delete):
        return Verdict.DONE
    if error.reason == "AlreadyExists" and isinstance(write, Create):
        return Verdict.LOOK_AGAIN
    if error.code in (408, 409, 429) or error.code >= 500 or (error.code == 404 and isinstance(write, Patch)):
        return Verdict.RETRY
    return Verdict.REFUSED


def describe(write: Write) -> str:
    """The write in a few words, for a log: `patch PyTorchJob a/b (status)`."""
    match write:
        case Create():
            meta = write.object.get("metadata", {})
            verb, kind = "create", str(write.object.get("kind", ""))
            namespace, name = str(meta.get("namespace", "")), str(meta.get("name") or meta.get("generateName", ""))
        case Patch() | Delete():
            verb, kind = type(write).__name__.lower(), write.kind.kind
            namespace, name = write.namespace, write.name
    subresource = "" if isinstance(write, Delete) else write.subresource
    return f"{verb} {kind} {namespace}/{name}".replace(" /", " ") + (f" ({subresource})" if subresource else "")


def retry_after_ms(error: Exception) -> int:
    """How long the server asked to wait; 0 if it did not."""
    return error.retry_after_seconds * 1000 if isinstance(error, ApiError) else 0
