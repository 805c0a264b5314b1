"""Stored objects: keys, bytes, and the decoded objects that everybody shares.

Keys       `/group/plural/namespace/name` (cluster-scoped: `/group/plural//name`; the core group is `core`).
Value      the object in its stored version without `metadata.resourceVersion`, which is the revision that wrote it. Who manages
           its fields (metadata.managedFields) stands behind the rest, as the last member `kumi.dev/managedFields`.
Text       apiVersion, kind and metadata stand first, so that an object can be sent on as it is stored, with its revision and its
           managers put in: `Entry` to JSON without a decoder and an encoder in between (1 us against 35 for 3 KB).
Managers   are as large as the object and read by nobody but the rules of apply: a decoded object has them as the text that
           they are stored as (orjson.Fragment), which every JSON encoder here writes as it is. `managed_text` and
           `with_managers` are the way to read them.
Sharing    a change is decoded once, whoever looks: a decoded object belongs to the cache and is READ-ONLY for all.
           Who wants to change one takes `Found.copy()`.
Cost       O(1) a read of what was lately written or read; a miss decodes (some 15 us for 3 KB).
"""

from __future__ import annotations

import copyreg
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import orjson

from kumi.api.errors import ApiError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.store.base import Change, Entry, Page, Store, StoreFailed

CACHED = 2048
"""Decoded objects that are kept; the oldest go first."""


MANAGED = "managedFields"
_MEMBER = b',"kumi.dev/managedFields":'
_NOBODY = b"[]"
_FIRST = ("apiVersion", "kind", "metadata")

copyreg.pickle(orjson.Fragment, lambda fragment: (orjson.Fragment, (orjson.dumps(fragment),)))


class Found(NamedTuple):
    """A stored object as of `revision`; `object` is shared and read-only."""

    key: str
    revision: int
    value: bytes
    object: JsonObject

    def copy(self) -> JsonObject:
        """The same object, the caller's own."""
        obj = decode(self.value, self.revision)
        if MANAGED in obj["metadata"]:
            # The same text: two objects that say the same are equal, and a write that leaves it alone is known by that.
            obj["metadata"][MANAGED] = self.object["metadata"][MANAGED]
        return obj

    def copy_for_status(self) -> JsonObject:
        """The same object; of it, the status and the plain members of metadata are the caller's own, the rest is shared."""
        obj = {**self.object, "metadata": dict(self.object["metadata"])}
        if "status" in obj:
            obj["status"] = clone(obj["status"])
        return obj


