"""The manager: runs controllers. Changes become keys, keys become looks, looks become writes.

For each controller, and for several keys at a time but never for one key twice at a time:

    1  wait for a key            from a change of an object that concerns it, a timer, or a back-off
    2  hold it                   while the view does not show what was last written for it (kumi.runtime.expectations)
    3  reconcile(view, key, now) the pure part
    4  the writes, in order      the first that fails ends the look; what was done before it stays done
    5  the notes                 only when every write was acknowledged
    6  the next look             at wake_at_ms; at once if something changed meanwhile; after a back-off if a write failed

Errors     as kumi.runtime.writes sorts them. REFUSED writes are told as a Warning event (FailedCreate, FailedUpdate,
           FailedDelete) about the object they would have changed, or about the owner of the one they would have made.
Bugs       an exception in reconcile is logged with its traceback and the key backs off. An InvariantError also writes a
           replay file, and the key is not looked at again until something about it changes.
Starts     once every type that the controller watches is in the view; everything that is there counts as a change.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from kumi.api.errors import InvariantError
from kumi.api.measures import Family
from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.runtime.client import Writer
from kumi.runtime.clock import Clock
from kumi.runtime.events import EventSink
from kumi.runtime.expectations import HOLD_MS, Expectations
from kumi.runtime.informer import Informers
from kumi.runtime.reconcile import Controller, Create, Delete, Note, Outcome, Write
from kumi.runtime.replay import Recorder, Replay, objects_of
from kumi.runtime.workqueue import WorkQueue, measures
from kumi.runtime.writes import FAULTS, Verdict, describe, perform, retry_after_ms, verdict

log = logging.getLogger(__name__)

WORKERS = 8
"""Keys of one controller in work at a time."""

REFUSED_FIRST_MS = 1_000
REFUSED_LAST_MS = 300_000
"""The back-off of a write that will be refused again."""


@dataclass(frozen=True)
class Surroundings:
    """What the loops of one process share. `record` takes the replay files."""

    writer: Writer
    informers: Informers
    clock: Clock
    events: EventSink
    record: Recorder


class Manager:
    """Declare controllers with `add`, then `run`; the informers and the event sink run beside it."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._loops: dict[str, ControllerLoop] = {}

    def add(self, controller: Controller, workers: int = WORKERS) -> ControllerLoop:
        """Subscribes a controller to what it watches; ValueError if its name is taken."""
        if controller.name in self._loops:
            raise ValueError(f"two controllers are called {controller.name}")
        loop = self._loops[controller.name] = ControllerLoop(controller, self._surroundings, workers)
        return loop

    @property
    def idle(self) -> bool:
        """Whether no controller has anything to do before the next timer or change."""
        return all(loop.idle for loop in self._loops.values())

    def measures(self) -> Iterator[Family]:
        """See kumi.api.measures.Measured: the work queue of each controller, under its name."""
        return measures({name: loop.queue for name, loop in self._loops.items()})

    async def run(self) -> None:
        """Runs all controllers, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for name, loop in self._loops.items():
                group.create_task(loop.run(), name=f"controller-{name}")


class ControllerLoop:
    """One controller's loop; see the module."""

    def __init__(self, controller: Controller, surroundings: Surroundings, workers: int) -> None:
        self.controller = controller
        self._around = surroundings
        self._workers = workers
        self._keys = dict(controller.watches.keys)
        self._related = dict(controller.watches.related)
        self._matters = dict(controller.watches.matters)
        self.queue = WorkQueue(surroundings.clock)
        self._expected = Expectations(surroundings.informers)
        for type_ in self._keys:
            surroundings.informers.declare(type_, controller.watches.labels)
        surroundings.informers.subscribe(self._keys, self._changed, self._progressed)

    @property
    def idle(self) -> bool:
        """Whether nothing is to be done before the next timer or change."""
        return self.queue.idle

    async def run(self) -> None:
        """Until cancelled."""
        await self._around.informers.synced(self._keys)
        for type_ in self._keys:
            for obj in self._around.informers.cache.list(type_):
                self._add_keys_of(type_, obj)
        async with asyncio.TaskGroup() as group:
            group.create_task(self.queue.run(), name=f"{self.controller.name}-timers")
            for i in range(self._workers):
                group.create_task(self._work(), name=f"{self.controller.name}-{i}")

    def _changed(self, type_: type[Object], old: Object | None, new: Object | None) -> None:
        matters = self._matters.get(type_)
        if matters is None or old is None or new is None or matters(old, new):
            for obj in (old, new):
                if obj is not None:
                    self._add_keys_of(type_, obj, related=True)
        changed = new or old
        assert changed is not None
        for key in self._expected.changed(type_, changed.key):
            self.queue.release(key)

    def _add_keys_of(self, type_: type[Object], obj: Object, *, related: bool = False) -> None:
        try:
            keys = list(self._keys[type_](obj))
            if related and type_ in self._related:
                keys += self._related[type_](obj, self._around.informers.cache)
        except Exception:
            log.exception("%s can't say which keys %s %s concerns", self.controller.name, type_.__name__, obj.key)
            return
        for key in keys:
            self.queue.add(key)

    def _progressed(self, type_: type[Object]) -> None:
        for key in self._expected.progressed(type_):
            self.queue.release(key)

    async def _work(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                await self._look(key)
            except Exception:
                log.exception("%s failed at %s", self.controller.name, key)
                self.queue.back_off(key)
            finally:
                if self._expected.is_waiting(key):
                    self.queue.hold(key, HOLD_MS)
                self.queue.done(key)
            await asyncio.sleep(0)

    async def _look(self, key: str) -> None:
        for missed in self._expected.give_up(key):
            log.warning("%s: the view never showed what was written to %s %s", key, missed.type.__name__, missed.key)
        now_ms = self._around.clock.now_ms()
        try:
            outcome = self.controller.reconcile(self._around.informers.cache, key, now_ms)
        except InvariantError as error:
            log.exception("%s stopped at %s: a bug", self.controller.name, key)
            self._record(key, now_ms, error)
            self.queue.wake(key, None)
            return
        if await self._write(key, outcome):
            self.queue.forget(key)
            self.queue.wake(key, outcome.wake_at_ms)
            for note in outcome.notes:
                self._around.events.tell(note, self.controller.name)

    async def _write(self, key: str, outcome: Outcome) -> bool:
        """Does the writes in order; whether all were acknowledged, and none found the view behind."""
        again = False
        for write in outcome.writes:
            about = self._expected.about(write)
            try:
                returned = await perform(self._around.writer, write)
            except FAULTS as error:
                match verdict(write, error):
                    case Verdict.DONE:
                        self._expected.expect(key, self._expected.completed(about, None))
                    case Verdict.LOOK_AGAIN:
                        again = True
                    case Verdict.RETRY:
                        log.debug("%s at %s: %s: %s", self.controller.name, key, describe(write), error)
                        self.queue.back_off(key, retry_after_ms(error))
                        return False
                    case Verdict.REFUSED:
                        self._refused(key, write, error)
                        return False
            else:
                self._expected.expect(key, self._expected.completed(about, returned))
        if again:
            self.queue.back_off(key)
        return not again

    def _refused(self, key: str, write: Write, error: Exception) -> None:
        log.warning("%s at %s: %s refused: %s", self.controller.name, key, describe(write), error)
        delay = min(REFUSED_FIRST_MS * 2 ** min(self.queue.failures(key), 20), REFUSED_LAST_MS)
        self.queue.back_off(key, delay)
        about = self._about(write)
        if about is not None:
            note = Note(about, f"Failed{_verb(write)}", f"{describe(write)}: {error}", "Warning")
            self._around.events.tell(note, self.controller.name)

    def _about(self, write: Write) -> JsonObject | None:
        """The reference that an event about a refused write carries."""
        if isinstance(write, Create):
            meta = write.object.get("metadata", {})
            owner = next((o for o in meta.get("ownerReferences") or () if o.get("controller")), None)
            if owner is None:
                return None
            wanted = ("apiVersion", "kind", "name", "uid")
            return {k: owner[k] for k in wanted if k in owner} | {"namespace": meta.get("namespace", "")}
        reference = {"apiVersion": write.kind.api_version, "kind": write.kind.kind}
        reference |= {"namespace": write.namespace, "name": write.name}
        if self._around.informers.find(write.kind.type) is not None:
            shown = self._around.informers.cache.get(write.kind.type, write.namespace, write.name)
            if shown is not None:
                reference["uid"] = shown.metadata.uid
        return reference

    def _record(self, key: str, now_ms: int, error: Exception) -> None:
        text = "".join(traceback.format_exception(error))
        objects = objects_of(self._around.informers.cache, self._keys)
        self._around.record(Replay(self.controller.name, key, now_ms, text, objects))


def _verb(write: Write) -> str:
    return "Create" if isinstance(write, Create) else "Delete" if isinstance(write, Delete) else "Update"
