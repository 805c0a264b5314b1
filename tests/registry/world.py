"""A registry in memory with a clock that stands still and uids that count."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from kumi.api.scheme import Kind, Scheme
from kumi.api.wire import JsonObject
from kumi.registry.hooks import AdmissionHook
from kumi.registry.local import LocalClient
from kumi.registry.registry import DeleteOptions, ListOptions, Registry, Target, WriteOptions
from kumi.registry.webhooks.calling import Caller
from kumi.store.memory import MemoryStore
from kumi.store.watch import BOUND

NOW_MS = 1_800_000_000_000
MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class World:
    """A registry and short words for its verbs; namespace `ns` is there."""

    def __init__(
        self, scheme: Scheme, hooks: tuple[AdmissionHook, ...] = (), bound: int = BOUND, caller: Caller | None = None
    ) -> None:
        self.scheme, self.store, self.now_ms = scheme, MemoryStore(bound), NOW_MS
        numbers = count(1)
        self.new_uid: Callable[[], str] = lambda: f"uid-{next(numbers)}"
        self.registry = Registry(
            self.store,
            scheme,
            lambda: self.now_ms,
            lambda: self.new_uid(),  # noqa: PLW0108  tests put another one in
            hooks,
            caller=caller,
        )
        self.client = LocalClient(self.registry)

    def kind(self, name: str) -> Kind:
        """By its name alone."""
        return next(kind for kind in self.scheme if kind.kind == name)

    def target(self, kind: str, name: str = "", *, sub: str = "", ns: str = "ns", version: str = "") -> Target:
        """What a request is about."""
        found = self.kind(kind)
        return Target(found, ns if found.namespaced else "", name, version, sub)

    async def create(self, kind: str, obj: JsonObject, *, ns: str = "ns", **options: object) -> JsonObject:
        """A create."""
        return await self.registry.create(self.target(kind, ns=ns), obj, WriteOptions(**options))  # type: ignore[arg-type]

    async def get(self, kind: str, name: str, *, sub: str = "", ns: str = "ns") -> JsonObject:
        """A get."""
        return await self.registry.get(self.target(kind, name, sub=sub, ns=ns))

    async def put(self, kind: str, obj: JsonObject, *, sub: str = "", **options: object) -> JsonObject:
        """An update."""
        target = self.target(kind, obj["metadata"]["name"], sub=sub)
        return await self.registry.update(target, obj, WriteOptions(**options))  # type: ignore[arg-type]

    async def patch(
        self, kind: str, name: str, body: object, type: str = MERGE, *, sub: str = "", **options: object
    ) -> JsonObject:
        """A patch."""
        return await self.registry.patch(self.target(kind, name, sub=sub), type, body, WriteOptions(**options))  # type: ignore[arg-type]

    async def delete(self, kind: str, name: str, **options: object) -> JsonObject:
        """A delete."""
        return await self.registry.delete(self.target(kind, name), DeleteOptions(**options))  # type: ignore[arg-type]

    async def names(self, kind: str, *, ns: str = "ns", **options: object) -> list[str]:
        """The names that a list gives."""
        listing = await self.registry.list(self.target(kind, ns=ns), ListOptions(**options))  # type: ignore[arg-type]
        return [obj["metadata"]["name"] for obj in listing.items]


def pod(name: str = "p", **spec: object) -> JsonObject:
    """A small pod."""
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 30, **spec},
    }


def config(name: str, **data: str) -> JsonObject:
    """A ConfigMap."""
    return {"metadata": {"name": name}, "data": data}