class Head(NamedTuple):
    """How the objects of a kind begin as they are stored, and how they begin where they are sent."""

    stored: bytes
    sent: bytes

    @staticmethod
    def of(kind: Kind, *, within_list: bool) -> Head:
        """`within_list`: without apiVersion and kind, as lists of Kubernetes' own kinds have their items."""
        stored = orjson.dumps({"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {}})[:-2]
        return Head(stored, b'{"metadata":{' if within_list else stored)


class Objects:
    """Reads and writes whole objects of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._cache: OrderedDict[tuple[str, int], JsonObject] = OrderedDict()

    def get(self, kind: Kind, namespace: str, name: str) -> Found | None:
        """The object as it is now."""
        entry = self.store.get(key_of(kind, namespace, name))
        return None if entry is None else self.found(entry)

    def found(self, entry: Entry) -> Found:
        """An entry with its object."""
        return Found(entry.key, entry.revision, entry.value, self._shared(entry.key, entry.revision, entry.value))

    def listed(self, entry: Entry) -> JsonObject:
        """The object of an entry of a long list: read-only, but not kept."""
        cached = self._cache.get((entry.key, entry.revision))
        return decode(entry.value, entry.revision) if cached is None else cached

    def text(self, entry: Entry, head: Head) -> bytes:
        """The JSON of an entry's object."""
        value = entry.value
        if not value.startswith(head.stored):
            return self._text_of_other(entry, head)
        at = value.rfind(_MEMBER)
        managed = value[at + len(_MEMBER) : -1] if at >= 0 else _NOBODY
        noted = b"" if managed == _NOBODY else b'"managedFields":%b,' % managed
        rest = value[len(head.stored) : at if at >= 0 else -1]
        return b'%b"resourceVersion":"%d",%b%b}' % (head.sent, entry.revision, noted, rest)

    def _text_of_other(self, entry: Entry, head: Head) -> bytes:
        """Of one that was stored in another order, by an older version."""
        obj = self.listed(entry)
        if head.sent != head.stored:
            obj = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
        return orjson.dumps(obj)

    def page(self, prefix: str, *, limit: int = 0, after: str = "", revision: int = 0) -> Page:
        """See Store.list."""
        return self.store.list(prefix, limit=limit, after=after, revision=revision)

    def current(self, change: Change) -> JsonObject | None:
        """What a change wrote; None for a deletion."""
        return None if change.value is None else self._shared(change.key, change.revision, change.value)

    def previous(self, change: Change) -> JsonObject | None:
        """What was there before a change, with the change's revision, as the last word about an object that is gone
        (for good, or for a selector); None for a creation."""
        if change.previous is None:
            return None
        return self._shared(f"-{change.key}", change.revision, change.previous)

    async def put(self, key: str, obj: JsonObject, expected: int) -> JsonObject:
        """Stores `obj`, which belongs to the cache from now on, and returns it with its resourceVersion.

        kumi.store.base.Conflict; ApiError 500 when the disk refuses."""
        metadata = obj["metadata"]
        metadata.pop("resourceVersion", None)
        revision = await self._put(key, encode(obj), expected)
        metadata["resourceVersion"] = str(revision)
        self._keep((key, revision), obj)
        return obj

    async def remove(self, key: str, expected: int) -> int:
        """Removes what is there at that revision. kumi.store.base.Conflict; ApiError 500 when the disk refuses."""
        return await self._put(key, None, expected)

    async def _put(self, key: str, value: bytes | None, expected: int) -> int:
        try:
            return await self.store.put(key, value, expected)
        except StoreFailed as failed:
            raise ApiError(500, "InternalError", f"nothing was written: {failed}") from failed

    def _shared(self, key: str, revision: int, value: bytes) -> JsonObject:
        cached = self._cache.get((key, revision))
        if cached is None:
            cached = decode(value, revision)
            self._keep((key, revision), cached)
        return cached

    def _keep(self, at: tuple[str, int], obj: JsonObject) -> None:
        self._cache[at] = obj
        if len(self._cache) > CACHED:
            self._cache.popitem(last=False)


class Decoded(Sequence[JsonObject]):
    """The objects of entries, each decoded when it is asked for: a hundred thousand of them at once are a gigabyte."""

    def __init__(self, objects: Objects, entries: Sequence[Entry]) -> None:
        self._objects, self._entries = objects, entries

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    @overload
    def __getitem__(self, index: int) -> JsonObject: ...
    @overload
    def __getitem__(self, index: slice) -> Decoded: ...
    def __getitem__(self, index: int | slice) -> JsonObject | Decoded:
        if isinstance(index, slice):
            return Decoded(self._objects, self._entries[index])
        return self._objects.listed(self._entries[index])


def key_of(kind: Kind, namespace: str, name: str) -> str:
    """Where an object is stored."""
    return f"{prefix_of(kind, '')}{namespace}/{name}"


def prefix_of(kind: Kind, namespace: str) -> str:
    """Under which all objects of a kind are, or those of one namespace."""
    group = kind.group if kind.twin is None else kind.twin.group
    start = f"/{group or 'core'}/{kind.plural}/"
    return f"{start}{namespace}/" if namespace else start


def decode(value: bytes, revision: int) -> JsonObject:
    """A new object from stored bytes."""
    at = value.rfind(_MEMBER)
    if at < 0:
        obj: JsonObject = orjson.loads(value)
    else:
        obj = orjson.loads(value[:at] + b"}")
        managed = value[at + len(_MEMBER) : -1]
        if managed != _NOBODY:
            obj["metadata"][MANAGED] = orjson.Fragment(managed)
    obj["metadata"]["resourceVersion"] = str(revision)
    return obj


def encode(obj: JsonObject) -> bytes:
    """The bytes of an object that has no resourceVersion; its managers become text."""
    metadata = obj["metadata"]
    managed = managed_text(metadata.pop(MANAGED, None))
    value = orjson.dumps({**{key: obj[key] for key in _FIRST if key in obj}, **obj})
    if managed != _NOBODY:
        metadata[MANAGED] = orjson.Fragment(managed)
    return b"".join((value[:-1], _MEMBER, managed, b"}"))


def managed_text(managed: Any) -> bytes:
    """Who manages an object's fields, as JSON, whether it is still text or not."""
    return orjson.dumps(managed) if managed else _NOBODY


def with_managers(obj: JsonObject) -> JsonObject:
    """An object whose managers can be read; the same one where there are none, or where they can be read already."""
    metadata = obj["metadata"]
    if type(metadata.get(MANAGED)) is not orjson.Fragment:
        return obj
    return {**obj, "metadata": {**metadata, MANAGED: orjson.loads(managed_text(metadata[MANAGED]))}}


def same(new: JsonObject, old: JsonObject) -> bool:
    """Whether two objects say the same, to the type of every value (Python takes 1, 1.0 and True for equal)."""
    return new == old and orjson.dumps(new, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
        old, option=orjson.OPT_SORT_KEYS
    )


def clone(value: JsonObject) -> JsonObject:
    """A deep copy of JSON, by way of its text: faster than copy.deepcopy, and it refuses what is no JSON."""
    copied: JsonObject = orjson.loads(orjson.dumps(value))
    return copied
