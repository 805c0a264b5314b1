"""Which notes become one event, and which are too many to be told.

The rule, for a note of one teller about one object:
    the same      reason, message and type were told already: that event counts one more
    similar       only the message is another one; past SIMILAR different messages in a row, none SIMILAR_MS after the one
                  before it, they are one event, whose message is the latest: `(combined from similar events): ...`
    spam          each object has room for SPAM_BURST notes of a teller and a reason, and gets room for one more every
                  SPAM_MS: what comes beyond is not told at all
Why        a job that makes a thousand pods, or a container that crashes all day, must hide neither the events of others nor its
           own first and rare ones (that it is complete, say); an object that has room is told of at once, however many
           others there are.
Memory     the REMEMBERED objects and messages that were seen last.
Source     Kubernetes: the event correlator of client-go, whose numbers these are; there all reasons share one room.
Not here   writing, and how fast: events.py.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from kumi.runtime.reconcile import Note

SIMILAR = 10
SIMILAR_MS = 600_000
SPAM_BURST = 25
SPAM_MS = 300_000
REMEMBERED = 4_096
COMBINED = "(combined from similar events): "

K = TypeVar("K")
V = TypeVar("V")


class Told(NamedTuple):
    """What makes two notes one event."""

    namespace: str
    about: str
    reason: str
    message: str
    """"" for all that are combined"""
    type: str
    teller: str


class Correlated(NamedTuple):
    """A note that is to be told: under which event, in which words."""

    told: Told
    message: str


@dataclass
class _Similar:
    last_ms: int
    messages: dict[str, None] = field(default_factory=dict)


@dataclass
class _Room:
    left: float
    at_ms: int


class Correlator:
    """See the module. Times are monotonic milliseconds."""

    def __init__(self) -> None:
        self._similar: OrderedDict[Told, _Similar] = OrderedDict()
        self._rooms: OrderedDict[tuple[str, str, str, str], _Room] = OrderedDict()

    def take(self, note: Note, teller: str, now_ms: int) -> Correlated | None:
        """How a note is told; None: not at all."""
        namespace = str(note.about.get("namespace") or "default")
        parts = [str(note.about.get(key, "")) for key in ("apiVersion", "kind", "name", "uid", "fieldPath")]
        if not self._has_room((namespace, "/".join(parts[:-1]), teller, note.reason), now_ms):
            return None
        combined = Told(namespace, "/".join(parts), note.reason, "", note.type, teller)
        similar = self._similar.get(combined)
        if similar is None or now_ms - similar.last_ms > SIMILAR_MS:
            similar = _Similar(now_ms)
        similar.last_ms = now_ms
        _remember(self._similar, combined, similar)
        if note.message in similar.messages or len(similar.messages) < SIMILAR:
            similar.messages[note.message] = None
            return Correlated(combined._replace(message=note.message), note.message)
        return Correlated(combined, COMBINED + note.message)

    def _has_room(self, of: tuple[str, str, str, str], now_ms: int) -> bool:
        """Takes room for one note, if there is any."""
        room = self._rooms.get(of) or _Room(SPAM_BURST, now_ms)
        room.left = min(float(SPAM_BURST), room.left + (now_ms - room.at_ms) / SPAM_MS)
        room.at_ms = now_ms
        _remember(self._rooms, of, room)
        if room.left < 1:
            return False
        room.left -= 1
        return True


def _remember(known: OrderedDict[K, V], key: K, value: V) -> None:
    known[key] = value
    known.move_to_end(key)
    if len(known) > REMEMBERED:
        known.popitem(last=False)
