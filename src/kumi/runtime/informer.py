"""Informers: list and watch each type once, keep the cache, tell the loops.

    list  ->  the differences to what the cache has  ->  watch from the list's revision  ->  ...

A broken watch goes on from the last revision that was seen; where that is compacted (410), the type is listed again and
only the differences are told, so that a subscriber sees every object as a chain of (old, new) without a gap: what was told
as `new` is the next `old`. An object that was deleted and made again between two looks is told as two changes.

Stale      an event that is older than what the cache has (the watch was resumed, or a list was newer) is passed over.
           A list is the server's newest word and is believed, even where its revisions are older (a restored backup).
Unreadable an object that does not decode is reported once for each of its revisions and left out; what the cache has of
           it stays, since a loop that believed it gone would act on that.
Payloads   What config maps and secrets carry is no business of loops, but for a few names that are told to Informers: of all
           others only the metadata is kept, since a hundred thousand of them are half a gigabyte that the store has already.
Others     CustomObject stands for the objects of all kinds that others define: an informer a kind, begun and ended as the
           definitions come and go.
Back-off   100 ms doubling to 30 s, without jitter; over as soon as an event comes through or a watch has lasted that long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from kumi.api.apiextensions import CustomObject, CustomResourceDefinition, custom_key, custom_object, kind_defined_by
from kumi.api.core import ConfigMap, Secret
from kumi.api.errors import ApiError
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME, Kind
from kumi.api.wire import JsonObject, WatchEvent
from kumi.runtime.cache import Cache
from kumi.runtime.client import Reader
from kumi.runtime.clock import Clock
from kumi.runtime.revisions import newest, reached
from kumi.runtime.sharing import Sharing

log = logging.getLogger(__name__)

RETRY_FIRST_MS = 100
RETRY_LAST_MS = 30_000

TURN = 128
"""Objects of a list that are taken in before everybody else has their turn: a long list takes seconds."""

Handler: TypeAlias = Callable[[type[Object], Object | None, Object | None], None]
"""Told of a change: the type, the object before it (None: new) and after it (None: gone). Must not wait or fail."""

Progress: TypeAlias = Callable[[type[Object]], None]
"""Told that everything of a type up to its informer's revision is in the cache (after a list or a bookmark)."""


CARRIERS: tuple[type[Object], ...] = (ConfigMap, Secret)

Payloads: TypeAlias = frozenset[str] | None
"""Names of the carriers whose payload is kept; None: of all."""


