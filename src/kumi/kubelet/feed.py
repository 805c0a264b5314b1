"""One kind as a stream of changes that never ends: list, then watch, and again when the watch is lost.

    async for change in follow(client, kind, clock): ...      Change(object, gone), or None: the list is complete

Why        a node must hear of every deletion, also of one that happened while it could not watch: what was there before
           and is missing in a new list is told as gone.
Order      the objects of a list by creation time, then by key: the order in which a node admits.
Not here   typed views for controllers: runtime.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import NamedTuple

from kumi.api.errors import ApiError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.runtime.client import Client
from kumi.runtime.clock import Clock

LOG = logging.getLogger(__name__)
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 50, 5_000


class Change(NamedTuple):
    """An object as it is now, or as it last was when `gone`."""

    object: JsonObject
    gone: bool


async def follow(client: Client, kind: Kind, clock: Clock) -> AsyncIterator[Change | None]:
    """Every change of a kind, in all namespaces; None after each complete list."""
    known: dict[str, JsonObject] = {}
    pause_ms = _FIRST_PAUSE_MS
    while True:
        try:
            listing = await client.list(kind)
            fresh = {obj["metadata"]["uid"]: obj for obj in listing.items}
            for uid in [uid for uid in known if uid not in fresh]:
                yield Change(known.pop(uid), gone=True)
            for obj in sorted(listing.items, key=_order):
                known[obj["metadata"]["uid"]] = _stub(obj)
                yield Change(obj, gone=False)
            yield None
            pause_ms = _FIRST_PAUSE_MS
            async for event in client.watch(kind, revision=listing.revision):
                if event.type == "BOOKMARK":
                    continue
                uid, gone = event.object["metadata"]["uid"], event.type == "DELETED"
                if gone:
                    known.pop(uid, None)
                else:
                    known[uid] = _stub(event.object)
                yield Change(event.object, gone)
        except (ApiError, OSError) as error:
            LOG.debug("watching %s again: %s", kind.plural, error)
        await clock.sleep_ms(pause_ms)
        pause_ms = min(pause_ms * 2, _LONGEST_PAUSE_MS)


def _order(obj: JsonObject) -> tuple[str, str, str]:
    meta = obj["metadata"]
    return (meta.get("creationTimestamp") or "", meta.get("namespace", ""), meta["name"])


def _stub(obj: JsonObject) -> JsonObject:
    """What is kept to tell of a deletion that was missed: who it was, and where."""
    meta = obj["metadata"]
    kept = {key: meta[key] for key in ("name", "namespace", "uid") if key in meta}
    return {"metadata": kept, "spec": {"nodeName": (obj.get("spec") or {}).get("nodeName", "")}}
