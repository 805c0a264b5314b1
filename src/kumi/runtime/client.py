"""What a loop needs of a Kubernetes API: read, write. The same for the embedded server (in process) and a real cluster.

Both raise kumi.api.errors.ApiError for a refusal; a lost connection is a ConnectionError and may be tried again.
Objects are JSON, in the stored version of their kind.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, Protocol

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject, Listing, WatchEvent

PatchType = Literal["merge", "json", "strategic"]
Propagation = Literal["Background", "Foreground", "Orphan"]


class Reader(Protocol):
    """get, list, watch. `namespace` "" means all namespaces (or a cluster-scoped kind)."""

    async def get(self, kind: Kind, namespace: str, name: str) -> JsonObject:
        """One object. ApiError 404."""
        ...

    async def list(self, kind: Kind, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        """All objects; `labels` and `fields` are selectors as in kubectl's -l and --field-selector."""
        ...

    def watch(
        self, kind: Kind, namespace: str = "", *, revision: str, labels: str = "", fields: str = ""
    ) -> AsyncIterator[WatchEvent]:
        """Changes after `revision`, until closed. ApiError 410 when it is compacted: list again."""
        ...


class Writer(Protocol):
    """create, patch, delete: the writes that can't lose another writer's fields (there is no blind update)."""

    async def create(self, obj: JsonObject, *, subresource: str = "") -> JsonObject:
        """Creates; `subresource` is `binding`, `eviction` or `token` of the object named in metadata. ApiError 409, 422."""
        ...

    async def patch(
        self, kind: Kind, namespace: str, name: str, body: object, *, type: PatchType = "merge", subresource: str = ""
    ) -> JsonObject:
        """Patches; a `metadata.resourceVersion` in a merge body makes it conditional. ApiError 404, 409, 422."""
        ...

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
        """Deletes; `uid` and `revision` as preconditions.

        ApiError 404 (already gone), 409 (another object has the name, or it has changed)."""
        ...


class Client(Reader, Writer, Protocol):
    """Both."""
