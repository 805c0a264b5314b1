"""A Kubernetes API in a dictionary, for tests of loops: small, honest, and able to go wrong on request.

It has what every loop relies on: resource versions from one counter, uids, optimistic merge patches, a status subresource
that is written apart, finalizers, watches that resume from a revision. It validates and defaults nothing. It passes the
suite of kumi.testing.client_suite, as the real clients do. Faults:

    fail(error)         the next write (of a verb) raises; `done=True`: after it was done, as when an answer is lost
    hold() / deliver()  watch events are kept back: the view is stale until they are delivered
    cut(error)          every open watch breaks
    compact()           watches from before now are refused with 410
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import orjson

from kumi.api.errors import ApiError, already_exists, bad_request, conflict, expired, not_found
from kumi.api.meta import format_time
from kumi.api.scheme import Kind
from kumi.api.wire import EventType, JsonObject, Listing, WatchEvent
from kumi.runtime.client import PatchType, Propagation
from kumi.testing.clock import START_MS

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A write as the fake was asked for it, done or refused."""

    verb: str
    kind: str
    namespace: str
    name: str
    subresource: str = ""
    body: object = None


class _Logged(NamedTuple):
    """One change of one object: what it was (None: made) and is (None: gone; `old` then carries the last revision)."""

    revision: int
    resource: str
    old: JsonObject | None
    new: JsonObject | None


@dataclass(frozen=True)
class _Selection:
    """What a list or a watch asks for."""

    resource: str
    namespace: str
    labels: str
    fields: str

    def takes(self, obj: JsonObject | None) -> bool:
        """Whether it wants that object."""
        if obj is None:
            return False
        meta = obj["metadata"]
        if self.namespace and meta.get("namespace", "") != self.namespace:
            return False
        labels = meta.get("labels") or {}
        return all(labels.get(k) == v for k, v in _terms(self.labels)) and all(
            str(_at(obj, k)) == v for k, v in _terms(self.fields)
        )


@dataclass(eq=False)
class _Watcher:
    selection: _Selection
    after: int
    queue: asyncio.Queue[WatchEvent | Exception] = field(default_factory=asyncio.Queue)

    def tell(self, logged: _Logged) -> None:
        """The change as this watcher sees it: an object that no longer matches is gone for it."""
        if logged.resource != self.selection.resource or logged.revision <= self.after:
            return
        was, is_now = self.selection.takes(logged.old), self.selection.takes(logged.new)
        shown = logged.new or logged.old
        assert shown is not None
        if was or is_now:
            kind: EventType = "MODIFIED" if was and is_now else "ADDED" if is_now else "DELETED"
            event = _copy(shown)
            event["metadata"]["resourceVersion"] = str(logged.revision)
            self.queue.put_nowait(WatchEvent(kind, event))


class _Fault(NamedTuple):
    verb: str
    kind: str
    error: Exception
    done: bool


