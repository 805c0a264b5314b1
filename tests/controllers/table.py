"""A scheduler at a table: it is given objects, decides, and gets back what it writes."""

from __future__ import annotations

from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.controllers.scheduler import Scheduler
from kumi.engine import invariants
from kumi.runtime.decider import Step
from kumi.runtime.reconcile import Create, Patch
from kumi.testing.view import decoded

from .made import NOW_MS, cluster_queue, flavor, local_queue, namespace, node

SET_UP = (flavor(), cluster_queue(), local_queue(), namespace(), node())


class Table:
    """A scheduler and the objects that it was given; what it writes comes back to it, as the next versions."""

    def __init__(self, *manifests: JsonObject) -> None:
        self.scheduler, self.objects, self.now_ms, self.version = (
            Scheduler(),
            dict[tuple[str, str], JsonObject](),
            NOW_MS,
            1,
        )
        for manifest in (*SET_UP, *manifests):
            self.put(manifest)

    def put(self, manifest: JsonObject) -> None:
        self.version += 1
        versioned = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(self.version)}}
        new = decoded(versioned)
        before = self.objects.get((manifest["kind"], new.key))
        self.objects[manifest["kind"], new.key] = versioned
        self.scheduler.apply(type(new), new.key, decoded(before) if before else None, new)

    def remove(self, type_: type[Object], key: str) -> None:
        self.scheduler.apply(type_, key, decoded(self.objects.pop((type_.__name__, key))), None)

    def decide(self, *, ok: bool = True) -> dict[str, Step]:
        """Decides until there is nothing left to decide; the steps, by token."""
        done: dict[str, Step] = {}
        while steps := self.scheduler.decide(self.now_ms).steps:
            for step in steps:
                done[step.token] = step
                if ok:
                    self._write(step)
                self.scheduler.settle(step.token, ok, "" if ok else "conflict")
            invariants.check(self.scheduler.state)
            if not ok:
                break
        return done

    def workload(self, name: str) -> JsonObject:
        found: JsonObject = self.objects["Workload", f"team/{name}"]
        return found

    def _write(self, step: Step) -> None:
        for write in step.writes:
            if isinstance(write, Create):
                key = ("Pod", f"{write.object['metadata']['namespace']}/{write.object['metadata']['name']}")
                bound = self.objects[key]
                self.put({**bound, "spec": {**bound["spec"], "nodeName": write.object["target"]["name"]}})
            elif isinstance(write, Patch) and isinstance(write.body, dict):
                about = self.objects[write.kind.kind, f"{write.namespace}/{write.name}"]
                status = {**about.get("status", {}), **write.body["status"]}
                self.put({**about, "status": {k: v for k, v in status.items() if v is not None}})
