"""A job, its children and a clock: what an API server and kubelets do to them, in a hundred lines, able to go wrong.

    world = World(JobReplicas(), manifest)
    world.look()                      one sync on what is there, its writes applied
    world.look(fail_after=2)          the third write and those after it are lost
    world.lag(Pod)                    looks see the pods as they are now until `catch_up()`
    world.settle()                    looks until nothing is left to do

Writes keep the API's rules: versions, uids, finalizers, names that are taken, merge patches.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from kumi.api.core import Pod, Service
from kumi.api.meta import Object, format_time
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.jobs.base import Children, Replicas, Settings, Sync

START_MS = 1_700_000_000_000


class Refused(Exception):
    """A write whose condition does not hold."""


class World:
    """See the module. `grace`: deleted pods stay, marked, until `gone`."""

    def __init__(
        self, replicas: Replicas[Any], job: JsonObject, settings: Settings | None = None, *, grace: bool = False
    ):
        load()
        self.replicas, self.settings, self.grace = replicas, settings or Settings(), grace
        self.now_ms, self.counter, self.born = START_MS, 0, 0
        self.objects: dict[tuple[type[Object], str], JsonObject] = {}
        self.seen: dict[type[Object], dict[str, JsonObject]] = {}
        self.events: list[str] = []
        self.made: list[str] = []
        self.put(replicas.view_type, copy.deepcopy(job))
        self.name: str = job["metadata"]["name"]
        self.most_live = 0

    # what is there

    @property
    def job(self) -> JsonObject:
        return self.objects[self.replicas.view_type, self.name]

    @property
    def exists(self) -> bool:
        return (self.replicas.view_type, self.name) in self.objects

    @property
    def status(self) -> JsonObject:
        found: JsonObject = self.job.get("status", {})
        return found

    @property
    def conditions(self) -> list[tuple[str, str]]:
        return [(c["type"], c["status"]) for c in self.status.get("conditions", [])]

    def is_true(self, kind: str) -> bool:
        return (kind, "True") in self.conditions

    def pods(self) -> list[JsonObject]:
        return [o for (t, _), o in sorted(self.objects.items(), key=lambda i: i[0][1]) if t is Pod]

    def names(self, type_: type[Object] = Pod) -> list[str]:
        return sorted(name for t, name in self.objects if t is type_)

    def live(self) -> list[JsonObject]:
        return [p for p in self.pods() if phase(p) in ("Pending", "Running") and not going(p)]

    # what the API does

    def put(self, type_: type[Object], obj: JsonObject) -> None:
        meta = obj["metadata"]
        if (type_, meta["name"]) in self.objects:
            raise FileExistsError(meta["name"])
        self.born += 1
        self.counter += 1
        meta.setdefault("namespace", "ns")
        meta.update(
            uid=f"uid-{self.born}", resourceVersion=str(self.counter), creationTimestamp=format_time(self.now_ms)
        )
        self.objects[type_, meta["name"]] = obj
        if type_ is Pod:
            self.made.append(meta["name"])
            self.most_live = max(self.most_live, len(self.live()))

    def patch(self, type_: type[Object], name: str, body: JsonObject, version: str = "") -> None:
        obj = self.objects.get((type_, name))
        if obj is None:
            raise Refused(f"{name} is gone")
        if version and obj["metadata"]["resourceVersion"] != version:
            raise Refused(f"{name} is at {obj['metadata']['resourceVersion']}, not {version}")
        new = merged(obj, body)
        if new != obj:
            self.counter += 1
            new["metadata"]["resourceVersion"] = str(self.counter)
            self.objects[type_, name] = new
        self._release(type_, name)

    def delete(self, type_: type[Object], name: str, uid: str = "") -> None:
        obj = self.objects.get((type_, name))
        if obj is None:
            return
        if uid and obj["metadata"]["uid"] != uid:
            raise Refused(f"{name} is another object")
        if not going(obj):
            self.patch(type_, name, {"metadata": {"deletionTimestamp": format_time(self.now_ms)}})
        else:
            self._release(type_, name)

    def gone(self, name: str) -> None:
        """The processes of a deleted pod have ended."""
        self.patch(Pod, name, {"metadata": {"annotations": {"gone": "yes"}}})

    def _release(self, type_: type[Object], name: str) -> None:
        obj = self.objects.get((type_, name))
        if obj is None or not going(obj) or obj["metadata"].get("finalizers"):
            return
        waits = type_ is Pod and self.grace and phase(obj) in ("Pending", "Running")
        if not waits or (obj["metadata"].get("annotations") or {}).get("gone"):
            del self.objects[type_, name]

    # what a kubelet and users do

    def run(self, name: str, ready: bool = False) -> None:
        conditions = [{"type": "Ready", "status": "True"}] if ready else []
        self.patch(Pod, name, {"status": {"phase": "Running", "conditions": conditions}})

    def end(self, name: str, code: int = 0, container: str = "pytorch") -> None:
        state = {"terminated": {"exitCode": code, "finishedAt": format_time(self.now_ms)}}
        status = {
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": [{"name": container, "state": state}],
        }
        self.patch(Pod, name, {"status": status})

    def disrupt(self, name: str) -> None:
        """Its node stops, and it may not run again there."""
        self.end(name, 143)
        self.patch(Pod, name, {"status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}})

    def edit(self, spec: JsonObject) -> None:
        self.patch(self.replicas.view_type, self.name, {"spec": spec})

    def advance(self, seconds: float) -> None:
        self.now_ms += int(seconds * 1000)

    # what the loop does

    def lag(self, type_: type[Object]) -> None:
        """Looks see this type as it is now, whatever happens, until `catch_up`."""
        self.seen.setdefault(type_, self._now(type_))

    def catch_up(self) -> None:
        """Looks see everything as it is again."""
        self.seen.clear()

    def _now(self, type_: type[Object]) -> dict[str, JsonObject]:
        return {name: copy.deepcopy(o) for (t, name), o in self.objects.items() if t is type_}

    def view(self, type_: type[Object]) -> tuple[Any, ...]:
        shown = self.seen.get(type_, None)
        objects = self._now(type_) if shown is None else shown
        return tuple(msgspec.convert(objects[name], type_) for name in sorted(objects))

    def sync(self) -> Sync:
        job = next(iter(self.view(self.replicas.view_type)), None)
        if job is None:
            return Sync()
        children: dict[type[Object], tuple[Any, ...]] = {
            t: self.view(t) for t in self.replicas.child_types(self.settings)
        }
        mine = {t: tuple(o for o in found if owner(o) == job.metadata.uid) for t, found in children.items()}
        others = tuple(o for t, found in mine.items() if t not in (Pod, Service) for o in found)
        return self.replicas.sync(
            job, Children(mine.get(Pod, ()), mine.get(Service, ()), others), self.settings, self.now_ms
        )

    def look(self, fail_after: int | None = None) -> bool:
        """One sync; whether it wrote anything. A refused write ends it, like one that is lost."""
        sync = self.sync()
        writes = list(self._writes(sync))
        self.events += [s.reason for s in sync.said]
        for number, write in enumerate(writes):
            if fail_after is not None and number >= fail_after:
                break
            try:
                write()
            except FileExistsError:
                continue
            except Refused:
                break
        return bool(writes)

    def settle(self, looks: int = 60) -> None:
        """Looks on what is really there until a look writes nothing."""
        self.catch_up()
        for _ in range(looks):
            if not self.look():
                return
        raise AssertionError(f"never at rest: {self.sync()}")

    def _writes(self, sync: Sync) -> Iterator[Callable[[], None]]:
        view = next(iter(self.view(self.replicas.view_type)), None)
        for a in sync.alter:
            meta = a.object.metadata
            yield lambda a=a, m=meta: self.patch(type(a.object), m.name, a.body, m.resource_version)
        for r in sync.remove:
            yield lambda r=r: self.delete(type(r.object), r.object.metadata.name, r.object.metadata.uid)
        for made in sync.create:
            kind = load().of_object(made)
            assert kind is not None
            yield lambda k=kind, o=made: self.put(k.type, copy.deepcopy(o))
        if sync.status is not None and view is not None:
            version = view.metadata.resource_version
            yield lambda: self.patch(self.replicas.view_type, self.name, {"status": sync.status}, version)
        if sync.delete_job:
            yield lambda: self.delete(self.replicas.view_type, self.name)


def phase(pod: JsonObject) -> str:
    """A pod's phase."""
    return str(pod.get("status", {}).get("phase", "Pending"))


def going(obj: JsonObject) -> bool:
    """Whether it is being deleted."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def owner(obj: Object) -> str:
    """The uid of its controller."""
    found = obj.metadata.controller
    return found.uid if found else ""


def merged(old: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    out = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


def batch_job(**spec: Any) -> JsonObject:
    """A Job of one container."""
    pod = {"restartPolicy": spec.pop("restart", "Never"), "containers": [{"name": "c", "image": "i"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "ns"},
        "spec": {"template": {"spec": pod}, **spec},
    }


def pytorch_job(master: int = 1, workers: int = 2, policy: str = "", **spec: Any) -> JsonObject:
    """A PyTorchJob; 0 leaves a type out."""
    replica = {"template": {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}}
    if policy:
        replica["restartPolicy"] = policy  # type: ignore[assignment]
    specs = {
        name: {**copy.deepcopy(replica), "replicas": n} for name, n in (("Master", master), ("Worker", workers)) if n
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"pytorchReplicaSpecs": specs, **spec},
    }