class FakeClient:
    """See the module; kumi.runtime.client.Client. `calls` are the writes so far, in order, the refused ones too."""

    def __init__(self, kinds: Sequence[Kind], now_ms: int = START_MS) -> None:
        self.now_ms = now_ms
        self.calls: list[Call] = []
        self._kinds = {(k.api_version, k.kind): k for k in kinds}
        self._objects: dict[tuple[str, str, str], JsonObject] = {}
        self._revision = 1
        self._made = 0
        self._compacted = 0
        self._log: list[_Logged] = []
        self._told = 0
        self._holding = False
        self._watchers: list[_Watcher] = []
        self._faults: list[_Fault] = []

    # What a test does to it.

    def fail(self, error: Exception, verb: str = "", kind: str = "", *, done: bool = False, times: int = 1) -> None:
        """The next writes (of `verb`: create, patch, delete; to `kind`; "": any) raise `error`, and are not done;
        `done`: they are."""
        self._faults += [_Fault(verb, kind, error, done)] * times

    def recover(self) -> None:
        """No fault any more."""
        self._faults.clear()

    def hold(self) -> None:
        """Watch events are kept back from now on."""
        self._holding = True

    def deliver(self, n: int | None = None) -> None:
        """Lets the next `n` of them through, and goes on holding; None: all, and no longer holds."""
        if n is None:
            self._holding = False
        self._tell(len(self._log) if n is None else min(self._told + n, len(self._log)))

    def cut(self, error: Exception | None = None) -> None:
        """Every open watch breaks with `error`; None: it ends in good order, as servers end long watches."""
        for watcher in self._watchers:
            watcher.queue.put_nowait(error or _End())
        self._watchers.clear()

    def compact(self) -> None:
        """Watches from before now are refused from now on."""
        self._compacted = self._revision

    def bookmark(self) -> None:
        """Tells every watcher how far it was told everything."""
        told = self._log[self._told - 1].revision if self._told else 1
        mark: JsonObject = {"metadata": {"resourceVersion": str(told)}}
        for watcher in self._watchers:
            watcher.queue.put_nowait(WatchEvent("BOOKMARK", _copy(mark)))

    @property
    def watching(self) -> int:
        """How many watches are open."""
        return len(self._watchers)

    def objects(self, kind: Kind) -> list[JsonObject]:
        """Everything of a kind that is there, by namespace and name."""
        found = sorted((key, obj) for key, obj in self._objects.items() if key[0] == kind.resource)
        return [_copy(obj) for _, obj in found]

    # kumi.runtime.client.Reader

    async def get(self, kind: Kind, namespace: str, name: str) -> JsonObject:
        """See Reader."""
        return _copy(self._found(kind, namespace, name))

    async def list(self, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        """See Reader. Equality selectors only."""
        selection = _Selection(kind.resource, namespace, labels, fields)
        return Listing([obj for obj in self.objects(kind) if selection.takes(obj)], str(self._revision))

    async def watch(
        self, kind: Kind, namespace: str = "", *, revision: str, labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """See Reader."""
        if int(revision) < self._compacted:
            raise expired(f"too old resource version: {revision} ({self._compacted})")
        watcher = _Watcher(_Selection(kind.resource, namespace, labels, fields), int(revision))
        for logged in self._log[: self._told]:
            watcher.tell(logged)
        self._watchers.append(watcher)
        try:
            while True:
                event = await watcher.queue.get()
                if isinstance(event, _End):
                    return
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            if watcher in self._watchers:
                self._watchers.remove(watcher)

    # kumi.runtime.client.Writer

    async def create(self, obj: JsonObject, *, subresource: str = "") -> JsonObject:
        """See Writer."""
        meta = obj.get("metadata", {})
        name, namespace = meta.get("name", ""), meta.get("namespace", "")
        call = Call("create", obj.get("kind", ""), namespace, name, subresource, _copy(obj))
        if subresource:
            return await self._write(call, lambda: self._on_pod(obj, subresource))
        return await self._write(call, lambda: self._create(_copy(obj)))

    async def patch(
        self, kind: Kind, namespace: str, name: str, body: object, *, type: PatchType = "merge", subresource: str = ""
    ) -> JsonObject:
        """See Writer. Merge patches only."""
        if type != "merge" or not isinstance(body, dict):
            raise ApiError(415, "UnsupportedMediaType", "this fake knows merge patches only")
        call = Call("patch", kind.kind, namespace, name, subresource, _copy(body))
        return await self._write(call, lambda: self._patch(kind, self._found(kind, namespace, name), body, subresource))

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        grace_seconds: int | None = None,
        propagation: Propagation = "Background",
        revision: str = "",
    ) -> None:
        """See Writer. At once, unless there are finalizers; what the object owns stays."""
        call = Call("delete", kind.kind, namespace, name, "", {"uid": uid, "grace_seconds": grace_seconds})
        await self._write(call, lambda: self._delete(kind, self._found(kind, namespace, name), uid, revision))

    async def _write(self, call: Call, work: Callable[[], JsonObject]) -> JsonObject:
        self.calls.append(call)
        fault = next((f for f in self._faults if f.verb in ("", call.verb) and f.kind in ("", call.kind)), None)
        if fault is None:
            return work()
        self._faults.remove(fault)
        if fault.done:
            work()
        raise fault.error

    def _create(self, obj: JsonObject) -> JsonObject:
        kind = self._kinds.get((obj.get("apiVersion", ""), obj.get("kind", "")))
        if kind is None:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        meta = obj.setdefault("metadata", {})
        self._made += 1
        if not meta.get("name"):
            if not meta.get("generateName"):
                raise bad_request("name or generateName is required")
            meta["name"] = f"{meta['generateName']}{self._made:05d}"
        if (kind.resource, meta.get("namespace", ""), meta["name"]) in self._objects:
            raise already_exists(kind.plural, meta["name"], kind.group)
        meta["uid"] = f"uid-{self._made:05d}"
        meta["creationTimestamp"] = format_time(self.now_ms)
        meta["generation"] = 1
        if "status" in kind.subresources:
            obj.pop("status", None)
        return self._commit(kind, None, obj)

    def _on_pod(self, obj: JsonObject, subresource: str) -> JsonObject:
        meta = obj.get("metadata", {})
        pods = next(kind for (_, name), kind in self._kinds.items() if name == "Pod")
        pod = self._found(pods, meta.get("namespace", ""), meta.get("name", ""))
        if subresource == "eviction":
            self._delete(pods, pod, "", "")
        elif pod.get("spec", {}).get("nodeName"):
            raise conflict("pods/binding", meta["name"], why=f"pod {meta['name']} is already assigned to a node")
        else:
            bound = _copy(pod)
            bound.setdefault("spec", {})["nodeName"] = obj["target"]["name"]
            self._commit(pods, pod, bound)
        return {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success", "code": 201}

    def _patch(self, kind: Kind, old: JsonObject, body: JsonObject, subresource: str) -> JsonObject:
        meta = body.get("metadata") or {}
        if meta.get("resourceVersion", old["metadata"]["resourceVersion"]) != old["metadata"]["resourceVersion"]:
            raise conflict(kind.plural, old["metadata"]["name"], kind.group)
        if meta.get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
            raise conflict(kind.plural, old["metadata"]["name"], kind.group, "the object has another uid")
        new = merged(old, body)
        if subresource == "status":
            new = {**_copy(old), "status": new.get("status")} if "status" in new else _without(old, "status")
        elif "status" in kind.subresources:
            new = {**new, "status": old["status"]} if "status" in old else _without(new, "status")
        for name in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation"):
            if name in old["metadata"]:
                new["metadata"][name] = old["metadata"][name]
        if new == old:
            return _copy(old)
        if _without(_without(new, "metadata"), "status") != _without(_without(old, "metadata"), "status"):
            new["metadata"]["generation"] += 1
        if new["metadata"].get("deletionTimestamp") and not new["metadata"].get("finalizers"):
            return self._remove(kind, new)
        return self._commit(kind, old, new)

    def _delete(self, kind: Kind, old: JsonObject, uid: str, revision: str) -> JsonObject:
        meta = old["metadata"]
        if revision not in ("", meta["resourceVersion"]):
            raise conflict(kind.plural, meta["name"], kind.group)
        if uid and uid != meta["uid"]:
            raise conflict(kind.plural, meta["name"], kind.group, f"the UID in the precondition is not {meta['uid']}")
        if not meta.get("finalizers"):
            return self._remove(kind, old)
        if meta.get("deletionTimestamp"):
            return old
        new = _copy(old)
        new["metadata"]["deletionTimestamp"] = format_time(self.now_ms)
        return self._commit(kind, old, new)

    def _found(self, kind: Kind, namespace: str, name: str) -> JsonObject:
        found = self._objects.get((kind.resource, namespace, name))
        if found is None:
            raise not_found(kind.plural, name, kind.group)
        return found

    def _commit(self, kind: Kind, old: JsonObject | None, new: JsonObject) -> JsonObject:
        self._revision += 1
        meta = new["metadata"]
        meta["resourceVersion"] = str(self._revision)
        self._objects[kind.resource, meta.get("namespace", ""), meta["name"]] = new
        self._append(_Logged(self._revision, kind.resource, old, _copy(new)))
        return _copy(new)

    def _remove(self, kind: Kind, last: JsonObject) -> JsonObject:
        self._revision += 1
        meta = last["metadata"]
        del self._objects[kind.resource, meta.get("namespace", ""), meta["name"]]
        self._append(_Logged(self._revision, kind.resource, last, None))
        return _copy(last)

    def _append(self, logged: _Logged) -> None:
        self._log.append(logged)
        if not self._holding:
            self._tell(len(self._log))

    def _tell(self, until: int) -> None:
        for logged in self._log[self._told : until]:
            for watcher in self._watchers:
                watcher.tell(logged)
        self._told = max(self._told, until)


class _End(Exception):
    """A watch that the server ends in good order."""


def merged(old: Any, patch: Any) -> Any:
    """RFC 7386: null removes, objects merge, everything else replaces. Inputs are left as they are."""
    if not isinstance(patch, dict):
        return patch if not isinstance(patch, list) else [_copy(item) for item in patch]
    result: JsonObject = _copy(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _copy(value: T) -> T:
    copied: T = orjson.loads(orjson.dumps(value))
    return copied


def _without(obj: JsonObject, key: str) -> JsonObject:
    return {k: v for k, v in obj.items() if k != key}


def _terms(selector: str) -> Iterator[tuple[str, str]]:
    for term in selector.split(","):
        if term:
            key, _, value = term.replace("==", "=").partition("=")
            yield key.strip(), value.strip()


def _at(obj: Any, path: str) -> Any:
    for word in path.split("."):
        obj = obj.get(word, "") if isinstance(obj, dict) else ""
    return obj
