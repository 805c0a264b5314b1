"""Events go an hour after they were last seen.

The rule   age = now - lastTimestamp, or the object's creation where there is none; at TTL_MS it is deleted.
Source     Kubernetes: the API server's event-ttl, 1h by default.
"""

from __future__ import annotations

from kumi.api.core import Event
from kumi.api.meta import parse_time
from kumi.api.scheme import SCHEME
from kumi.runtime.reconcile import NOTHING, Delete, Outcome, Watches
from kumi.runtime.view import View

TTL_MS = 3_600_000


class EventTtl:
    """See the module."""

    name = "kumi-event-ttl"

    @property
    def watches(self) -> Watches:
        """See Controller."""
        return Watches({Event: lambda event: (event.key,)})

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """See the module."""
        namespace, _, name = key.rpartition("/")
        event = view.get(Event, namespace, name)
        if event is None or event.metadata.deletion_timestamp is not None:
            return NOTHING
        seen_ms = parse_time(event.last_timestamp) or parse_time(event.metadata.creation_timestamp) or now_ms
        if now_ms < seen_ms + TTL_MS:
            return Outcome(wake_at_ms=seen_ms + TTL_MS)
        return Outcome((Delete(SCHEME.of(Event), namespace, name, event.metadata.uid),))
