"""What the nodes of one machine share: the zygote, addresses, names, ports, and one watch of pods and services.

    machine = Machine(client, settings, clock)
    nodes = [ProcessNode(name, node_settings, machine) ...]      each joins
    await node.start() ...                                       the first one starts the machine
    await machine.stop()                                         when all nodes have stopped

After a restart the records on disk are read first: addresses and ports are as they were before anything new is given.
When the first complete list of pods is there, what belongs to no pod of the API is killed and removed, whatever node it
was of.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import time
from pathlib import Path
from typing import NamedTuple, Protocol

from kumi.api import scheme
from kumi.api.core import ConfigMap, Event, Pod, Secret, Service
from kumi.api.errors import ApiError
from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.kubelet import hosts, inside, volumes
from kumi.kubelet.addresses import Addresses, Block, hold_block
from kumi.kubelet.claims import Attachments
from kumi.kubelet.environment import Sources
from kumi.kubelet.feed import Change, follow
from kumi.kubelet.meter import Meter, Running
from kumi.kubelet.pod_record import PodRecord, load, save
from kumi.kubelet.pod_state import FINAL
from kumi.kubelet.ports import Group, Ports, ephemeral_range, port_range
from kumi.kubelet.process import Launcher, Process, stems, sweep
from kumi.kubelet.settings import MachineSettings
from kumi.kubelet.volume_keeper import VolumeKeeper
from kumi.runtime.client import Client
from kumi.runtime.clock import Clock, RealClock
from kumi.runtime.events import EventSink

LOG = logging.getLogger(__name__)
_HOSTS_DELAY_S = 0.02
_DEATH_S = 5.0
"""how long a killed container may take to be dead"""


class Member(Protocol):
    """A node of the machine, as its watch sees it."""

    name: str

    def pod_changed(self, pod: JsonObject) -> None:
        """A pod of this node is there or changed."""
        ...

    def pod_gone(self, uid: str) -> bool:
        """A pod of this node is gone from the API; whether the node knew it and cleans up."""
        ...

    async def joining(self, uid: str, container: str) -> inside.Request | None:
        """How a command joins a running container of a pod; None: it is not running. KumiError."""
        ...

    def guardians(self, uid: str) -> list[int]:
        """The shims of a pod's containers that run."""
        ...

    def running(self) -> list[Running]:
        """Its containers that run."""
        ...


class _OwnHosts(NamedTuple):
    """The hosts file of a pod that does not share its namespace's: `lines` come first in it."""

    path: Path
    namespace: str
    lines: str


