"""Which subresource answers which verb."""

from __future__ import annotations

from kumi.api.errors import ApiError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry import incoming, metadata, versions
from kumi.registry.deletion import Deleting
from kumi.registry.environment import Environment
from kumi.registry.kinds import namespaces
from kumi.registry.objects import Found, clone
from kumi.registry.patching import Patch
from kumi.registry.requests import Target, WriteOptions
from kumi.registry.subresources import binding, eviction, scale
from kumi.registry.writing import Wanted, Writing


class Subresources:
    """The subresources with rules of their own."""

    def __init__(self, env: Environment, writing: Writing, deleting: Deleting) -> None:
        self._env, self._writing, self._deleting = env, writing, deleting

    def read(self, target: Target, obj: JsonObject) -> JsonObject:
        """The scale of an object."""
        return scale.read(target.kind, versions.to_stored(target.kind, target.version, obj))

    async def create(self, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
        """A Status. ApiError 400, 404, 405, 409, 422, 429."""
        if target.subresource == "binding":
            return await binding.bind(self._env, self._writing, target, body, options)
        if target.subresource == "eviction":
            return await eviction.evict(self._deleting, target, body, options)
        raise not_allowed(target.kind)

    async def update(self, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
        """The scale, or the object."""
        if target.subresource == "scale":
            return await scale.change(self._writing, target, lambda _: clone(body), options)
        if target.subresource == "finalize" and target.kind.kind == "Namespace":
            return await self._finalize(target, lambda _: clone(body), options)
        raise not_allowed(target.kind)

    async def patch(self, target: Target, patch: Patch, options: WriteOptions) -> JsonObject:
        """The scale, or the object."""
        patch.check(target.kind)
        if target.subresource == "scale":
            return await scale.change(
                self._writing, target, lambda now: patch.applied(target.kind, now, scale.DEFINITION), options
            )
        if target.subresource == "finalize" and target.kind.kind == "Namespace":
            return await self._finalize(target, lambda found: patch.applied(target.kind, found.copy()), options)
        raise not_allowed(target.kind)

    async def _finalize(self, target: Target, asked: Wanted, options: WriteOptions) -> JsonObject:
        def wanted(found: Found) -> JsonObject:
            said = incoming.read(target, asked(found), options)
            incoming.check_place(target, said)
            new = found.copy()
            namespaces.finalize(new, said)
            new["metadata"]["resourceVersion"] = said["metadata"].get("resourceVersion", "")
            return new

        return await self._writing.change(
            target, wanted, lambda new, found: metadata.keep(new["metadata"], found.object["metadata"]), options
        )


def not_allowed(kind: Kind) -> ApiError:
    """405 for a verb that a subresource doesn't have."""
    return ApiError(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        kind=kind.plural,
        group=kind.group,
    )
