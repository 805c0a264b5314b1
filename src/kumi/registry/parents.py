"""Parents: which queues have queues below them, without a look at all queues.

The rule   by the queues' spec.parent, as of the newest acknowledged write.
Cost       O(queues that were written since the last question); all are read at the first one, and after so many writes between
           two that the store counts them no more.
"""

from __future__ import annotations

from collections import Counter

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.objects import Objects, decode, prefix_of
from kumi.store.base import Lagging, Watch


def parent_of(queue: JsonObject) -> str:
    """The queue that it says it is below; "" none."""
    return str((queue.get("spec") or {}).get("parent") or "")


class Parents:
    """See the module. `queues`: the kind of queues."""

    def __init__(self, objects: Objects, queues: Kind) -> None:
        self._objects, self._prefix = objects, prefix_of(queues, "")
        self._watch: Watch | None = None
        self._parents: dict[str, str] = {}
        """a queue's key -> its parent; those without are left out"""
        self._below: Counter[str] = Counter()

    def has_children(self, name: str) -> bool:
        """Is any queue below that one?"""
        self._catch_up()
        return self._below[name] > 0

    def _catch_up(self) -> None:
        try:
            changes = self._watch.take() if self._watch is not None else None
        except Lagging:
            changes = None
        if changes is None:
            self._begin()
            return
        for key, value in {change.key: change.value for change in changes}.items():
            self._put(key, "" if value is None else parent_of(decode(value, 0)))

    def _begin(self) -> None:
        page = self._objects.page(self._prefix)
        self._watch = self._objects.store.watch(self._prefix, page.revision)
        self._parents, self._below = {}, Counter()
        for entry in page.entries:
            self._put(entry.key, parent_of(self._objects.listed(entry)))

    def _put(self, key: str, parent: str) -> None:
        before = self._parents.pop(key, "")
        if before:
            self._below[before] -= 1
        if parent:
            self._parents[key] = parent
            self._below[parent] += 1
