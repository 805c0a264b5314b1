"""Quotas: what would use more of a namespace than it may is refused on its way in.

The rule, for every quota of the namespace that counts the object, and every resource that the write adds to:
    used + added <= hard                    or 403, with what was asked for, used and allowed
    a pod must say its cpu and memory, container by container, where a quota limits them, or 403
Never over   What is used is counted from what is stored as of the newest acknowledged write, plus the writes that were let
             through and are under way: each holds its place until its answer is there. So of creations that race for the
             last place one gets it, whatever the quota's status says meanwhile.
Status       A write that was let through is told in the quota's `used` before it is answered, once the quota's controller
             has begun to keep it (kumi.controllers.resource_quota, which keeps it when things go).
Cost         One look at the namespace's quotas; where there are any, O(changes) of the kind since the last write of it. The
             first look at a kind reads all of its objects in the namespace.
Source       Kubernetes: resource quotas; its behaviour as recorded.
Not here     what an object uses: kumi.api.usage.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import TypeAlias

import orjson

from kumi.api.pod_requests import Amounts
from kumi.api.quantity import nano
from kumi.api.scheme import Kind, Scheme
from kumi.api.usage import amount_text, concerns, in_scope, unsaid, used_by
from kumi.api.wire import JsonObject
from kumi.registry.objects import Found, Objects, decode, key_of, prefix_of
from kumi.registry.refusals import forbidden
from kumi.store.base import Conflict, Lagging, Watch

ROUNDS = 16
"""races for a quota's status that are lost before its controller is left to write it"""

Scopes: TypeAlias = str
"""the scopes of a quota as text: quotas with the same scopes count the same pods"""