class Machine:
    """See the module."""

    def __init__(self, client: Client, settings: MachineSettings, clock: Clock, meter: Meter | None = None) -> None:
        self.meter = meter or Meter(clock)
        self.client, self.settings, self.clock = client, settings, clock
        self.kinds = scheme.load()
        self.names = hosts.Names(settings.cluster_domain)
        self.ports = Ports(port_range(ephemeral_range()))
        self.events = EventSink(client, clock, self.kinds.of(Event))
        self.launcher = Launcher(settings.data_dir / "scratch")
        self.attachments = Attachments()
        self.before: dict[str, tuple[Path, PodRecord]] = {}
        """uid -> what was found on disk at the start and is not taken over yet"""
        self._members: dict[str, Member] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._block: Block | None = None
        self._addresses: Addresses | None = None
        self._machine_lines = hosts.machine_lines()
        self._own_hosts: dict[str, _OwnHosts] = {}
        self._hosts_timer: asyncio.TimerHandle | None = None
        self._starting: asyncio.Future[None] | None = None

    @property
    def addresses(self) -> Addresses:
        """The addresses of this machine's pods; only once it is started."""
        assert self._addresses is not None
        return self._addresses

    @property
    def isolation(self) -> str:
        """What containers get (mounts.py)."""
        return self.launcher.isolation

    @property
    def staging(self) -> Path:
        """An empty directory."""
        return self.settings.data_dir / "scratch" / "root"

    def join(self, member: Member) -> None:
        """A node is part of it; before the start."""
        self._members[member.name] = member

    async def start(self) -> None:
        """Starts it, once, however many nodes ask."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
        await asyncio.shield(self._starting)

    async def stop(self) -> None:
        """Stops watching and gives everything back; what runs goes on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        if self._hosts_timer is not None:
            self._hosts_timer.cancel()
        await self.launcher.stop()
        if self._block is not None:
            self._block.close()
            self._block = None

    async def _start(self) -> None:
        pods = self.settings.data_dir / "pods"
        pods.mkdir(parents=True, exist_ok=True, mode=0o700)  # secrets are files in there
        self.staging.mkdir(parents=True, exist_ok=True)
        self._block = hold_block(str(self.settings.data_dir.resolve()))
        self._addresses = Addresses(self._block.number)
        for home in sorted(pods.iterdir()):
            record = load(home)
            if record is None:
                self._clear(home, home.name)
                continue
            self.before[record.uid] = (home, record)
            self._addresses.restore(record.uid, record.address)
            self.attachments.restore(record.uid, record.node, record.claims)
            if record.port:
                self.ports.restore(Group(record.group, record.group_port), record.uid, record.port)
        await self.launcher.start(self.settings.sandbox)
        if self.settings.isolation:
            self.launcher.isolation = self.settings.isolation
        LOG.info("private views: %s", self.isolation)
        keeper = VolumeKeeper(self.client, self.kinds, self.clock, self.events)
        self._tasks = [
            asyncio.create_task(self.events.run()),
            asyncio.create_task(self._follow_services()),
            asyncio.create_task(self._follow_pods()),
            asyncio.create_task(keeper.run(self.settings.data_dir, self.attachments)),
            asyncio.create_task(self.meter.run(self._members, self._running, self.settings.measure_ms)),
        ]

    # what nodes ask for

    async def sources(self, namespace: str, maps: list[str], secrets: list[str]) -> Sources:
        """Config maps and secrets by name."""
        found_maps = {name: await self._maybe(ConfigMap, namespace, name) for name in maps}
        found_secrets = {name: await self._maybe(Secret, namespace, name) for name in secrets}
        return Sources(found_maps, found_secrets)

    async def joining(self, pod: JsonObject, container: str) -> inside.Request:
        """How a command joins a running container (its `argv` is yet to come). ApiError 404: it does not run here."""
        member = self._members.get((pod.get("spec") or {}).get("nodeName") or "")
        found = None if member is None else await member.joining(pod["metadata"]["uid"], container)
        if found is None:
            raise ApiError(404, "NotFound", f'container not found ("{container}")')
        return found

    def guardians(self, pod: JsonObject) -> list[int]:
        """The shims of a pod's containers that run here."""
        member = self._members.get((pod.get("spec") or {}).get("nodeName") or "")
        return [] if member is None else member.guardians(pod["metadata"]["uid"])

    def _running(self) -> list[Running]:
        return [one for member in self._members.values() for one in member.running()]

    def pod_here(self, pod: JsonObject, address: str, home: Path) -> None:
        """A pod of this machine has its address: its name resolves once the hosts files are written."""
        named = hosts.named_pod(pod, address)
        uid = pod["metadata"]["uid"]
        aliases = hosts.alias_lines(pod)
        if named.hostname != named.name or aliases:
            own = f"{address} {named.hostname}\n{aliases}"
            self._own_hosts[uid] = _OwnHosts(home / ".hosts", named.namespace, own)
        self.names.put_pod(uid, named)
        if uid in self._own_hosts:
            self._write_own(self._own_hosts[uid])
        self._names_changed()

    def pod_over(self, namespace: str, uid: str) -> None:
        """A pod's processes are gone."""
        self.attachments.release(uid)
        self._own_hosts.pop(uid, None)
        self.names.end_pod(namespace, uid)
        self._names_changed()

    def release(self, uid: str) -> None:
        """A pod is gone: its address and its hold on a port are free."""
        self.addresses.release(uid)
        self.attachments.release(uid)
        self.ports.release(uid)

    def hosts_path(self, namespace: str, uid: str) -> Path:
        """The hosts file that a pod sees."""
        own = self._own_hosts.get(uid)
        return own.path if own else self.settings.data_dir / "network" / f"{namespace}.hosts"

    def write_hosts(self) -> None:
        """Brings the hosts files of all namespaces that changed up to date: soon after a change, and before a container
        starts, so that pods that come together are written together."""
        if self._hosts_timer is not None:
            self._hosts_timer.cancel()
            self._hosts_timer = None
        for namespace in self.names.take_stale():
            self._write_shared(namespace)
            for own in list(self._own_hosts.values()):
                if own.namespace == namespace and own.path.parent.is_dir():
                    self._write_own(own)

    def _write_shared(self, namespace: str) -> None:
        text = hosts.hosts_text(self.names.lines(namespace), machine=self._machine_lines)
        hosts.write_in_place(self.settings.data_dir / "network" / f"{namespace}.hosts", text)

    def _write_own(self, own: _OwnHosts) -> None:
        text = hosts.hosts_text(self.names.lines(own.namespace), own.lines, self._machine_lines)
        hosts.write_in_place(own.path, text)

    def discard(self, home: Path, uid: str) -> None:
        """Kills what still runs of a pod's directory and removes it and what the pod held."""
        self._clear(home, uid)
        self.release(uid)

    # what it hears

    async def _follow_pods(self) -> None:
        first: list[Change] | None = []
        async for change in follow(self.client, self.kinds.of(Pod), self.clock):
            if first is None:
                if change is not None:
                    self._hear_pod(change)
            elif change is not None:
                first.append(change)
            else:
                self._first_pods(first)
                first = None

    def _first_pods(self, changes: list[Change]) -> None:
        """What was here before the restart goes first, of that first what has what it asks for."""
        uids = [change.object["metadata"]["uid"] for change in changes]
        self._sweep(set(uids))
        ranks = [(2 if uid not in self.before else 0 if self.before[uid][1].settled else 1) for uid in uids]
        for rank in range(3):
            for known, change in zip(ranks, changes, strict=True):
                if known == rank:
                    self._hear_pod(change)

    def _hear_pod(self, change: Change) -> None:
        """One pod that can't be handled must not keep the others from running."""
        try:
            self._pod(change)
        except Exception:
            LOG.exception("pod %s can't be handled", change.object["metadata"].get("name"))

    def _pod(self, change: Change) -> None:
        pod = change.object
        meta = pod["metadata"]
        member = self._members.get((pod.get("spec") or {}).get("nodeName") or "")
        if change.gone:
            self.names.drop_pod(meta.get("namespace", ""), meta["uid"])
            self._names_changed()
            if (member is None or not member.pod_gone(meta["uid"])) and meta["uid"] in self.before:
                self.discard(self.before.pop(meta["uid"])[0], meta["uid"])
        elif member is not None:
            member.pod_changed(pod)
            if (pod.get("status") or {}).get("phase") in FINAL:
                self._name(pod)
        else:
            self._name(pod)

    def _name(self, pod: JsonObject) -> None:
        """A pod that no node of this machine runs, or runs no longer, still has a name."""
        status, meta = pod.get("status") or {}, pod["metadata"]
        over = status.get("phase") in FINAL
        if status.get("podIP"):
            self.names.put_pod(meta["uid"], hosts.named_pod(pod, status["podIP"], over=over))
        if over:
            if meta["uid"] in self.before:
                self.attachments.release(meta["uid"])  # it ended while nobody looked
            self.names.end_pod(meta.get("namespace", ""), meta["uid"])
        elif not status.get("podIP"):
            self.names.drop_pod(meta.get("namespace", ""), meta["uid"])
        self._names_changed()

    async def _follow_services(self) -> None:
        async for change in follow(self.client, self.kinds.of(Service), self.clock):
            if change is None:
                continue
            meta = change.object["metadata"]
            selector = (change.object.get("spec") or {}).get("selector") or {}
            if change.gone or not selector:
                self.names.drop_service(meta["namespace"], meta["name"])
            else:
                self.names.put_service(meta["namespace"], meta["name"], selector)
            self._names_changed()

    def _names_changed(self) -> None:
        if self._hosts_timer is None:
            self._hosts_timer = asyncio.get_running_loop().call_later(_HOSTS_DELAY_S, self.write_hosts)

    def _sweep(self, listed: set[str]) -> None:
        """What ran for pods that are no longer in the API."""
        for uid in [uid for uid in self.before if uid not in listed]:
            home, _ = self.before.pop(uid)
            LOG.info("removing %s: its pod is gone", home.name)
            self.discard(home, uid)

    @staticmethod
    def _clear(home: Path, uid: str) -> None:
        kill_below(home)
        volumes.remove(uid, home / ".volumes")
        shutil.rmtree(home, ignore_errors=True)

    async def _maybe(self, type_: type[Object], namespace: str, name: str) -> JsonObject | None:
        try:
            return await self.client.get(self.kinds.of(type_), namespace, name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise


def kill_below(home: Path) -> None:
    """Kills every container of a pod's directory, also one whose guardian is gone; returns before they are dead."""
    lost = False
    for container in sorted(p for p in home.iterdir() if p.is_dir()):
        for stem in stems(container)[-1:]:
            process = Process.find(stem)
            if process is not None:
                process.kill()
                process.close()
            elif not Path(f"{stem}.exit").exists():
                lost = True
    if lost:
        with contextlib.suppress(OSError):
            sweep(str(home))


def kill_everything(data_dir: Path) -> None:
    """Kills every container of a data directory whose Kumi is gone, and returns when they are dead (or do not die). It is
    noted that they did not end by themselves, as when a node stops: jobs go on at the next start. For `kumi down`."""
    pods = data_dir / "pods"
    homes = sorted(pods.iterdir()) if pods.is_dir() else []
    for home in homes:
        record = load(home)
        if record is not None and not record.halted_ms:
            record.halted_ms = RealClock().now_ms()
            with contextlib.suppress(OSError):
                save(home, record)
        kill_below(home)
    guardians = [shim for home in homes for shim in _guardians(home)]
    end = time.monotonic() + _DEATH_S
    while any(shim.who.runs() for shim in guardians) and time.monotonic() < end:
        time.sleep(0.01)
    for shim in guardians:
        shim.destroy()
        shim.close()
    while pods.is_dir() and sweep(f"{pods}/") and time.monotonic() < end:
        time.sleep(0.01)


def _guardians(home: Path) -> list[Process]:
    """The shims that run in a pod's directory."""
    found = [Process.find(stem) for container in home.iterdir() if container.is_dir() for stem in stems(container)]
    return [process for process in found if process is not None]
