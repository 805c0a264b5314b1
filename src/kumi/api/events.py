"""The events group (events.k8s.io/v1): the Events of the core group under the names of the newer API; one store for both.

Source     Kubernetes: API reference of both; its conversion as recorded.
"""

from __future__ import annotations

from kumi.api.columns.core import EVENT
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind, Twin
from kumi.api.validation.core import validate_event
from kumi.api.wire import JsonObject

GROUP, VERSION = "events.k8s.io", "v1"
_RENAMED = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
"""field here -> field there"""
_BACK = {there: here for here, there in _RENAMED.items()}


class NamedEvent(Object):
    """events.k8s.io/v1 Event."""

    regarding: JsonObject = {}
    reason: str = ""
    note: str = ""
    type: str = ""


def to_core(event: JsonObject) -> JsonObject:
    """The same event as v1 has it."""
    return _renamed(event, _RENAMED, "v1")


def from_core(event: JsonObject) -> JsonObject:
    """The same event as events.k8s.io/v1 has it."""
    return _renamed(event, _BACK, f"{GROUP}/{VERSION}")


def _renamed(event: JsonObject, names: dict[str, str], api_version: str) -> JsonObject:
    return {names.get(key, key): value for key, value in event.items()} | {"apiVersion": api_version, "kind": "Event"}


SCHEME.register(
    Kind(
        GROUP,
        VERSION,
        "Event",
        "events",
        NamedEvent,
        short_names=("ev",),
        columns=EVENT,
        validate=validate_event,
        schema="io.k8s.api.events.v1.Event",
        twin=Twin("", "v1", to_core, from_core),
    )
)
