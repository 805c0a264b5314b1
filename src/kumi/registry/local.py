"""LocalClient: the client protocols of kumi.runtime.client, in this process, over a registry.

Objects that come back are the registry's own, shared by all loops: READ-ONLY. What goes in is copied.
Writers here are Kumi's own loops: unknown fields are left out without a word.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Literal

import orjson

from kumi.api.errors import ApiError, bad_request
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject, Listing, WatchEvent
from kumi.registry.refusals import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from kumi.registry.registry import Registry
from kumi.registry.requests import DeleteOptions, ListOptions, Target, WriteOptions

PatchType = Literal["merge", "json", "strategic"]
Propagation = Literal["Background", "Foreground", "Orphan"]

_PATCHES = {"merge": MERGE_PATCH, "json": JSON_PATCH, "strategic": STRATEGIC_PATCH}
_OWNERS = {"binding": "Pod", "eviction": "Pod", "token": "ServiceAccount"}


class LocalClient:
    """Reads and writes a registry. `manager` names the writer."""

    def __init__(self, registry: Registry, manager: str = "kumi") -> None:
        self._registry, self._manager = registry, manager

    async def get(self, kind: Kind, namespace: str, name: str) -> JsonObject:
        """See Reader."""
        return await self._registry.get(Target(self._served(kind), namespace, name))

    async def list(self, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        """See Reader."""
        return await self._registry.list(
            Target(self._served(kind), namespace), ListOptions(labels=labels, fields=fields)
        )

    def watch(
        self, kind: Kind, namespace: str = "", *, revision: str, labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """See Reader."""
        options = ListOptions(labels=labels, fields=fields, revision=revision, bookmarks=True)
        return self._registry.watch(Target(self._served(kind), namespace), options)

    async def create(self, obj: JsonObject, *, subresource: str = "") -> JsonObject:
        """See Writer."""
        copied: JsonObject = orjson.loads(orjson.dumps(obj))
        metadata = copied.setdefault("metadata", {})
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        kind = self._kind_of(copied, subresource)
        target = Target(kind, namespace, name if subresource else "", subresource=subresource)
        return await self._registry.create(target, copied, self._options())

    async def patch(
        self, kind: Kind, namespace: str, name: str, body: object, *, type: PatchType = "merge", subresource: str = ""
    ) -> JsonObject:
        """See Writer."""
        target = Target(self._served(kind), namespace, name, subresource=subresource)
        return await self._registry.patch(target, _PATCHES[type], body, self._options())

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
        """See Writer."""
        options = DeleteOptions(uid=uid, revision=revision, grace_seconds=grace_seconds, propagation=propagation)
        await self._registry.delete(Target(self._served(kind), namespace, name), options)

    def _served(self, kind: Kind) -> Kind:
        """The kind as the registry serves it: of a kind that others define, a loop knows the names only. ApiError 404."""
        served = self._registry.scheme.find(kind.group, kind.kind)
        if served is None:
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        return served

    def _kind_of(self, obj: dict[str, Any], subresource: str) -> Kind:
        scheme = self._registry.scheme
        owner = _OWNERS.get(subresource)
        kind = scheme.find("", owner) if owner else scheme.of_object(obj)
        if kind is None:
            raise bad_request(f'no kind "{obj.get("kind", "")}" is known in version "{obj.get("apiVersion", "")}"')
        return kind

    def _options(self) -> WriteOptions:
        return WriteOptions(field_validation="Ignore", field_manager=self._manager)
