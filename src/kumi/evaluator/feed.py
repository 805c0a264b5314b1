"""Feed: every write of a store as changes of a view, at once and in order: no loop ever sees what was before its own write.

The rule   `take` gives what was written since the last call, one change for each write, of the types that somebody reads; the
           view shows all of it by then. An object that does not decode is left out, as informers do; an object that was deleted
           and made again is two changes.
Why        Informers (kumi.runtime.informer) bring changes when they come, each type by itself. Here nobody looks before
           everything has come: one reader of the whole store is enough, and needs no event loop.
Others     objects of kinds that other people define are CustomObjects, as with informers.
Cost       a decoding a write of a type that is read, O(log n) in the view.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from kumi.api.apiextensions import CustomObject, custom_key, custom_object
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind, Scheme
from kumi.registry.objects import decode, prefix_of
from kumi.runtime.cache import Cache
from kumi.store.base import Change, Store


class News(NamedTuple):
    """An object appeared (`old` None), changed, or is gone (`new` None), by the write of that revision."""

    type: type[Object]
    key: str
    old: Object | None
    new: Object | None
    revision: int


class Feed:
    """See the module. `scheme` is the registry's, which learns kinds while it runs."""

    def __init__(self, store: Store, scheme: Scheme, cache: Cache, types: Iterable[type[Object]]) -> None:
        self._watch = store.watch("/", 0)
        self._scheme, self._cache = scheme, cache
        self._types = frozenset(types)
        self._kinds: dict[str, Kind | None] = {}
        """`/group/plural/` -> whose objects are stored there; None: nobody reads them"""

    def take(self) -> list[News]:
        """What was written since the last call. kumi.store.base.Lagging: more than a watch holds."""
        return [news for change in self._watch.take() for news in self._seen(change)]

    def _seen(self, change: Change) -> list[News]:
        prefix, _, name = change.key.rpartition("/")
        prefix, _, namespace = prefix.rpartition("/")
        kind = self._kind(f"{prefix}/")
        if kind is None:
            return []
        type_ = _type(kind)
        key = f"{namespace}/{name}" if namespace else name
        key = custom_key(kind, namespace, name) if type_ is CustomObject else key
        new = None if change.value is None else _decoded(kind, change.value, change.revision)
        if change.value is not None and new is None:
            return []
        old = self._cache.find(type_, key)
        if new is None:
            self._cache.remove(type_, key)
            return [] if old is None else [News(type_, key, old, None, change.revision)]
        self._cache.set(new)
        return [News(type_, key, old, new, change.revision)]

    def _kind(self, prefix: str) -> Kind | None:
        if prefix in self._kinds:
            return self._kinds[prefix]
        kinds = (kind for kind in self._scheme if kind.twin is None and prefix_of(kind, "") == prefix)
        kind = next(kinds, None)
        if kind is None:
            return None
        found = kind if _type(kind) in self._types else None
        if _type(kind) is not CustomObject:  # those of others come and go
            self._kinds[prefix] = found
        return found


def _type(kind: Kind) -> type[Object]:
    """What its objects are in the view."""
    return kind.type if SCHEME.find(kind.group, kind.kind) is not None else CustomObject


def _decoded(kind: Kind, value: bytes, revision: int) -> Object | None:
    raw = decode(value, revision)
    try:
        return custom_object(kind, raw) if _type(kind) is CustomObject else msgspec.convert(raw, kind.type)
    except (msgspec.ValidationError, ValueError):
        return None