class Informer:
    """One type. `revision` is how far the cache is; `synced` is set once the first list is in it."""

    def __init__(
        self, reader: Reader, kind: Kind, cache: Cache, clock: Clock, type_: type[Object] | None = None
    ) -> None:
        """`type_` is what the objects are in the cache, if not the kind's own type."""
        self._type = type_ or kind.type
        cache.declare(self._type)
        self.kind = kind
        self.synced = asyncio.Event()
        self.revision = ""
        self.handlers: list[Handler] = []
        self.progress: list[Progress] = []
        self._reader = reader
        self._cache = cache
        self._clock = clock
        self._listed = False
        self._failures = 0
        self._unreadable: dict[str, str] = {}
        self._sharing = Sharing()
        self.payloads: Payloads = None

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            started = self._clock.monotonic_ms()
            try:
                if not self._listed:
                    await self._list()
                await self._watch()
                log.debug("watch of %s ended, resuming at %s", self.kind.resource, self.revision)
            except ApiError as error:
                self._listed = False
                level = logging.DEBUG if error.code == 410 else logging.WARNING
                log.log(level, "watch of %s refused, listing again: %s", self.kind.resource, error)
            except (OSError, TimeoutError) as error:
                log.warning("connection for %s lost: %s", self.kind.resource, str(error) or type(error).__name__)
            except Exception:
                self._listed = False
                log.exception("informer of %s failed, listing again", self.kind.resource)
            if self._clock.monotonic_ms() - started >= RETRY_LAST_MS:
                self._failures = 0
            self._failures += 1
            await self._clock.sleep_ms(min(RETRY_FIRST_MS * 2 ** min(self._failures - 1, 20), RETRY_LAST_MS))

    def key_of(self, raw: JsonObject) -> str:
        """The key of an object in the cache."""
        return _key(raw)

    def mine(self) -> Sequence[Object]:
        """The objects in the cache that this informer keeps."""
        return self._cache.list(self._type)

    def decoded(self, raw: JsonObject) -> Object:
        """An object as the cache has it. msgspec.ValidationError, ValueError."""
        if self.payloads is not None and self._type in CARRIERS and raw["metadata"]["name"] not in self.payloads:
            raw = {"apiVersion": self.kind.api_version, "kind": self.kind.kind, "metadata": raw["metadata"]}
        obj: Object = msgspec.convert(raw, self._type)
        return obj

    async def _list(self) -> None:
        listing = await self._reader.list(self.kind)
        left = {**dict.fromkeys(obj.key for obj in self.mine()), **dict.fromkeys(self._unreadable)}
        for number, raw in enumerate(listing.items, 1):
            if number % TURN == 0:
                await asyncio.sleep(0)
            key = self.key_of(raw)
            left.pop(key, None)
            has = self._cache.find(self._type, key)
            if has is None or (has.metadata.uid, has.metadata.resource_version) != _version(raw):
                self._changed(raw)
        for key in left:
            self._removed(key)
            self._unreadable.pop(key, None)
        self.revision, self._listed = listing.revision, True
        self.synced.set()
        self._progressed()

    async def _watch(self) -> None:
        events = self._reader.watch(self.kind, revision=self.revision)
        try:
            async for event in events:
                self._failures = 0
                self._seen(event)
        finally:
            close = getattr(events, "aclose", None)
            if close is not None:
                await close()

    def _seen(self, event: WatchEvent) -> None:
        revision = str(event.object.get("metadata", {}).get("resourceVersion", ""))
        if event.type in ("ADDED", "MODIFIED") and not self._is_stale(event.object, equal=True):
            self._changed(event.object)
        elif event.type == "DELETED" and not self._is_stale(event.object, equal=False):
            self._unreadable.pop(self.key_of(event.object), None)
            self._removed(self.key_of(event.object))
        if revision:
            self.revision = newest(self.revision, revision)
        if event.type == "BOOKMARK":
            self._progressed()

    def _is_stale(self, raw: JsonObject, equal: bool) -> bool:
        """Whether the cache has something newer of that key (or, with `equal`, exactly this)."""
        has = self._cache.find(self._type, self.key_of(raw))
        if has is None:
            return False
        at, told = has.metadata.resource_version, str(raw["metadata"].get("resourceVersion", ""))
        return equal if at == told else reached(told, at) is False

    def _changed(self, raw: JsonObject) -> None:
        new = self._decoded(raw)
        if new is None:
            return
        old = self._cache.find(self._type, new.key)
        if old is not None and old.metadata.uid != new.metadata.uid:
            self._removed(new.key)
            old = None
        self._cache.set(new)
        self._tell(old, new)

    def _removed(self, key: str) -> None:
        old = self._cache.remove(self._type, key)
        if old is not None:
            self._tell(old, None)

    def _decoded(self, raw: JsonObject) -> Object | None:
        key, at = self.key_of(raw), str(raw["metadata"].get("resourceVersion", ""))
        try:
            obj = self._sharing.shared(self.decoded(raw))
        except (msgspec.ValidationError, ValueError) as error:
            if self._unreadable.get(key) != at:
                self._unreadable[key] = at
                log.warning("%s %s can't be read and is left out: %s", self.kind.kind, key, error)
            return None
        self._unreadable.pop(key, None)
        return obj

    def _tell(self, old: Object | None, new: Object | None) -> None:
        for handler in self.handlers:
            handler(self._type, old, new)

    def _progressed(self) -> None:
        for progress in self.progress:
            progress(self._type)


class KindInformer(Informer):
    """One kind of other people's, whose objects are in the cache as CustomObject."""

    def __init__(self, reader: Reader, kind: Kind, cache: Cache, clock: Clock) -> None:
        super().__init__(reader, kind, cache, clock, CustomObject)

    def key_of(self, raw: JsonObject) -> str:
        """See Informer."""
        meta = raw["metadata"]
        return custom_key(self.kind, str(meta.get("namespace", "")), str(meta["name"]))

    def mine(self) -> Sequence[Object]:
        """See Informer."""
        objects = self._cache.list(CustomObject)
        return [obj for obj in objects if (obj.group, obj.kind) == (self.kind.group, self.kind.kind)]

    def decoded(self, raw: JsonObject) -> Object:
        """See Informer."""
        return custom_object(self.kind, raw)

    def forget(self) -> None:
        """The kind is gone, and its objects with it."""
        for obj in self.mine():
            self._removed(obj.key)


