"""A small cluster on a table: the real registry on a store in memory, real loops, no time but what a test gives it.

    stage = Stage(controllers=[...], deciders=[...], hooks=[...])
    await stage.make(manifest)                      creates, as kubectl would
    await stage.settle()                            looks at every key until nobody has anything left to do
    await stage.pod_status("ns", "name", {...})     what a kubelet would say
    stage.advance(10)                               seconds pass (and nothing else)
    stage.changes()                                 what watches have shown since the last call

Deterministic: uids are counted, keys are looked at in order, every look sees everything that was written before it.
A pod is gone as soon as it is deleted, unless `grace` is set: then it waits for `pod_gone`.
A write that is refused for a conflict is made again at the next look, as a manager would; any other refusal is an error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import orjson

from kumi.api.apiextensions import CustomObject, CustomResourceDefinition, custom_object, kind_defined_by
from kumi.api.core import Event, Pod
from kumi.api.errors import ApiError
from kumi.api.meta import Object
from kumi.api.scheme import Kind, load
from kumi.api.wire import JsonObject, WatchEvent
from kumi.registry.bootstrap import bootstrap
from kumi.registry.hooks import AdmissionHook
from kumi.registry.local import LocalClient
from kumi.registry.registry import Registry
from kumi.registry.requests import Target, WriteOptions
from kumi.runtime.cache import Cache
from kumi.runtime.decider import Decider
from kumi.runtime.reconcile import Controller, Create, Delete, Note, Patch, Write
from kumi.store.base import Change
from kumi.store.memory import MemoryStore
from kumi.testing.clock import START_MS

LOOKS_AT_MOST = 2000
"""looks with writes in one settling, after which the loops are taken to chase each other"""


class Stage:
    """See the module."""

    def __init__(
        self,
        controllers: Sequence[Controller] = (),
        deciders: Sequence[Decider] = (),
        hooks: Sequence[AdmissionHook] = (),
        *,
        grace: bool = False,
    ) -> None:
        self.scheme = load()
        self.now_ms, self.grace, self._uids = START_MS, grace, 0
        self.store = MemoryStore()
        self.registry = Registry(self.store, self.scheme, lambda: self.now_ms, self._new_uid, hooks)
        self.client = LocalClient(self.registry)
        self.notes: list[Note] = []
        self._controllers, self._deciders = list(controllers), list(deciders)
        self._known: list[dict[tuple[type[Object], str], Object]] = [{} for _ in deciders]
        self._changes: AsyncIterator[Change] | None = None
        self._shown = 0

    def _new_uid(self) -> str:
        self._uids += 1
        return f"00000000-0000-4000-8000-{self._uids:012d}"

    async def open(self, *namespaces: str) -> None:
        """Makes what a cluster has from the start, and namespaces."""
        await bootstrap(self.registry)
        for name in namespaces:
            await self.make({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    async def make(self, manifest: JsonObject, options: WriteOptions | None = None) -> JsonObject:
        """Creates; ApiError as a user would get it."""
        kind, target = self._target(manifest)
        return await self.registry.create(
            Target(kind, target.namespace, version=target.version), _copy(manifest), options or WriteOptions()
        )

    async def update(self, manifest: JsonObject, options: WriteOptions | None = None) -> JsonObject:
        """Replaces by a full object."""
        _, target = self._target(manifest)
        return await self.registry.update(target, _copy(manifest), options or WriteOptions())

    async def patch(self, type_: type[Object], key: str, body: JsonObject, subresource: str = "") -> JsonObject:
        """A merge patch of what a user may change, or of a subresource."""
        namespace, _, name = key.rpartition("/")
        return await self.client.patch(self.scheme.of(type_), namespace, name, body, subresource=subresource)

    async def delete(self, type_: type[Object], key: str) -> None:
        """Deletes, as kubectl would."""
        namespace, _, name = key.rpartition("/")
        await self.client.delete(self.scheme.of(type_), namespace, name, grace_seconds=self._grace(type_))

    async def pod_status(self, namespace: str, name: str, status: JsonObject) -> None:
        """What a kubelet says of a pod."""
        await self.patch(Pod, f"{namespace}/{name}", {"status": status}, "status")

    async def pod_gone(self, namespace: str, name: str) -> None:
        """A pod's processes have ended: it goes, if no finalizer holds it."""
        await self.client.delete(self.scheme.of(Pod), namespace, name, grace_seconds=0)

    def advance(self, seconds: float) -> None:
        """Time passes; `settle` afterwards."""
        self.now_ms += int(seconds * 1000)

    async def all(self, type_: type[Object], namespace: str = "") -> list[JsonObject]:
        """Every object of a type, by key."""
        return list((await self.client.list(self.scheme.of(type_), namespace)).items)

    async def one(self, type_: type[Object], key: str) -> JsonObject | None:
        """One object, if it is there."""
        namespace, _, name = key.rpartition("/")
        try:
            return await self.client.get(self.scheme.of(type_), namespace, name)
        except ApiError as error:
            if error.code != 404:
                raise
            return None

    async def settle(self) -> None:
        """Looks at everything until nobody has anything left to write."""
        for _ in range(LOOKS_AT_MOST):
            if not await self._look_once():
                return
        raise AssertionError("the loops never come to rest")

    async def changes(self) -> list[WatchEvent]:
        """What watches of all kinds have shown since the last call, in order."""
        if self._changes is None:
            self._changes = self.store.watch("/", 0)
        out: list[WatchEvent] = []
        while self._shown < self.store.revision:
            change = await anext(self._changes)
            self._shown = change.revision
            out.append(_event(change))
        return out

    async def view(self, types: Sequence[type[Object]], labels: Sequence[str] = ()) -> Cache:
        """Everything of these types as it is now."""
        cache = Cache(types, labels)
        for type_ in types:
            if type_ is CustomObject:
                for other in await self._customs():
                    cache.set(other)
                continue
            for obj in await self.all(type_):
                cache.set(msgspec.convert(obj, type_))
        return cache

    async def _customs(self) -> list[CustomObject]:
        """Every object of a kind that others define."""
        found = []
        for definition in await self.all(CustomResourceDefinition):
            kind = kind_defined_by(msgspec.convert(definition, CustomResourceDefinition))
            if kind is not None:
                found += [custom_object(kind, obj) for obj in (await self.client.list(kind)).items]
        return found

    async def _look_once(self) -> bool:
        """One look at every key and one decision of every decider; whether anything was written."""
        wrote = False
        for controller in self._controllers:
            watches = controller.watches
            view = await self.view(tuple(watches.keys), watches.labels)
            keys = {key: None for t, of in watches.keys.items() for obj in view.list(t) for key in of(obj)}
            for key in sorted(keys):
                outcome = controller.reconcile(view, key, self.now_ms)
                self.notes += outcome.notes
                if outcome.writes:
                    wrote = True
                    await self._write_all(outcome.writes)
                    view = await self.view(tuple(watches.keys), watches.labels)
        for index, decider in enumerate(self._deciders):
            wrote = await self._decide(decider, self._known[index]) or wrote
        return wrote

    async def _decide(self, decider: Decider, known: dict[tuple[type[Object], str], Object]) -> bool:
        for type_ in decider.watches:
            now = {obj.key: obj for obj in (await self.view([type_])).list(type_)}
            keys = sorted({key for t, key in known if t is type_} | set(now))
            for key in keys:
                old, new = known.get((type_, key)), now.get(key)
                if old != new:
                    decider.apply(type_, key, old, new)
                    if new is None:
                        del known[type_, key]
                    else:
                        known[type_, key] = new
        batch = decider.decide(self.now_ms)
        wrote = False
        for step in batch.steps:
            self.notes += step.notes
            refused = await self._write_all(step.writes)
            decider.settle(step.token, not refused, refused)
            wrote = wrote or bool(step.writes)
        return wrote

    async def _write_all(self, writes: Sequence[Write]) -> str:
        """The writes in order, up to the first conflict; its text, or ""."""
        for write in writes:
            try:
                await self._write(write)
            except ApiError as error:
                if error.code == 404 and isinstance(write, Delete):
                    continue
                if error.reason == "AlreadyExists" and isinstance(write, Create):
                    continue
                if error.reason in ("Conflict", "NotFound"):
                    return error.message
                raise
        return ""

    async def _write(self, write: Write) -> None:
        if isinstance(write, Create):
            await self.client.create(write.object, subresource=write.subresource)
        elif isinstance(write, Patch):
            await self.client.patch(
                write.kind, write.namespace, write.name, write.body, type=write.type, subresource=write.subresource
            )
        else:
            grace = write.grace_seconds if write.grace_seconds is not None else self._grace(write.kind.type)
            await self.client.delete(
                write.kind,
                write.namespace,
                write.name,
                uid=write.uid,
                grace_seconds=grace,
                propagation=write.propagation,
                revision=write.revision,
            )

    def _grace(self, type_: type[Object]) -> int | None:
        return 0 if type_ is Pod and not self.grace else None

    def _target(self, manifest: JsonObject) -> tuple[Kind, Target]:
        kind = self.scheme.of_object(manifest)
        assert kind is not None, f"the scheme has no {manifest.get('apiVersion')} {manifest.get('kind')}"
        meta = manifest.get("metadata") or {}
        version = str(manifest["apiVersion"]).rpartition("/")[2]
        namespace = meta.get("namespace", "") if kind.namespaced else ""
        return kind, Target(kind, namespace, meta.get("name", ""), version)


def _copy(obj: JsonObject) -> JsonObject:
    copied: JsonObject = orjson.loads(orjson.dumps(obj))
    return copied


def _event(change: Change) -> WatchEvent:
    if change.value is None:
        return WatchEvent("DELETED", _decoded(change.previous))
    return WatchEvent("ADDED" if change.previous is None else "MODIFIED", _decoded(change.value))


def _decoded(value: bytes | None) -> JsonObject:
    decoded: Any = orjson.loads(value or b"{}")
    return decoded if isinstance(decoded, dict) else {}


def is_event(obj: JsonObject) -> bool:
    """Whether an object is an Event, which most dumps leave out."""
    return bool(obj.get("kind") == Event.__name__)
