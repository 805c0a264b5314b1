"""Which subresource answers which verb."""

from __future__ import annotations

from kumi.api.errors import ApiError, FieldError, conflict
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry import incoming, metadata, versions
from kumi.registry.deletion import Deleting
from kumi.registry.environment import Environment
from kumi.registry.kinds import namespaces
from kumi.registry.objects import Found, clone, prefix_of
from kumi.registry.patching import Patch
from kumi.registry.requests import Target, WriteOptions
from kumi.registry.subresources import binding, eviction, scale, token
from kumi.registry.subresources.reviewed import connected, reviewed
from kumi.registry.subresources.token import TokenSigner
from kumi.registry.webhooks.matching import SPOKEN
from kumi.registry.writing import Wanted, Writing


class Subresources:
    """The subresources with rules of their own."""

    def __init__(
        self, env: Environment, writing: Writing, deleting: Deleting, signer: TokenSigner | None = None
    ) -> None:
        self._env, self._writing, self._deleting, self._signer = env, writing, deleting, signer

    def read(self, target: Target, obj: JsonObject) -> JsonObject:
        """The scale of an object."""
        return scale.read(target.kind, versions.to_stored(target.kind, target.version, obj), target.version)

    async def create(self, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
        """A Status. ApiError 400, 403, 404, 405, 409, 422, 429."""
        if target.subresource in SPOKEN:
            body = await reviewed(self._env, "CREATE", target, body, options)
        if target.subresource == "binding":
            return await binding.bind(self._env, self._writing, target, body, options)
        if target.subresource == "eviction":
            return await eviction.evict(self._env, self._writing, self._deleting, target, body, options)
        if target.subresource == "token":
            return token.request(self._env, self._signer, target, body)
        raise not_allowed(target.kind)

    async def connect(self, target: Target, query: JsonObject, options: WriteOptions) -> JsonObject:
        """The options with which somebody may be connected to a pod. ApiError 403, 404."""
        return await connected(self._env, target, query, options)

    async def update(self, target: Target, body: JsonObject, options: WriteOptions) -> JsonObject:
        """The scale, or the object."""
        if target.subresource == "scale":
            return await scale.change(self._env, self._writing, target, lambda _: clone(body), options)
        if target.subresource == "finalize" and target.kind.kind == "Namespace":
            return await self._finalize(target, lambda _: clone(body), options)
        raise not_allowed(target.kind)

    async def patch(self, target: Target, patch: Patch, options: WriteOptions) -> JsonObject:
        """The scale, or the object."""
        patch.check(target.kind)
        if target.subresource == "scale":
            return await scale.change(
                self._env,
                self._writing,
                target,
                lambda now: patch.applied(target.kind, now, scale.DEFINITION),
                options,
            )
        if target.subresource == "finalize" and target.kind.kind == "Namespace":

            def emptied(found: Found) -> JsonObject:
                self._check_empty(target, found.object)
                return patch.applied(target.kind, found.copy())

            return await self._finalize(target, emptied, options)
        raise not_allowed(target.kind)

    async def _finalize(self, target: Target, asked: Wanted, options: WriteOptions) -> JsonObject:
        def wanted(found: Found) -> JsonObject:
            said = incoming.read(target, asked(found), options)
            incoming.check_place(target, said)
            new = found.copy()
            namespaces.finalize(new, said)
            new["metadata"]["resourceVersion"] = said["metadata"].get("resourceVersion", "")
            return new

        note = self._writing.noting(target, options)

        def prepare(new: JsonObject, found: Found) -> list[FieldError]:
            note(new, found.object)
            return metadata.keep(new["metadata"], found.object["metadata"])

        return await self._writing.change(target, wanted, prepare, options)

    def _check_empty(self, target: Target, old: JsonObject) -> None:
        """ApiError 409: a patch, which is how Kumi's own emptier goes about it, lets a namespace go only when nothing is in it.

        What the emptier sees may be behind. An update is Kubernetes' own way, and does as it is told."""
        for kind in self._env.scheme if namespaces.held(old) else ():
            if kind.namespaced and self._env.objects.page(prefix_of(kind, target.name), limit=1).entries:
                raise conflict(
                    target.kind.plural, target.name, why=f"the namespace is not empty: it has {kind.resource}"
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