class Quotas:
    """See the module. One for a registry."""

    def __init__(self, objects: Objects, scheme: Scheme) -> None:
        self._objects, self._scheme = objects, scheme
        self._counts: dict[tuple[str, str], _Count] = {}
        self._telling: dict[tuple[str, str], asyncio.Lock] = {}
        self._told_at: dict[tuple[str, str], int] = {}
        """quota and kind -> the revision up to which its status tells what is used: who waited for another's telling often
        finds that it was told of, too"""

    def check(self, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Whether the write could be done now. ApiError 403."""
        namespace = new["metadata"].get("namespace", "")
        quotas = self._of(kind, namespace)
        if quotas:
            self._check(kind, new, old, quotas)

    @contextlib.asynccontextmanager
    async def admitted(self, kind: Kind, new: JsonObject, old: JsonObject | None) -> AsyncIterator[None]:
        """Within it the write may be done: it holds its place until the end, and is told in the quotas if it was done.

        ApiError 403."""
        namespace = new["metadata"].get("namespace", "")
        quotas = self._of(kind, namespace)
        if not quotas:
            yield
            return
        count = self._check(kind, new, old, quotas)
        with count.held(key_of(kind, namespace, new["metadata"]["name"]), new):
            yield
        await self._tell(kind, namespace, quotas)

    def _check(self, kind: Kind, new: JsonObject, old: JsonObject | None, quotas: list[Found]) -> _Count:
        count = self._count(kind, new["metadata"].get("namespace", ""), quotas)
        for quota in quotas:
            _check(kind, new, old, quota.object, count)
        return count

    async def _tell(self, kind: Kind, namespace: str, quotas: list[Found]) -> None:
        """Writes what is used of this kind's resources into the quotas' status. What can't be told is left to others."""
        written = self._objects.store.revision
        for quota in quotas:
            place = (quota.key, kind.resource)
            async with self._telling.setdefault(place, asyncio.Lock()):
                if self._told_at.get(place, 0) < written:
                    await self._tell_one(kind, namespace, quota.object["metadata"]["name"], place)

    async def _tell_one(self, kind: Kind, namespace: str, name: str, place: tuple[str, str]) -> None:
        for _ in range(ROUNDS):
            counted = self._objects.store.revision
            found = self._objects.get(self._kind(), namespace, name)
            new = None if found is None else self._told(kind, namespace, found)
            with contextlib.suppress(Conflict):
                if found is not None and new is not None:
                    await self._objects.put(found.key, new, found.revision)
                self._told_at[place] = counted
                return

    def _told(self, kind: Kind, namespace: str, quota: Found) -> JsonObject | None:
        new = quota.copy()
        status = new.get("status") or {}
        names = [name for name in status.get("hard") or {} if concerns(kind, name)]
        count = self._count(kind, namespace, [quota])
        used = count.used(_scopes(new))
        before = status.get("used") or {}
        texts = {name: amount_text(name, used.get(name, 0)) for name in names}
        if all(before.get(name) == text for name, text in texts.items()):
            return None
        status["used"] = {**before, **texts}
        return new

    def _kind(self) -> Kind:
        kind = self._scheme.find("", "ResourceQuota")
        assert kind is not None
        return kind

    def _of(self, kind: Kind, namespace: str) -> list[Found]:
        """The quotas of a namespace that the kind concerns, by name."""
        if not namespace or self._scheme.find("", "ResourceQuota") is None:
            return []
        entries = self._objects.page(prefix_of(self._kind(), namespace)).entries
        found = [self._objects.found(entry) for entry in entries]
        return [quota for quota in found if any(concerns(kind, name) for name in _hard(quota.object))]

    def _count(self, kind: Kind, namespace: str, quotas: list[Found]) -> _Count:
        place = (kind.resource, namespace)
        if place not in self._counts:
            self._counts[place] = _Count(self._objects, kind, namespace)
        count = self._counts[place]
        count.catch_up({_scopes(quota.object): quota.object.get("spec") or {} for quota in quotas})
        return count


class _Count:
    """What the objects of one kind in one namespace use, by the scopes that quotas have, as of the newest write."""

    def __init__(self, objects: Objects, kind: Kind, namespace: str) -> None:
        self._objects, self._kind, self._prefix = objects, kind, prefix_of(kind, namespace)
        self._watch: Watch | None = None
        self._specs: dict[Scopes, JsonObject] = {}
        self._totals: dict[Scopes, Amounts] = {}
        self._stored: dict[str, tuple[Amounts, list[Scopes]]] = {}
        self._held: dict[str, list[tuple[Amounts, list[Scopes]]]] = {}

    def catch_up(self, specs: dict[Scopes, JsonObject]) -> None:
        """Takes in what was written; `specs` are the scopes that will be asked for."""
        missing = {scopes: spec for scopes, spec in specs.items() if scopes not in self._specs}
        if self._watch is None or missing:
            self._begin({**self._specs, **missing})
            return
        try:
            for change in self._watch.take():
                self._put(change.key, None if change.value is None else decode(change.value, 0))
        except Lagging:
            self._begin(self._specs)

    def used(self, scopes: Scopes) -> Amounts:
        """What is stored, and what the writes under way may add to it."""
        total = dict(self._totals.get(scopes, {}))
        for key, writes in self._held.items():
            there, counted_there = self._stored.get(key, ({}, []))
            stored = there if scopes in counted_there else {}
            for name in dict.fromkeys(name for amounts, _ in writes for name in amounts):
                most = max((amounts.get(name, 0) for amounts, counted in writes if scopes in counted), default=0)
                total[name] = total.get(name, 0) + max(0, most - stored.get(name, 0))
        return total

    @contextlib.contextmanager
    def held(self, key: str, obj: JsonObject) -> Iterator[None]:
        """Holds the place of a write that is under way; of several writes of one key, any may be the one that is done."""
        mine = self._counted(obj)
        self._held.setdefault(key, []).append(mine)
        try:
            yield
        finally:
            self._held[key] = [write for write in self._held[key] if write is not mine]
            if not self._held[key]:
                del self._held[key]

    def _begin(self, specs: dict[Scopes, JsonObject]) -> None:
        page = self._objects.page(self._prefix)
        self._watch = self._objects.store.watch(self._prefix, page.revision)
        self._specs, self._totals, self._stored = specs, {}, {}
        for entry in page.entries:
            self._put(entry.key, self._objects.listed(entry))

    def _put(self, key: str, obj: JsonObject | None) -> None:
        amounts, counted = self._stored.pop(key, ({}, []))
        self._add(amounts, counted, -1)
        if obj is not None:
            self._stored[key] = amounts, counted = self._counted(obj)
            self._add(amounts, counted, 1)

    def _add(self, amounts: Amounts, counted: list[Scopes], sign: int) -> None:
        for scopes in counted:
            total = self._totals.setdefault(scopes, {})
            for name, amount in amounts.items():
                total[name] = total.get(name, 0) + sign * amount

    def _counted(self, obj: JsonObject) -> tuple[Amounts, list[Scopes]]:
        counted = [scopes for scopes, spec in self._specs.items() if in_scope(spec, self._kind, obj)]
        return used_by(self._kind, obj), counted


def _check(kind: Kind, new: JsonObject, old: JsonObject | None, quota: JsonObject, count: _Count) -> None:
    """Refuses the write if this quota does. ApiError 403."""
    spec, name = quota.get("spec") or {}, quota["metadata"]["name"]
    if not in_scope(spec, kind, new):
        return
    hard = {resource: nano(amount) for resource, amount in _hard(quota).items() if concerns(kind, resource)}
    asker = new["metadata"]["name"]
    if old is None and kind.kind == "Pod" and (missing := unsaid(new, set(hard))):
        words = "; ".join(f"{resource} for: {','.join(where)}" for resource, where in missing.items())
        raise forbidden(kind, asker, f"failed quota: {name}: must specify {words}")
    asked = used_by(kind, new)
    had = used_by(kind, old) if old is not None and in_scope(spec, kind, old) else {}
    added = {resource: asked.get(resource, 0) - had.get(resource, 0) for resource in sorted(hard)}
    used = count.used(_scopes(quota))
    over = [r for r, more in added.items() if more > 0 and used.get(r, 0) + more > hard[r]]
    if over:
        said = (("requested", added), ("used", used), ("limited", hard))
        words = ", ".join(f"{word}: {_amounts(amounts, over)}" for word, amounts in said)
        raise forbidden(kind, asker, f"exceeded quota: {name}, {words}")


def _amounts(amounts: Amounts, names: list[str]) -> str:
    return ",".join(f"{name}={amount_text(name, amounts.get(name, 0))}" for name in names)


def _hard(quota: JsonObject) -> JsonObject:
    hard: JsonObject = (quota.get("spec") or {}).get("hard") or {}
    return hard


def _scopes(quota: JsonObject) -> Scopes:
    spec = quota.get("spec") or {}
    said = [sorted(spec.get("scopes") or ()), (spec.get("scopeSelector") or {}).get("matchExpressions") or []]
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode() if any(said) else ""
