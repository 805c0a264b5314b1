"""Lines of watches: an event is written out once, however many watches tell it in the same words.

Words      what makes two watches write an event alike: the kind, its version, the form of the answer. A kind of other people's
           whose definition has changed is another kind.
Same       two events of one type at one revision, told in the same words, have the same object: the revision is the store's.
Kept       the newest lines, KEPT_BYTES of them: watches are nearly always at the same place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from kumi.api.scheme import Kind
from kumi.api.wire import WatchEvent
from kumi.apiserver.negotiate import Form

KEPT_BYTES = 8 * 1024 * 1024


class Words(NamedTuple):
    """How a watch tells its events."""

    kind: Kind
    version: str
    form: Form

    @property
    def key(self) -> tuple[str, str, str, Form]:
        """The words, but for what a definition says of its kind."""
        return self.kind.group, self.kind.plural, self.version, self.form


_Key: TypeAlias = tuple[tuple[str, str, str, Form], str, str]


class Lines:
    """The lines that were written lately."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, tuple[Kind, bytes]] = OrderedDict()
        self._bytes = 0

    def writer(self, words: Words, write: Callable[[WatchEvent], bytes]) -> Callable[[WatchEvent], bytes]:
        """`write`, asked only for events that nobody has written in these words yet."""
        kept, kind, key = self._kept, words.kind, words.key

        def line(event: WatchEvent) -> bytes:
            place = (key, event.type, event.object["metadata"].get("resourceVersion", ""))
            there = kept.get(place)
            if there is not None and there[0] is kind:
                return there[1]
            written = write(event)
            if event.type != "BOOKMARK":
                self._keep(place, kind, written)
            return written

        return line

    def _keep(self, place: _Key, kind: Kind, line: bytes) -> None:
        _, old = self._kept.pop(place, (kind, b""))
        self._kept[place] = kind, line
        self._bytes += len(line) - len(old)
        while self._bytes > KEPT_BYTES:
            _, (_, oldest) = self._kept.popitem(last=False)
            self._bytes -= len(oldest)
