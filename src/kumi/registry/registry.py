"""The verbs of the Kubernetes API on JSON objects, without HTTP.

Keys in the store: `/group/plural/namespace/name` (cluster-scoped: `/group/plural//name`; core: group `core`). The stored
value is the object without resourceVersion; its revision in the store is its resourceVersion.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kumi.api.scheme import Kind, Scheme
from kumi.api.wire import JsonObject, Listing, WatchEvent
from kumi.registry.hooks import AdmissionHook
from kumi.store.base import Store

FieldValidation = Literal["Strict", "Warn", "Ignore"]


@dataclass(frozen=True)
class Target:
    """What a request is about: `version` is the served version that the caller speaks ("" = stored)."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    version: str = ""
    subresource: str = ""


@dataclass
class WriteOptions:
    """Options of create, update and patch. `warnings` is filled by the call, for Warning headers."""

    dry_run: bool = False
    field_validation: FieldValidation = "Warn"
    field_manager: str = ""
    force: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ListOptions:
    """Options of list, watch and deletecollection."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    token: str = ""
    revision: str = ""
    revision_match: str = ""
    bookmarks: bool = False
    send_initial_events: bool = False


@dataclass(frozen=True)
class DeleteOptions:
    """Options of delete. `grace_seconds` None takes the object's own."""

    uid: str = ""
    revision: str = ""
    grace_seconds: int | None = None
    propagation: str = ""
    dry_run: bool = False


class Registry:
    """See the module. `clock_ms` and `new_uid` are the only sources of time and chance."""

    def __init__(
        self,
        store: Store,
        scheme: Scheme,
        clock_ms: Callable[[], int],
        new_uid: Callable[[], str],
        hooks: Sequence[AdmissionHook] = (),
    ) -> None: ...

    async def get(self, target: Target) -> JsonObject: ...

    async def list(self, target: Target, options: ListOptions) -> Listing: ...

    def watch(self, target: Target, options: ListOptions) -> AsyncIterator[WatchEvent]: ...

    async def create(self, target: Target, obj: JsonObject, options: WriteOptions) -> JsonObject: ...

    async def update(self, target: Target, obj: JsonObject, options: WriteOptions) -> JsonObject: ...

    async def patch(self, target: Target, content_type: str, body: object, options: WriteOptions) -> JsonObject: ...

    async def delete(self, target: Target, options: DeleteOptions) -> JsonObject: ...

    async def delete_collection(self, target: Target, options: ListOptions, delete: DeleteOptions) -> Listing: ...
