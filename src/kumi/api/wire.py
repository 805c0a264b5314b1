"""What travels between the rooms: an object as JSON, a page of a list, an event of a watch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A Kubernetes object exactly as its user wrote it plus what the server added; no field is ever lost in it."""

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


class Listing(NamedTuple):
    """A consistent page of a list: `items` in key order, all as of `revision`; `token` asks for the next page.

    Items may be made when they are asked for, and anew each time: who goes through a long list keeps what it needs of each."""

    items: Sequence[JsonObject]
    revision: str
    token: str = ""
    remaining: int | None = None


class WatchEvent(NamedTuple):
    """One change. A BOOKMARK carries only `metadata.resourceVersion`; a DELETED carries the last state."""

    type: EventType
    object: JsonObject
