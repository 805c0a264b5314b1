"""The verbs of the Kubernetes API on JSON objects, without HTTP.

Keys in the store: `/group/plural/namespace/name` (cluster-scoped: `/group/plural//name`; core: group `core`). The stored
value is the object without resourceVersion; its revision in the store is its resourceVersion.

Objects that come back are shared and READ-ONLY: a change is decoded once for all who look at it.
Objects that go in are used up: the registry may change and keep them.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kumi.api.errors import ApiError
from kumi.api.measures import Family, Sample
from kumi.api.scheme import Scheme
from kumi.api.wire import JsonObject, Listing, WatchEvent
from kumi.registry import versions
from kumi.registry.apply.applying import Applying
from kumi.registry.authorization.policies import Policies
from kumi.registry.custom.catalogue import Catalogue, DefinitionRules, Definitions
from kumi.registry.custom.kind import CustomKind
from kumi.registry.deletion import Deleting
from kumi.registry.environment import Environment
from kumi.registry.hooks import AdmissionHook
from kumi.registry.kinds.lifecycle import lifecycle
from kumi.registry.objects import Objects, prefix_of
from kumi.registry.patching import Patch
from kumi.registry.reading import Reading, Texts
from kumi.registry.refusals import APPLY
from kumi.registry.requests import DeleteOptions, FieldValidation, ListOptions, Target, WriteOptions
from kumi.registry.subresources import Subresources
from kumi.registry.subresources.token import TokenSigner
from kumi.registry.watching import Batch, Watching
from kumi.registry.webhooks.calling import Caller
from kumi.registry.writing import Writing
from kumi.store.base import Store

__all__ = ["DeleteOptions", "FieldValidation", "ListOptions", "Registry", "Target", "WriteOptions"]


class Registry:
    """See the module. `clock_ms` and `new_uid` are the only sources of time and chance."""

    def __init__(
        self,
        store: Store,
        scheme: Scheme,
        clock_ms: Callable[[], int],
        new_uid: Callable[[], str],
        hooks: Sequence[AdmissionHook] = (),
        signer: TokenSigner | None = None,
        *,
        caller: Caller | None = None,
    ) -> None:
        env = Environment(Objects(store), scheme, clock_ms, new_uid, caller=caller)
        definitions = Definitions(env)
        env = replace(env, hooks=(DefinitionRules(definitions), *hooks))
        self.scheme, self.store = scheme, store
        self._reading, self._watching = Reading(env), Watching(env)
        self._writing, self._deleting = Writing(env), Deleting(env)
        self._applying = Applying(env, self._writing)
        self._subresources = Subresources(env, self._writing, self._deleting, signer)
        self._env = env
        self._catalogue = Catalogue(env, definitions, self._writing, self._deleting)
        self._catalogue.restore()

    @property
    def policies(self) -> Policies:
        """Which rules are in force for whom, as of now."""
        return self._env.policies.now()

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured: how many objects of each kind are stored."""
        pages = (
            (kind, self._env.objects.page(prefix_of(kind, ""), limit=1)) for kind in self.scheme if kind.twin is None
        )
        counts = [Sample((kind.resource,), len(page.entries) + page.remaining) for kind, page in pages]
        yield Family("apiserver_storage_objects", "Stored objects.", "gauge", ("resource",), counts)

    def find(self, target: Target) -> JsonObject | None:
        """The object as it is stored, if it is there."""
        found = self._env.objects.get(target.kind, target.namespace, target.name)
        return None if found is None else found.object

    async def get(self, target: Target) -> JsonObject:
        """The object, or its subresource (`status`: the object; `scale`: a Scale). ApiError 404."""
        obj = self._reading.get(target)
        return self._subresources.read(target, obj) if target.subresource == "scale" else obj

    async def list(self, target: Target, options: ListOptions) -> Listing:
        """A page; namespace "" means all. ApiError 400, 410, 422, 504."""
        return self._reading.list(target, options)

    def texts(self, target: Target, options: ListOptions) -> Texts | None:
        """The same page, its items as JSON texts; None where they can't be sent as they are stored. The errors of `list`."""
        return self._reading.texts(target, options)

    def watch(self, target: Target, options: ListOptions) -> AsyncIterator[WatchEvent]:
        """Changes; the call itself refuses wrong options and revisions. ApiError 400, 410, 422, 504."""
        return self._watching.watch(target, options)

    def batches(self, target: Target, options: ListOptions) -> AsyncGenerator[Batch, None]:
        """The same, as many at once as there are. ApiError 400, 410, 422, 504."""
        return self._watching.batches(target, options)

    async def create(self, target: Target, obj: JsonObject, options: WriteOptions) -> JsonObject:
        """The new object; a Status for `binding` and `eviction`. ApiError 400, 403, 404, 409, 422."""
        if target.subresource:
            return await self._subresources.create(target, obj, options)
        self._catalogue.check_creatable(target.kind)
        return await self._followed(target, self._writing.create(target, obj, options))

    async def connect(self, target: Target, query: JsonObject, options: WriteOptions) -> JsonObject:
        """The options with which the user may be connected to a pod (exec, attach, portforward), as webhooks want them.

        ApiError 403, 404."""
        return await self._subresources.connect(target, query, options)

    async def update(self, target: Target, obj: JsonObject, options: WriteOptions) -> JsonObject:
        """The object as it is now, or its scale. ApiError 400, 404, 409, 422."""
        if target.subresource not in ("", "status"):
            return await self._subresources.update(target, obj, options)
        return await self._followed(target, self._writing.update(target, obj, options))

    async def patch(self, target: Target, content_type: str, body: object, options: WriteOptions) -> JsonObject:
        """The object as it is now, or its scale; `body` is decoded JSON. ApiError 400, 404, 409, 413, 415, 422."""
        patch = Patch(content_type, body)
        if patch.content_type == APPLY and target.subresource in ("", "status", "scale"):
            return await self._followed(target, self._applying.apply(target, body, options))
        if target.subresource not in ("", "status"):
            return await self._subresources.patch(target, patch, options)
        return await self._followed(target, self._writing.patch(target, patch, options))

    async def delete(self, target: Target, options: DeleteOptions) -> JsonObject:
        """The object where it stays for now (or its kind answers so), else a Status. ApiError 403, 404, 409, 422."""
        answer = await self._followed(target, self._deleting.delete(target, options))
        if answer.get("kind") == "Status":
            return answer
        return versions.from_stored(target.kind, target.version, answer)

    async def finish_deletions(self) -> None:
        """At the start of a server, before anybody else writes: ends the deletions that a crash cut in two."""
        for kind in self.scheme:
            if lifecycle(kind).grace is not None:
                await self._deleting.finish(kind)
        await self._catalogue.finish()

    async def delete_collection(self, target: Target, options: ListOptions, delete: DeleteOptions) -> Listing:
        """What was selected, as it was before; what others deleted meanwhile is passed over."""
        listing = await self.list(target, options)
        for obj in listing.items:
            metadata = obj["metadata"]
            one = replace(target, namespace=metadata.get("namespace", ""), name=metadata["name"])
            try:
                await self.delete(one, delete)
            except ApiError as error:
                if error.code != 404:
                    raise
        return listing

    async def _followed(self, target: Target, write: Coroutine[Any, Any, JsonObject]) -> JsonObject:
        """The answer of a write, once what it means for the kinds that are served has come about."""
        if self._catalogue.is_definition(target.kind):
            async with self._catalogue.turn:
                answer = await write
                name = target.name or answer["metadata"]["name"]
                await self._catalogue.follow(name)
                return answer
        answer = await write
        if isinstance(target.kind, CustomKind):
            await self._catalogue.emptied(target.kind)
        return answer