class CustomInformer(Informer):
    """All kinds of other people's at once (CustomObject): an informer a kind, which come and go with the definitions."""

    def __init__(self, reader: Reader, definitions: Informer, cache: Cache, clock: Clock) -> None:
        super().__init__(reader, definitions.kind, cache, clock, CustomObject)
        self._definitions = definitions
        self._running: dict[str, tuple[KindInformer, asyncio.Task[None]]] = {}
        self._changes = asyncio.Event()
        definitions.handlers.append(lambda _type, _old, _new: self._changes.set())
        self.progress.append(lambda _type: self._changes.set())

    async def run(self) -> None:
        """Until cancelled."""
        await self._definitions.synced.wait()
        try:
            while True:
                self._changes.clear()
                self._follow()
                if all(informer.synced.is_set() for informer, _ in self._running.values()):
                    self.synced.set()
                await self._changes.wait()
        finally:
            for _, task in self._running.values():
                task.cancel()
            await asyncio.gather(*(task for _, task in self._running.values()), return_exceptions=True)

    def _follow(self) -> None:
        wanted = {}
        for definition in self._cache.list(CustomResourceDefinition):
            kind = kind_defined_by(definition)
            if kind is not None and SCHEME.find(kind.group, kind.kind) is None:
                wanted[f"{kind.resource} {kind.api_version} {kind.kind} {definition.metadata.uid}"] = kind
        for name in [name for name in self._running if name not in wanted]:
            informer, task = self._running.pop(name)
            task.cancel()
            informer.forget()
        for name, kind in wanted.items():
            if name not in self._running:
                informer = KindInformer(self._reader, kind, self._cache, self._clock)
                informer.handlers, informer.progress = self.handlers, self.progress
                self._running[name] = (informer, asyncio.create_task(informer.run(), name=f"informer-{kind.resource}"))


class Informers:
    """One informer a type, one cache for all. Declare and subscribe first, then `run`."""

    def __init__(
        self,
        reader: Reader,
        clock: Clock,
        kind_of: Callable[[type[Object]], Kind] = SCHEME.of,
        payloads: Payloads = None,
    ) -> None:
        self.cache = Cache()
        self._payloads = payloads
        self._others: dict[type[Object], Callable[[], Informer]] = {}
        self.reader = reader
        self._clock = clock
        self._kind_of = kind_of
        self._by_type: dict[type[Object], Informer] = {}

    def declare(self, type_: type[Object], labels: Iterable[str] = ()) -> Informer:
        """The informer of a type, made if it is new; `labels` are indexed in the cache."""
        if type_ not in self._by_type:
            self._by_type[type_] = self._made(type_)
        self.cache.declare(type_, labels)
        return self._by_type[type_]

    def bring(self, type_: type[Object], make: Callable[[], Informer]) -> None:
        """The informer of that type is made so: of what can't be watched."""
        self._others[type_] = make

    def _made(self, type_: type[Object]) -> Informer:
        if type_ in self._others:
            return self._others[type_]()
        if type_ is CustomObject:
            definitions = self.declare(CustomResourceDefinition)
            return CustomInformer(self.reader, definitions, self.cache, self._clock)
        made = Informer(self.reader, self._kind_of(type_), self.cache, self._clock)
        made.payloads = self._payloads
        return made

    def subscribe(self, types: Iterable[type[Object]], handler: Handler, progress: Progress | None = None) -> None:
        """Tells `handler` of every change of those types from now on."""
        for type_ in types:
            informer = self.declare(type_)
            informer.handlers.append(handler)
            if progress is not None:
                informer.progress.append(progress)

    def find(self, type_: type[Object]) -> Informer | None:
        """The informer of a type, if the type was declared."""
        return self._by_type.get(type_)

    def kind_named(self, group: str, kind: str) -> Kind | None:
        """The declared kind of that group and name."""
        for informer in self._by_type.values():
            if (informer.kind.group, informer.kind.kind) == (group, kind):
                return informer.kind
        return None

    async def synced(self, types: Iterable[type[Object]] = ()) -> None:
        """Returns when the first lists of those types (none given: of all) are in the cache."""
        for type_ in tuple(types) or tuple(self._by_type):
            await self.declare(type_).synced.wait()

    async def run(self) -> None:
        """Runs the informers that are declared by now, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self._by_type.values():
                group.create_task(informer.run(), name=f"informer-{informer.kind.resource}")


def _version(raw: JsonObject) -> tuple[str, str]:
    return str(raw["metadata"].get("uid", "")), str(raw["metadata"].get("resourceVersion", ""))


def _key(raw: JsonObject) -> str:
    meta = raw["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])
