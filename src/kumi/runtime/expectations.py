"""Reading one's own writes: what a loop has written and its view does not show yet.

A view is filled by watches, so right after a write it still shows the world before it. A loop that looks again then
would do the same thing again: a second pod for the same missing one, a second admission. So after each acknowledged
write it is expected that the view shows it, and until then (or for HOLD_MS, if the watch is dead) the loop does not look:

    a create or patch that returned revision R     the view's informer is at R, or the object itself is;
                                                   where revisions are no integers: it differs from what it was
    a binding                                      the pod is there no more, or has a node
    a write that returned no object                it differs from what it was
    a deletion                                     the object is gone, has another uid, or shows that it is being deleted

Types that no informer reads can't be expected: nobody decides on them.

Source     the idea of "expectations" in client-go's controllers, here per object and by revision instead of by counting.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.runtime.informer import Informers
from kumi.runtime.reconcile import Create, Delete, Patch, Write
from kumi.runtime.revisions import reached

HOLD_MS = 30_000
"""How long a view that does not show a write keeps its loop waiting."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One object that was written. `before` is the revision that the view had then, "" for none; `revision` is the
    one that the write returned, "" where it returned none; `deleted_uid` is set for a deletion, `bound` for a binding."""

    type: type[Object]
    key: str
    before: str
    revision: str = ""
    deleted_uid: str = ""
    bound: bool = False

    def is_met(self, shown: Object | None, informed: str) -> bool:
        """Whether a view that has `shown`, from an informer at revision `informed`, shows the write."""
        if self.deleted_uid:
            gone = shown is None or shown.metadata.uid != self.deleted_uid
            return gone or (shown is not None and shown.metadata.deletion_timestamp is not None)
        if self.bound and hasattr(getattr(shown, "spec", None), "node_name"):
            return bool(shown.spec.node_name)  # type: ignore[union-attr]
        at = "" if shown is None else shown.metadata.resource_version
        if not self.revision:
            return at != self.before
        if reached(informed, self.revision) or (at and reached(at, self.revision)):
            return True
        return reached(informed, self.revision) is None and at != self.before


class Expectations:
    """What each key of a loop still waits to see."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._by_key: dict[str, list[Expected]] = {}
        self._by_object: dict[tuple[type[Object], str], dict[str, None]] = {}

    def about(self, write: Write) -> Expected | None:
        """What to expect of a write that is about to be done; `completed` completes it. None: nobody reads that type."""
        if isinstance(write, Create):
            meta = write.object.get("metadata", {})
            group, _, _ = str(write.object.get("apiVersion", "")).rpartition("/")
            kind = (
                self._informers.kind_named("", "Pod")
                if write.subresource
                else self._informers.kind_named(group, str(write.object.get("kind", "")))
            )
            namespace, name = str(meta.get("namespace", "")), str(meta.get("name", ""))
        else:
            kind, namespace, name = write.kind, write.namespace, write.name
        if kind is None or self._informers.find(kind.type) is None:
            return None
        key = f"{namespace}/{name}" if namespace else name
        shown = self._informers.cache.find(kind.type, key)
        uid, before = ("", "") if shown is None else (shown.metadata.uid, shown.metadata.resource_version)
        if isinstance(write, Delete):
            uid = write.uid or uid
        elif isinstance(write, Patch) or write.subresource != "eviction":
            binds = isinstance(write, Create) and write.subresource == "binding"
            return Expected(kind.type, key, before, bound=binds)
        return Expected(kind.type, key, before, deleted_uid=uid) if uid else None

    def completed(self, about: Expected | None, returned: JsonObject | None) -> Expected | None:
        """The write was acknowledged with that object: what the view still has to show, None if it does already."""
        if about is None:
            return None
        expected = about
        if not about.deleted_uid and returned is not None and "uid" in returned.get("metadata", {}):
            meta = returned["metadata"]
            key = f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])
            expected = Expected(about.type, key, about.before, str(meta.get("resourceVersion", "")))
        return None if self._is_met(expected) else expected

    def expect(self, loop_key: str, expected: Expected | None) -> None:
        """The key waits for that, too."""
        if expected is not None:
            self._by_key.setdefault(loop_key, []).append(expected)
            self._by_object.setdefault((expected.type, expected.key), {})[loop_key] = None

    def is_waiting(self, loop_key: str) -> bool:
        """Whether the view does not show everything yet that the key has written."""
        return loop_key in self._by_key

    def changed(self, type_: type[Object], key: str) -> list[str]:
        """The keys that wait no more now that the view has another state of that object."""
        return [loop_key for loop_key in list(self._by_object.get((type_, key), ())) if self._check(loop_key)]

    def progressed(self, type_: type[Object]) -> list[str]:
        """The keys that wait no more now that the view has all of that type up to its informer's revision."""
        concerned = [key for key, expected in self._by_key.items() if any(e.type is type_ for e in expected)]
        return [loop_key for loop_key in concerned if self._check(loop_key)]

    def give_up(self, loop_key: str) -> list[Expected]:
        """Waits no more for that key; returns what never showed."""
        missed = self._by_key.pop(loop_key, [])
        for expected in missed:
            self._forget(loop_key, expected)
        return missed

    def _check(self, loop_key: str) -> bool:
        """Forgets what is met; whether that was the last."""
        waiting = []
        for expected in self._by_key[loop_key]:
            if self._is_met(expected):
                self._forget(loop_key, expected)
            else:
                waiting.append(expected)
        if waiting:
            self._by_key[loop_key] = waiting
            for expected in waiting:
                self._by_object.setdefault((expected.type, expected.key), {})[loop_key] = None
            return False
        del self._by_key[loop_key]
        return True

    def _forget(self, loop_key: str, expected: Expected) -> None:
        waiters = self._by_object.get((expected.type, expected.key), {})
        waiters.pop(loop_key, None)
        if not waiters:
            self._by_object.pop((expected.type, expected.key), None)

    def _is_met(self, expected: Expected) -> bool:
        informer = self._informers.find(expected.type)
        assert informer is not None
        return expected.is_met(self._informers.cache.find(expected.type, expected.key), informer.revision)
