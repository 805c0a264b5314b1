"""World: an API, a control plane and simulated nodes, in one process and in a time that is moved by hand.

    world = World(watcher, profile, seed, start_ms)
    await world.begin()                   what a cluster has from the start
    await world.create(manifest)          as kubectl would: defaulted, validated, a queued job suspended
    await world.put(noun)                 the object of a noun of the engine, made or brought up to date
    await world.rest()                    everything that follows, now
    world.now_ms = world.next_ms          and so on

Uids       in the order in which they were given out, as those of a live cluster (kumi.registry.uids), with a seed for chance;
           unless the caller names one.
Namespaces that nobody made are made for what comes into them.
Not here   who submits what, and when: stack.py. The same API for others: external.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

from kumi.api.core import Namespace
from kumi.api.errors import ApiError, KumiError
from kumi.api.scheme import SCHEME, Kind, load
from kumi.api.wire import JsonObject
from kumi.bridge.scheduler_names import SCHEDULERS
from kumi.controllers import MakeDeciders, all_controllers, kubernetes_deciders, own_deciders
from kumi.controllers.not_yet_in_force import NotYetInForce
from kumi.controllers.scheduler import Scheduler
from kumi.engine.model import Noun, Profile
from kumi.evaluator.loops import Loops, Watcher
from kumi.evaluator.objects import kind_of, object_of
from kumi.jobs.pod_hook import PodHook
from kumi.jobs.queue_hook import QueueHook
from kumi.registry.bootstrap import bootstrap
from kumi.registry.claim_defaults import ClaimDefaults
from kumi.registry.gang_rules import GangRules
from kumi.registry.hooks import AdmissionHook
from kumi.registry.local import LocalClient
from kumi.registry.objects import Objects
from kumi.registry.pod_identity import PodIdentity
from kumi.registry.refusals import MERGE_PATCH
from kumi.registry.registry import Registry
from kumi.registry.requests import Target, WriteOptions
from kumi.registry.uids import Uids
from kumi.runtime.reconcile import Controller
from kumi.runtime.view import View
from kumi.store.memory import MemoryStore

KEPT = 10_000
"""writes that stay watchable"""


class World:
    """See the module. `controllers`: besides those of the control plane; `schedulers`: the names that mean Kumi's own."""

    def __init__(
        self,
        watcher: Watcher,
        profile: Profile,
        seed: int,
        start_ms: int,
        *,
        controllers: Sequence[Controller] = (),
        schedulers: tuple[str, ...] = SCHEDULERS,
    ) -> None:
        self.now_ms = start_ms
        store, scheme = MemoryStore(), load()
        objects = Objects(store)
        self._uids, self._given = Uids(lambda: self.now_ms, _chance(seed)), ""
        hooks: list[AdmissionHook] = [QueueHook(), PodHook(), NotYetInForce(), GangRules(objects, scheme)]
        hooks += [PodIdentity(objects, scheme), ClaimDefaults(objects, scheme)]
        self.registry = Registry(store, scheme, lambda: self.now_ms, self._uid, hooks)
        self.client = LocalClient(self.registry)
        self._store = store
        deciders: list[MakeDeciders] = [*own_deciders(profile, schedulers), *kubernetes_deciders()]
        loops = [*controllers, *all_controllers(profile=profile)]
        self._loops = Loops(self.registry, loops, deciders, watcher)
        self._namespaces: set[str] = set()
        self._compacted = 0

    async def begin(self) -> None:
        """Makes what a cluster has from the start."""
        await bootstrap(self.registry)
        await self.prepare()

    # time

    @property
    def next_ms(self) -> int | None:
        """When a loop asked to be woken; None: none did."""
        return self._loops.next_ms

    async def rest(self) -> None:
        """Everything that follows from what was written, now."""
        await self._loops.rest(self.now_ms)
        if self._store.revision - self._compacted > 2 * KEPT:
            await self._store.compact_keep(KEPT)
            self._compacted = self._store.revision

    async def prepare(self) -> None:
        """The same, but for what the scheduler decides: more comes before it is asked."""
        await self._loops.prepare(self.now_ms)

    # what is there

    @property
    def view(self) -> View:
        """All that loops read, as of the last time that they came to rest."""
        return self._loops.view

    @property
    def scheduler(self) -> Scheduler:
        """Who decides. KumiError: somebody else does."""
        for decider in self._loops.deciders:
            if isinstance(decider, Scheduler):
                return decider
        raise KumiError("this control plane has no scheduler of Kumi's")

    def knows(self, noun: Noun) -> bool:
        """Whether there is an object of the noun's kind and name."""
        _, target = self._target(object_of(noun))
        return self.registry.find(replace(target, version="")) is not None

    def kind_of(self, obj: JsonObject) -> Kind:
        """An object's kind. KumiError for one that there is not."""
        return self._target(obj)[0]

    # what is written

    async def create(self, manifest: JsonObject, uid: str = "") -> JsonObject:
        """Creates an object as kubectl would, with that uid or the next; the manifest is used up. ApiError as a user would get
        it; KumiError for a kind that there is not."""
        kind, target = self._target(manifest)
        if target.namespace:
            await self._namespace(target.namespace)
        status = manifest.get("status")
        self._given = uid
        made = await self.registry.create(replace(target, name=""), manifest, _user())
        if status and "status" in kind.subresources:
            name = str(made["metadata"]["name"])
            made = await self._patch(replace(target, name=name, subresource="status"), {"status": status})
        return made

    async def replace(self, manifest: JsonObject) -> JsonObject:
        """Updates an object that is there to what the manifest says, its status as well where that says one. ApiError 404 ..."""
        kind, target = self._target(manifest)
        status, there = manifest.get("status"), self.registry.find(replace(target, version=""))
        if there is not None:
            manifest["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"]
        made = await self.registry.update(target, manifest, _user())
        if status and "status" in kind.subresources:
            made = await self._patch(replace(target, subresource="status"), {"status": status})
        return made

    async def merge(self, manifest: JsonObject) -> None:
        """Changes an object that is there by what the manifest says, its status as well. ApiError, KumiError as of `create`."""
        kind, target = self._target(manifest)
        status = manifest.pop("status", None)
        await self._patch(target, manifest)
        if status and "status" in kind.subresources:
            await self._patch(replace(target, subresource="status"), {"status": status})

    async def delete(self, manifest: JsonObject) -> None:
        """Deletes what has the manifest's kind and name; what is not there is no error."""
        kind, target = self._target(manifest)
        try:
            await self.client.delete(kind, target.namespace, target.name)
        except ApiError as error:
            if error.code != 404:
                raise

    async def put(self, noun: Noun) -> None:
        """Makes the noun's object, or brings it up to date. KumiError for a noun that has none of its own."""
        await (self.replace(object_of(noun)) if self.knows(noun) else self.create(object_of(noun)))

    async def remove(self, type_: type[Noun], key: str) -> None:
        """Deletes the noun's object. KumiError as of `put`."""
        version, kind = kind_of(type_)
        namespace, _, name = key.rpartition("/")
        await self.delete({"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace, "name": name}})

    async def _patch(self, target: Target, body: JsonObject) -> JsonObject:
        return await self.registry.patch(target, MERGE_PATCH, body, _user())

    async def _namespace(self, name: str) -> None:
        if name in self._namespaces:
            return
        self._namespaces.add(name)
        if self.registry.find(Target(SCHEME.of(Namespace), name=name)) is None:
            await self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        await self.prepare()

    def _uid(self) -> str:
        given, self._given = self._given, ""
        return given or self._uids()

    def _target(self, manifest: JsonObject) -> tuple[Kind, Target]:
        kind = self.registry.scheme.of_object(manifest)
        if kind is None:
            raise KumiError(f"there is no kind {manifest.get('kind')} in {manifest.get('apiVersion')}")
        meta = manifest.setdefault("metadata", {})
        version = str(manifest["apiVersion"]).rpartition("/")[2]
        namespace = str(meta.get("namespace") or "default") if kind.namespaced else ""
        return kind, Target(kind, namespace, str(meta.get("name") or ""), version)


def _user() -> WriteOptions:
    return WriteOptions(field_manager="kubectl")


def _chance(seed: int) -> Callable[[int], bytes]:
    """Bytes that look like chance, always the same for a seed."""
    numbers = count()
    return lambda length: hashlib.sha256(f"{seed}/{next(numbers)}".encode()).digest()[:length]
