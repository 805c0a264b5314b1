"""The objects that loops see, decoded and indexed: the View that informers keep up to date.

One table a type: objects by key, the keys in order, and indexes by controller owner's uid and by the labels that a loop
declared. Everything that is returned is in key order. Objects are replaced, never changed, so what a caller holds stays as
it was.

Cost       get O(1); list of a type O(1) while nothing changes (the sequence is kept), O(n) after a change; list of a
           namespace, owned and labelled O(log n + result); a change O(log n) and a memmove of keys for a new key.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from kumi.api.meta import Object

T = TypeVar("T", bound=Object)


class _Index:
    """Keys by a value, each list in order."""

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: dict[str, list[str]] = {}

    def add(self, value: str, key: str) -> None:
        insort(self._keys.setdefault(value, []), key)

    def remove(self, value: str, key: str) -> None:
        keys = self._keys[value]
        del keys[bisect_left(keys, key)]
        if not keys:
            del self._keys[value]

    def of(self, value: str) -> Sequence[str]:
        return self._keys.get(value, ())


class _Table:
    """The objects of one type."""

    __slots__ = ("by_label", "by_owner", "keys", "objects", "whole")

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.keys: list[str] = []
        self.whole: tuple[Object, ...] | None = ()
        self.by_owner = _Index()
        self.by_label: dict[str, _Index] = {}

    def set(self, new: Object) -> Object | None:
        key = new.key
        old = self.objects.get(key)
        if old is None:
            insort(self.keys, key)
        self.objects[key] = new
        self.whole = None
        self._reindex(key, old, new)
        return old

    def remove(self, key: str) -> Object | None:
        old = self.objects.pop(key, None)
        if old is not None:
            del self.keys[bisect_left(self.keys, key)]
            self.whole = None
            self._reindex(key, old, None)
        return old

    def index_by(self, label: str) -> None:
        if label not in self.by_label:
            index = self.by_label[label] = _Index()
            for key in self.keys:
                value = self.objects[key].metadata.labels.get(label)
                if value is not None:
                    index.add(value, key)

    def _reindex(self, key: str, old: Object | None, new: Object | None) -> None:
        was, now = _owner(old), _owner(new)
        if was != now:
            _move(self.by_owner, key, was, now)
        for label, index in self.by_label.items():
            was, now = _label(old, label), _label(new, label)
            if was != now:
                _move(index, key, was, now)


class Cache:
    """See the module; kumi.runtime.view.View. A test fills one by hand with `set` and `remove`."""

    def __init__(self, types: Iterable[type[Object]] = (), labels: Iterable[str] = ()) -> None:
        self._tables: dict[type[Object], _Table] = {}
        declared = tuple(labels)
        for type_ in types:
            self.declare(type_, declared)

    def declare(self, type_: type[Object], labels: Iterable[str] = ()) -> None:
        """Makes room for a type, and an index for each of the labels. May be called again with more labels."""
        table = self._tables.setdefault(type_, _Table())
        for label in labels:
            table.index_by(label)

    @property
    def types(self) -> tuple[type[Object], ...]:
        """The declared types, in the order of their declaration."""
        return tuple(self._tables)

    def set(self, new: Object) -> Object | None:
        """Puts an object in the place of what had its key, and returns that."""
        return self._table(type(new)).set(new)

    def remove(self, type_: type[T], key: str) -> T | None:
        """Takes an object out and returns it, if it was there."""
        return cast("T | None", self._table(type_).remove(key))

    def find(self, type_: type[T], key: str) -> T | None:
        """One object by its key (`namespace/name`, or `name`), if it is there."""
        return cast("T | None", self._table(type_).objects.get(key))

    def get(self, type_: type[T], namespace: str, name: str) -> T | None:
        """See View."""
        return self.find(type_, f"{namespace}/{name}" if namespace else name)

    def list(self, type_: type[T], namespace: str = "") -> Sequence[T]:
        """See View."""
        table = self._table(type_)
        objects, keys = table.objects, table.keys
        if namespace:
            low, high = bisect_left(keys, f"{namespace}/"), bisect_left(keys, f"{namespace}0")
            return cast("Sequence[T]", [objects[key] for key in keys[low:high]])
        if table.whole is None:
            table.whole = tuple(objects[key] for key in keys)
        return cast("Sequence[T]", table.whole)

    def owned(self, type_: type[T], owner_uid: str) -> Sequence[T]:
        """See View."""
        table = self._table(type_)
        return cast("Sequence[T]", [table.objects[key] for key in table.by_owner.of(owner_uid)])

    def labelled(self, type_: type[T], label: str, value: str) -> Sequence[T]:
        """See View."""
        table = self._table(type_)
        index = table.by_label.get(label)
        if index is None:
            return [o for o in self.list(type_) if o.metadata.labels.get(label) == value]
        return cast("Sequence[T]", [table.objects[key] for key in index.of(value)])

    def _table(self, type_: type[Any]) -> _Table:
        try:
            return self._tables[type_]
        except KeyError:
            raise LookupError(f"{type_.__name__} is not in the view: the loop has to name it in its watches") from None


def _owner(obj: Object | None) -> str | None:
    owner = None if obj is None else obj.metadata.controller
    return None if owner is None else owner.uid


def _label(obj: Object | None, label: str) -> str | None:
    return None if obj is None else obj.metadata.labels.get(label)


def _move(index: _Index, key: str, was: str | None, now: str | None) -> None:
    if was is not None:
        index.remove(was, key)
    if now is not None:
        index.add(now, key)
