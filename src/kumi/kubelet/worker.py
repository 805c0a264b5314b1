"""One pod on this machine: the orders of its life (pod_state.py) become effects, and what happens becomes events.

    order Prepare   volumes and a port; then the record on disk
    order Start     environment, mounts, launch; then a watcher that waits for the end
    order Stop      a signal; a shim that does not answer SIGKILL within ANSWER_MS is itself killed, and what it left
    order Hook, Probe   handlers.py; what fails is told as an event
    order Gone      after the last status is written, the pod is deleted from the API

Status     written by one task at a time: always the newest, never one that the API has already; one that is not final
           waits a moment (status_delay_ms) for what follows it, and up to BEGIN_MS for the first process. It is
           conditional on the pod as last seen: on a conflict the pod is read again. A pod that is gone, or another of
           the same name, is left alone.
Restart    `adopt` takes over what the record says; what ran goes on, and what ended meanwhile is told as if just now.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from kumi.api.core import Pod
from kumi.api.errors import ApiError, KumiError
from kumi.api.meta import parse_time
from kumi.api.wire import JsonObject
from kumi.kubelet import devices, handlers, inside, logs, pod_record, shim, volumes
from kumi.kubelet.admission import Refusal
from kumi.kubelet.environment import CannotConfigure
from kumi.kubelet.last_words import with_last_words
from kumi.kubelet.machine import Machine
from kumi.kubelet.meter import Running
from kumi.kubelet.outfit import Outfit, joining, note
from kumi.kubelet.pod_plan import HookKind, containers_of, plan_of
from kumi.kubelet.pod_record import PodRecord
from kumi.kubelet.pod_state import FINAL, PodLife, Stage
from kumi.kubelet.pod_status import Place, status_of
from kumi.kubelet.pod_words import (
    Event,
    Exit,
    Exited,
    Fail,
    Found,
    Gone,
    Halt,
    Hook,
    Hooked,
    Order,
    Prepare,
    Prepared,
    Probe,
    Probed,
    Refused,
    Remove,
    Start,
    Started,
    Stop,
    Tell,
    Tick,
    Unprepared,
)
from kumi.kubelet.preparation import Preparation
from kumi.kubelet.probes import ProbeKind
from kumi.kubelet.process import Process, exit_of, stems, sweep
from kumi.kubelet.process import Refused as LaunchRefused
from kumi.runtime.reconcile import Note

LOG = logging.getLogger(__name__)
ANSWER_MS = 5_000
BEGIN_MS = 500
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 100, 5_000


class Host(Protocol):
    """What a worker needs of its node."""

    name: str
    machine: Machine
    devices: devices.Devices

    @property
    def allocatable(self) -> dict[str, int]:
        """In base units."""
        ...

    def pod_over(self, uid: str) -> None:
        """Its processes are gone for good: what it asked for is free."""
        ...

    def pod_left(self, uid: str) -> None:
        """Nothing is left of it."""
        ...


class PodWorker:
    """See the module."""

    def __init__(self, host: Host, pod: JsonObject, home: Path, record: PodRecord) -> None:
        self._host, self._machine = host, host.machine
        self._pod, self._home, self._record = pod, home, record
        self._plan_life(record.started_ms)
        self._outfit = Outfit(self._machine, record, host.devices, host.allocatable)
        self._preparation = Preparation(self._machine, record, self._outfit, home / ".volumes")
        self._processes: dict[str, Process] = {}
        self._requests: dict[str, shim.Request] = {}
        """how the last attempt of each container was started"""
        self._tasks: set[asyncio.Task[None]] = set()
        self._writer: asyncio.Task[None] | None = None
        self._alarm: asyncio.Task[None] | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._written: JsonObject | None = None
        self._in_api, self._delete_at_last, self._over_told = True, False, False
        self._laid_out = False
        self._settled = asyncio.Event()
        """whether nothing keeps it any more from being prepared"""

    @property
    def uid(self) -> str:
        """The pod's."""
        return self._record.uid

    @property
    def life(self) -> PodLife:
        """Where it stands."""
        return self._life

    def _plan_life(self, started_ms: int) -> None:
        self._life = PodLife(plan_of(self._pod, self._machine.settings.backoff), started_ms)

    # what the node tells it

    def begin(self) -> None:
        """A new pod."""
        self._record.prepared = self._record.settled and not (self._has_volumes or note(self._pod))
        try:
            self._lay_out()
        except OSError as error:
            self._hear(self._removal() or self._unprepared(error))
            return
        self._hear(self._removal() or Tick())

    def adopt(self) -> None:
        """A pod that was here before Kumi was restarted."""
        self._machine.pod_here(self._pod, self._record.address, self._home)
        found: list[Event] = [Prepared()] if self._record.prepared else []
        for name in self._life.containers:
            found += self._find(name)
        self._laid_out = True
        self._halted_at(0)
        if self._record.prepared:
            self._keep_tokens()
        self._hear_all([*found, self._removal() or Tick()])

    def changed(self, pod: JsonObject) -> None:
        """The API has a new state of it; an older one than the answer to an own write is no news."""
        if _version(pod) < _version(self._pod):
            return
        self._pod = pod
        phase = (pod.get("status") or {}).get("phase")
        if phase in FINAL and not self._life.over:
            status = pod["status"]
            self._hear(Fail(status.get("reason") or "Ended", status.get("message") or "the pod was ended by another"))
        removal = self._removal()
        if removal is not None:
            self._hear(removal)

    def settle(self, refusal: Refusal | None) -> None:
        """It has its room and its devices (they are in the record); or it gets none after all."""
        self._settled.set()
        if refusal is not None:
            self._hear(Fail(refusal.reason, refusal.rejection))

    def gone(self) -> None:
        """The API has it no longer: nothing of it may go on."""
        self._in_api = False
        self._hear(Remove(0))

    def halt(self) -> None:
        """The node stops."""
        if self._life.over:
            return
        self._halted_at(self._now())
        self._hear(Halt(min(self._life.plan.grace_ms, self._machine.settings.stop_grace_ms)))

    @property
    def writes(self) -> bool:
        """Whether a status is being written."""
        return self._writer is not None and not self._writer.done()

    async def close(self) -> None:
        """Lets go of it; what runs goes on."""
        waiting = list(self._tasks)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for process in self._processes.values():
            process.close()

    # events in, orders out

    def _hear(self, event: Event) -> None:
        self._hear_all([event])

    def _hear_all(self, events: list[Event]) -> None:
        for order in self._life.hear_all(events, self._now()):
            self._obey(order)
        self._set_alarm()
        if self._life.over and not self._over_told:
            self._over_told = True
            self._settled.set()
            if self._renewal is not None:
                self._renewal.cancel()
            self._machine.pod_over(self._record.namespace, self.uid)
            self._host.pod_over(self.uid)
            if self._has_volumes:
                volumes.remove(self.uid, self._home / ".volumes")
        if not self._in_api and not self._life.alive:
            self._spawn(self._leave())
        elif self._life.ending is None or not self._life.ending.halted:
            self._write_soon()

    def _obey(self, order: Order) -> None:
        match order:
            case Prepare():
                self._spawn(self._prepare())
            case Start(container, attempt):
                self._spawn(self._start(container, attempt))
            case Stop(container, _, kill):
                self._stop(container, kill)
            case Hook(container, attempt, hook):
                self._spawn(self._hook(container, attempt, hook))
            case Probe(container, attempt, kind):
                self._spawn(self._probe(container, attempt, kind))
            case Tell(reason, message):
                self._tell(reason, message)
            case Gone():
                self._delete_at_last = True

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        wake_at = self._life.wake_at()
        if wake_at is not None:
            self._alarm = self._spawn(self._ring(wake_at))

    async def _ring(self, wake_at_ms: int) -> None:
        while (left := wake_at_ms - self._now()) > 0:
            await self._machine.clock.sleep_ms(left)
        self._alarm = None
        self._hear(Tick())

    # effects

    def _lay_out(self) -> None:
        """Its directory, its record, its name. OSError: to be tried again."""
        self._home.mkdir(parents=True, exist_ok=True)
        pod_record.save(self._home, self._record)
        self._machine.pod_here(self._pod, self._record.address, self._home)
        self._laid_out = True

    def _halted_at(self, now_ms: int) -> None:
        """When the node's stop began, 0 for not at all."""
        self._record.halted_ms = now_ms
        self._save()

    def _lost(self, name: str, attempt: int) -> None:
        lost = self._record.cut_short.setdefault(name, [])
        if attempt not in lost:
            lost.append(attempt)

    def _save(self) -> None:
        """A record that can't be written (a full disk, no directory any more) must not keep the processes from their end."""
        try:
            pod_record.save(self._home, self._record)
        except OSError as error:
            LOG.warning("record of pod %s/%s: %s", self._record.namespace, self._record.name, error)

    def _unprepared(self, error: Exception) -> Unprepared:
        self._warn("FailedMount", f"the pod can't be prepared: {error}")
        return Unprepared(str(error))

    async def _prepare(self) -> None:
        try:
            if not self._laid_out:
                self._lay_out()
            if not self._record.settled:
                await self._settled.wait()
                if self._life.over:
                    return
                pod_record.save(self._home, self._record)
            await self._preparation.prepare(self._pod, lambda: self._life.over)
            if not self._record.prepared:
                self._record.prepared = True
                pod_record.save(self._home, self._record)
        except (KumiError, OSError) as error:
            self._hear(self._unprepared(error))
            return
        self._keep_tokens()
        self._hear(Prepared())

    def _keep_tokens(self) -> None:
        if volumes.tokens_of(self._pod):
            renewal = self._preparation.renew(lambda: None if self._life.over else self._pod)
            self._renewal = self._spawn(renewal)

    async def _start(self, name: str, attempt: int) -> None:
        directory = self._home / name
        try:
            request = await self._outfit.request(self._pod, name, str(directory / str(attempt)))
            logs.drop_old(directory, attempt)
            process = await self._machine.launcher.launch(request)
        except CannotConfigure as error:
            if error.reason != "ContainerCreating":
                self._warn("Failed", f"container {name}: {error}")
            self._hear(Refused(name, attempt, error.reason, str(error), error.after_ms))
            return
        except LaunchRefused as error:
            self._warn("Failed", f"container {name}: {error}")
            if error.attempted:
                self._hear(Exited(name, attempt, exit_of(request.stem, self._now())))
            else:
                self._hear(Refused(name, attempt, "RunContainerError", str(error)))
            return
        except (KumiError, OSError) as error:
            self._hear(Refused(name, attempt, "RunContainerError", str(error)))
            return
        self._processes[name], self._requests[name] = process, request
        self._spawn(self._wait(name, attempt, process))
        self._hear(Started(name, attempt, process.started_ms))

    async def _wait(self, name: str, attempt: int, process: Process) -> None:
        await process.ended()
        if self._processes.get(name) is process:
            del self._processes[name]
        stem = str(self._home / name / str(attempt))
        ended = self._ended(name, stem)
        if ended.lost:
            while sweep(stem):
                await self._machine.clock.sleep_ms(10)
            self._lost(name, attempt)
            self._save()
        self._hear(Exited(name, attempt, ended))
        container = self._life.containers[name]
        if container.stage is Stage.BACKOFF and container.crashes > 1:
            self._warn("BackOff", f"Back-off restarting failed container {name} in pod {self._record.name}")

    async def _hook(self, name: str, attempt: int, hook: HookKind) -> None:
        spec = (containers_of(self._pod)[name].get("lifecycle") or {}).get(hook.value) or {}
        try:
            trouble = await handlers.hook(spec, await self._subject(name))
        except (KumiError, OSError) as error:
            trouble = str(error)
        if trouble and self._runs(name, attempt):
            word = hook.value[0].upper() + hook.value[1:]
            self._warn(f"Failed{word}Hook", f"{word}Hook of container {name}: {trouble}")
        self._hear(Hooked(name, attempt, hook, trouble))

    async def _probe(self, name: str, attempt: int, kind: ProbeKind) -> None:
        spec = containers_of(self._pod)[name].get(f"{kind.value}Probe") or {}
        try:
            verdict = await handlers.probe(spec, await self._subject(name))
        except (KumiError, OSError) as error:
            verdict = handlers.Verdict(False, str(error))
        if not verdict.ok and self._runs(name, attempt):
            self._warn("Unhealthy", f"{kind.value.capitalize()} probe failed: {verdict.message}")
        self._hear(Probed(name, attempt, kind, verdict.ok))

    def _runs(self, name: str, attempt: int) -> bool:
        container = self._life.containers[name]
        return container.stage is Stage.RUNNING and container.runs - 1 == attempt

    async def _subject(self, name: str) -> handlers.Subject:
        """A running container, to be looked at or run something in. LaunchRefused: it is not running."""
        joined = await self.joining(name)
        if joined is None:
            raise LaunchRefused("the container is not running", attempted=False)
        return handlers.Subject(containers_of(self._pod)[name], self._record.address, joined, self._machine.launcher)

    async def joining(self, name: str) -> inside.Request | None:
        """How a command joins a container; None: it is not running. CannotConfigure."""
        process = self._processes.get(name)
        if process is None:
            return None
        request = self._requests.get(name)
        if request is None:  # it was taken over
            stem = str(self._home / name / str(self._life.containers[name].runs - 1))
            request = self._requests[name] = await self._outfit.request(self._pod, name, stem)
        return joining(request, process)

    @property
    def guardians(self) -> list[int]:
        """The shims of its containers that run."""
        return [process.who.pid for process in self._processes.values()]

    @property
    def running(self) -> list[Running]:
        """Its containers that run."""
        node, uid = self._host.name, self.uid
        return [
            Running(node, uid, name, process.who.pid, process.started_ms) for name, process in self._processes.items()
        ]

    def _stop(self, name: str, kill: bool) -> None:
        process = self._processes.get(name)
        if process is None:
            return
        if kill:
            process.kill()
            self._spawn(self._insist(process))
        else:
            process.terminate()

    async def _insist(self, process: Process) -> None:
        await self._machine.clock.sleep_ms(ANSWER_MS)
        process.destroy()

    async def _leave(self) -> None:
        """The pod is gone from the API and nothing of it runs."""
        self._machine.pod_over(self._record.namespace, self.uid)
        if self._alarm is not None:
            self._alarm.cancel()
        await asyncio.to_thread(self._remove_files)
        self._machine.release(self.uid)
        self._host.pod_left(self.uid)

    def _remove_files(self) -> None:
        volumes.remove(self.uid, self._home / ".volumes")
        shutil.rmtree(self._home, ignore_errors=True)

    @property
    def _has_volumes(self) -> bool:
        return bool(self._pod["spec"].get("volumes"))

    # taking over

    def _find(self, name: str) -> list[Event]:
        found = stems(self._home / name)
        if not found:
            return []
        stem = found[-1]
        attempt = int(os.path.basename(stem))
        process = Process.find(stem)
        previous = self._exit(found[-2]) if len(found) > 1 else None
        cut_short = len([a for a in self._record.cut_short.get(name, ()) if a < attempt])
        if process is not None:
            self._processes[name] = process
            self._spawn(self._wait(name, attempt, process))
            return [Found(name, attempt, process.started_ms, previous, cut_short, *self._stood(name, attempt))]
        ended = self._exit(stem)
        if ended.lost:
            self._lost(name, attempt)
            sweep(stem)
        return [Found(name, attempt, ended.started_ms, previous, cut_short), Exited(name, attempt, ended)]

    def _stood(self, name: str, attempt: int) -> tuple[bool, bool]:
        """Whether the API has this attempt as started, and as ready."""
        standing = self._pod.get("status") or {}
        for status in (*(standing.get("initContainerStatuses") or ()), *(standing.get("containerStatuses") or ())):
            if status.get("name") == name and str(status.get("containerID") or "").endswith(f"/{attempt}"):
                return bool(status.get("started")), bool(status.get("ready"))
        return False, False

    def _exit(self, stem: str) -> Exit:
        """How it ended; what ended since the node's stop was cut short by it, also if it took SIGTERM well (code 0)."""
        ended = self._ended(os.path.basename(os.path.dirname(stem)), stem)
        halted = self._record.halted_ms
        if halted and ended.finished_ms >= halted:
            return replace(ended, lost=True)
        return ended

    def _ended(self, name: str, stem: str) -> Exit:
        return with_last_words(exit_of(stem, self._now()), containers_of(self._pod)[name], stem)

    def _removal(self) -> Remove | None:
        """That the pod is being deleted, with what is left of its grace."""
        meta = self._pod["metadata"]
        if not meta.get("deletionTimestamp"):
            return None
        grace = meta.get("deletionGracePeriodSeconds")
        until = parse_time(meta["deletionTimestamp"]) or 0
        left = until - self._now() if grace else 0
        most = self._life.plan.grace_ms if grace is None else int(grace) * 1000
        return Remove(max(0, min(most, left + 1000)))

    # the status

    def _write_soon(self) -> None:
        if self._in_api and not self.writes:
            self._writer = self._spawn(self._write())

    async def _write(self) -> None:
        pause_ms = _FIRST_PAUSE_MS
        while self._in_api:
            await self._await_news()
            status = self._status()
            try:
                if status != self._written:
                    await self._put(status)
                    self._written = status
                    pause_ms = _FIRST_PAUSE_MS
                    continue
                if self._delete_at_last:
                    await self._delete()
                return
            except (ApiError, OSError) as error:
                if isinstance(error, ApiError) and error.code == 404:
                    return
                if isinstance(error, ApiError) and error.code == 409:
                    if not await self._read_again():
                        return
                    continue
                LOG.warning("status of pod %s/%s: %s", self._record.namespace, self._record.name, error)
            await self._machine.clock.sleep_ms(pause_ms)
            pause_ms = min(pause_ms * 2, _LONGEST_PAUSE_MS)

    async def _await_news(self) -> None:
        """What follows a status that is not final is told with it; that a container is being created is no news unless
        it stays so."""
        until_ms = self._now() + BEGIN_MS
        while not self._life.over:
            await self._machine.clock.sleep_ms(max(1, self._machine.settings.status_delay_ms))
            if not self._life.begins or self._now() >= until_ms:
                return

    def _status(self) -> JsonObject:
        place = Place(self._machine.settings.host_ip, self._record.address)
        status = status_of(self._pod, self._life, place, self._now())
        standing = self._pod.get("status") or {}
        if standing.get("phase") in FINAL:
            status["phase"] = standing["phase"]
            for key in ("reason", "message"):
                status.pop(key, None)
                if standing.get(key):
                    status[key] = standing[key]
        return status

    async def _put(self, status: JsonObject) -> None:
        meta = self._pod["metadata"]
        body = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "status": status}
        kind = self._machine.kinds.of(Pod)
        pod = await self._machine.client.patch(kind, meta["namespace"], meta["name"], body, subresource="status")
        if _version(pod) > _version(self._pod):
            self._pod = pod

    async def _read_again(self) -> bool:
        """The pod as it is now; False if it is gone."""
        try:
            pod = await self._machine.client.get(self._machine.kinds.of(Pod), self._record.namespace, self._record.name)
        except ApiError as error:
            if error.code == 404:
                return False
            raise
        if pod["metadata"]["uid"] != self.uid:
            return False
        self._pod = pod
        return True

    async def _delete(self) -> None:
        kind = self._machine.kinds.of(Pod)
        name = self._record.name
        await self._machine.client.delete(kind, self._record.namespace, name, uid=self.uid, grace_seconds=0)

    # small things

    def _warn(self, reason: str, message: str) -> None:
        self._tell(reason, message, "Warning")

    def _tell(self, reason: str, message: str, type_: str = "Normal") -> None:
        keys = ("namespace", "name", "uid")
        about = {"apiVersion": "v1", "kind": "Pod", **{key: self._pod["metadata"][key] for key in keys}}
        self._machine.events.tell(Note(about, reason, message, type_), "kubelet")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            LOG.error("pod %s/%s", self._record.namespace, self._record.name, exc_info=task.exception())

    def _now(self) -> int:
        return self._machine.clock.now_ms()


def _version(pod: JsonObject) -> int:
    with contextlib.suppress(ValueError):
        return int(pod["metadata"].get("resourceVersion") or 0)
    return 0
