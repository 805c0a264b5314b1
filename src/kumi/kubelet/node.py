"""A node that runs its pods as processes of this machine.

    node = ProcessNode(name, settings, machine);  await node.start();  ...  await node.stop()

Life       start: the Node object is made or brought up to date, Ready; the machine's watch brings its pods. A Lease tells
           every heartbeat_ms that it lives; the Node's status is written only when it changes, or when others hold the
           node for dead (the machine slept, say) or have removed it: it lives, and says so. So it does of pressure.
           stop: every container gets SIGTERM and its grace, then the node is not Ready. What a pod was doing is not over:
           at the next start it is run again where its restart policy lets it.
A pod      that is new is admitted (admission.py) and gets an address, devices and a worker; one that is over already
           only waits to be deleted; one with a record from before a restart is adopted, before any new one is admitted.
           One that is admitted while those whose place it has are still dying waits (ContainerCreating), and is settled, with
           its devices, as soon as they are dead: whoever came first goes first.
Not here   what happens to one pod: worker.py. What nodes share: machine.py.
"""

from __future__ import annotations

import asyncio
import logging
import platform
from collections.abc import Awaitable, Coroutine
from pathlib import Path
from typing import Any

from kumi.api.coordination import Lease
from kumi.api.core import Node, Pod
from kumi.api.errors import ApiError, KumiError
from kumi.api.meta import format_micro_time, format_time
from kumi.api.quantity import MILLI, parse
from kumi.api.wire import JsonObject
from kumi.kubelet import gpus, inside, pressure
from kumi.kubelet.admission import Refusal, Room
from kumi.kubelet.devices import Devices
from kumi.kubelet.machine import Machine, kill_below
from kumi.kubelet.meter import Running
from kumi.kubelet.pod_record import PodRecord, home_of
from kumi.kubelet.pod_state import FINAL
from kumi.kubelet.records import boot_id
from kumi.kubelet.settings import NodeSettings, architecture
from kumi.kubelet.worker import PodWorker
from kumi.runtime.reconcile import Note

LOG = logging.getLogger(__name__)
LEASE_NAMESPACE = "kube-node-lease"
_POLL_MS = 10
_LAST_WORDS_MS = 2_000
"""at the stop: how long statuses may still be written, should the API not answer"""


class ProcessNode:
    """See the module."""

    def __init__(self, name: str, settings: NodeSettings, machine: Machine) -> None:
        self.name, self.machine = name, machine
        self._settings = settings
        self._offered = settings.offered()
        self._room = Room({resource: parse(text, resource) for resource, text in self._offered.items()})
        counts = {resource: parse(text, resource) // 1000 for resource, text in self._offered.items()}
        self.devices = Devices(counts, settings.cards)
        self._unhealthy: dict[str, str] = {}
        """card -> what is wrong with it"""
        self._workers: dict[str, PodWorker] = {}
        self._unsettled: dict[str, tuple[JsonObject, PodRecord]] = {}
        """admitted pods that wait for others to be dead, by uid"""
        self._tasks: set[asyncio.Task[None]] = set()
        self._heart: asyncio.Task[None] | None = None
        self._stopping = False
        self._pressure = pressure.verdicts(None)
        self._since: dict[str, tuple[str, str]] = {}
        """condition -> its status, and since when it is so"""
        machine.join(self)

    @property
    def allocatable(self) -> dict[str, int]:
        """What it offers, in base units."""
        return self._room.allocatable

    @property
    def workers(self) -> dict[str, PodWorker]:
        """Its pods that are not yet gone, by uid."""
        return self._workers

    async def start(self) -> None:
        """Registers it and begins to run pods."""
        await self._register()
        await self.machine.start()
        self._heart = asyncio.create_task(self._beat())

    async def stop(self) -> None:
        """Ends every process, writes what is to be written, and says that it is not ready. The machine stops apart."""
        self._stopping = True
        for worker in list(self._workers.values()):
            worker.halt()
        while any(worker.life.alive for worker in self._workers.values()):
            await self.machine.clock.sleep_ms(_POLL_MS)
        for _ in range(_LAST_WORDS_MS // _POLL_MS):
            if not any(worker.writes for worker in self._workers.values()):
                break
            await self.machine.clock.sleep_ms(_POLL_MS)
        await self._say_stopped()
        await self.close()

    async def close(self) -> None:
        """Lets go of everything at once; what runs goes on."""
        self._stopping = True
        waiting = [*self._tasks, *([self._heart] if self._heart else [])]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for worker in list(self._workers.values()):
            await worker.close()

    # what the machine's watch tells (machine.Member)

    def pod_changed(self, pod: JsonObject) -> None:
        """See machine.Member."""
        uid = pod["metadata"]["uid"]
        over = (pod.get("status") or {}).get("phase") in FINAL
        if uid in self._workers:
            if over:
                self._room.leave(uid)
            self._workers[uid].changed(pod)
        elif over:
            self._over_already(pod)
        elif not self._stopping:
            self._take(pod)

    def pod_gone(self, uid: str) -> bool:
        """See machine.Member."""
        worker = self._workers.get(uid)
        if worker is not None:
            self._room.leave(uid)
            worker.gone()
        return worker is not None

    async def joining(self, uid: str, container: str) -> inside.Request | None:
        """See machine.Member."""
        worker = self._workers.get(uid)
        return None if worker is None else await worker.joining(container)

    def guardians(self, uid: str) -> list[int]:
        """See machine.Member."""
        worker = self._workers.get(uid)
        return [] if worker is None else worker.guardians

    def running(self) -> list[Running]:
        """See machine.Member."""
        return [one for worker in self._workers.values() for one in worker.running]

    # what workers tell (worker.Host)

    def pod_over(self, uid: str) -> None:
        """See worker.Host."""
        self._room.remove(uid)
        self.devices.release(uid)
        self._unsettled.pop(uid, None)
        self._settle_waiting()

    def pod_left(self, uid: str) -> None:
        """See worker.Host."""
        self._workers.pop(uid, None)

    # pods

    def _take(self, pod: JsonObject) -> None:
        uid = pod["metadata"]["uid"]
        before = self.machine.before.pop(uid, None)
        if before is not None and before[1].node == self.name:
            home, record = before
            self._room.add(uid, pod)
            if record.settled:
                self._room.hold(uid, pod)
                self.devices.restore(uid, record.devices)
            else:
                self._unsettled[uid] = (pod, record)
            worker = self._workers[uid] = PodWorker(self, pod, home, record)
            worker.adopt()
            self._settle_waiting()
            return
        refusal = self._room.refusal(pod)
        record = PodRecord(
            node=self.name,
            namespace=pod["metadata"]["namespace"],
            name=pod["metadata"]["name"],
            uid=uid,
            started_ms=self.machine.clock.now_ms(),
            address="",
        )
        if refusal is None:
            refusal = self._give(pod, record)
        if refusal is not None:
            self._spawn(self._refuse(pod, refusal))
            return
        worker = self._workers[uid] = PodWorker(self, pod, home_of(self.machine.settings.data_dir, pod), record)
        worker.begin()

    def _give(self, pod: JsonObject, record: PodRecord) -> Refusal | None:
        try:
            record.address = self.machine.addresses.take(record.uid)
        except KumiError as error:
            return _unexpected(error)
        self._room.add(record.uid, pod)
        refusal = self._settle(pod, record)
        if refusal is not None:
            self._room.remove(record.uid)
            self.machine.addresses.release(record.uid)
        elif not record.settled:
            self._unsettled[record.uid] = (pod, record)
        return refusal

    def _settle(self, pod: JsonObject, record: PodRecord) -> Refusal | None:
        """Gives an admitted pod its room and its devices, if it needn't wait for others to be dead: record.settled."""
        record.settled = False
        hindrance = self._room.hindrance(pod)
        try:
            if hindrance is None:
                record.devices = self.devices.take(record.uid, pod)
        except KumiError as error:
            hindrance = _unexpected(error)
        if hindrance is not None:
            return None if self._room.leaving else hindrance
        self._room.hold(record.uid, pod)
        record.settled = True
        return None

    def _settle_waiting(self) -> None:
        """Somebody is dead: those that waited for it, first come, first served."""
        for uid, (pod, record) in list(self._unsettled.items()):
            if uid not in self._unsettled:
                continue  # another's refusal has settled it
            refusal = self._settle(pod, record)
            if refusal is None and not record.settled:
                continue
            del self._unsettled[uid]
            self._workers[uid].settle(refusal)

    def _over_already(self, pod: JsonObject) -> None:
        """A pod that ended before this start of Kumi, or that another ended before it began here."""
        meta = pod["metadata"]
        before = self.machine.before.get(meta["uid"])
        if before is not None:
            kill_below(before[0])
        if meta.get("deletionTimestamp"):
            self._spawn(self._delete(pod))

    async def _refuse(self, pod: JsonObject, refusal: Refusal) -> None:
        meta = pod["metadata"]
        status = {
            "phase": "Failed",
            "reason": refusal.reason,
            "message": refusal.rejection,
            "startTime": format_time(self.machine.clock.now_ms()),
        }
        body = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "status": status}
        await self._try(
            self.machine.client.patch(
                self.machine.kinds.of(Pod), meta["namespace"], meta["name"], body, subresource="status"
            )
        )

    async def _delete(self, pod: JsonObject) -> None:
        meta = pod["metadata"]
        await self._try(
            self.machine.client.delete(
                self.machine.kinds.of(Pod), meta["namespace"], meta["name"], uid=meta["uid"], grace_seconds=0
            )
        )

    # the node itself

    async def _register(self) -> None:
        """Makes the Node, or brings it up to date."""
        node, kind = self._object(ready=True), self.machine.kinds.of(Node)
        try:
            standing = await self.machine.client.create(node)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            standing = await self.machine.client.get(kind, "", self.name)
            had = standing["metadata"].get("labels") or {}
            gone_labels = {key: None for key in had if key.startswith(gpus.LABELS)}
            labels = {"metadata": {"labels": {**gone_labels, **node["metadata"]["labels"]}}}
            standing = await self.machine.client.patch(kind, "", self.name, labels)
        offers = (standing.get("status") or {}).get("capacity") or {}
        gone = {resource: None for resource in offers if resource not in self._offered}
        offered = {"capacity": {**self._offered, **gone}, "allocatable": {**self._healthy(), **gone}}
        status = {**node["status"], **offered}
        await self.machine.client.patch(kind, "", self.name, {"status": status}, subresource="status")

    async def _say_living(self) -> None:
        """Registers it again if it is gone from the API or is said not to be ready."""
        try:
            node = await self.machine.client.get(self.machine.kinds.of(Node), "", self.name)
        except ApiError as error:
            if error.code != 404:
                raise
            node = {}
        conditions = (node.get("status") or {}).get("conditions") or []
        if not self._stopping and not any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
            LOG.info("node %s is said to be gone or not ready: registering it again", self.name)
            await self._register()

    async def _say_stopped(self) -> None:
        status = {"conditions": self._conditions(ready=False)}
        await self._try(
            self.machine.client.patch(
                self.machine.kinds.of(Node), "", self.name, {"status": status}, subresource="status"
            )
        )

    async def _beat(self) -> None:
        while True:
            await self._renew()
            await self._try(self._say_living())
            await self._try(self._say_pressure())
            if self._settings.cards:
                await self._try(self._say_health())
            await self.machine.clock.sleep_ms(self._settings.heartbeat_ms)

    async def _say_health(self) -> None:
        """Offers no card that is unhealthy, and tells of each once."""
        found = await asyncio.to_thread(self.machine.settings.gpu_health)
        now = {card.uuid: found[card.uuid] for card in self._settings.cards if card.uuid in found}
        before, self._unhealthy = self._unhealthy, now
        if before.keys() == now.keys():
            return
        self._room.allocatable[gpus.RESOURCE] = (len(self._settings.cards) - self.devices.avoid(now)) * MILLI
        for uuid in sorted(now.keys() - before.keys()):
            self._tell_of_card("GPUUnhealthy", f"GPU {uuid} is not offered any more: {now[uuid]}", "Warning")
        for uuid in sorted(before.keys() - now.keys()):
            self._tell_of_card("GPUHealthy", f"GPU {uuid} is offered again", "Normal")
        status = {"status": {"allocatable": self._healthy()}}
        kind = self.machine.kinds.of(Node)
        try:
            await self.machine.client.patch(kind, "", self.name, status, subresource="status")
        except BaseException:
            self._unhealthy = before  # it is still to be told
            raise

    def _tell_of_card(self, reason: str, message: str, type_: str) -> None:
        about = {"apiVersion": "v1", "kind": "Node", "name": self.name, "uid": self.name}
        self.machine.events.tell(Note(about, reason, message, type_), "kubelet")

    def _healthy(self) -> dict[str, str]:
        """What it offers, without the cards that are unhealthy."""
        if not self._unhealthy:
            return self._offered
        return {**self._offered, gpus.RESOURCE: str(len(self._settings.cards) - len(self._unhealthy))}

    async def _renew(self) -> None:
        kind, now = self.machine.kinds.of(Lease), format_micro_time(self.machine.clock.now_ms())
        spec = {"holderIdentity": self.name, "leaseDurationSeconds": 40, "renewTime": now}
        try:
            await self.machine.client.patch(kind, LEASE_NAMESPACE, self.name, {"spec": spec})
        except ApiError as error:
            if error.code != 404:
                LOG.warning("heartbeat of node %s: %s", self.name, error)
                return
            lease = {
                "apiVersion": kind.api_version,
                "kind": kind.kind,
                "metadata": {"name": self.name, "namespace": LEASE_NAMESPACE},
                "spec": spec,
            }
            await self._try(self.machine.client.create(lease))
        except OSError as error:
            LOG.warning("heartbeat of node %s: %s", self.name, error)

    def _object(self, ready: bool) -> JsonObject:
        labels = {
            "kubernetes.io/hostname": self.name,
            "kubernetes.io/arch": architecture(),
            "kubernetes.io/os": "linux",
            "node-role.kubernetes.io/worker": "",
            **gpus.labels_of(self._settings.cards),
            **self._settings.labels,
        }
        machine_id = boot_id()
        status = {
            "capacity": self._offered,
            "allocatable": self._healthy(),
            "conditions": self._conditions(ready),
            "addresses": [
                {"type": "InternalIP", "address": self.machine.settings.host_ip},
                {"type": "Hostname", "address": self.name},
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
            "nodeInfo": {
                "architecture": architecture(),
                "bootID": machine_id,
                "containerRuntimeVersion": f"kumi://{self._settings.version.removeprefix('v')}",
                "kernelVersion": platform.release(),
                "kubeProxyVersion": self._settings.version,
                "kubeletVersion": self._settings.version,
                "machineID": _first_line("/etc/machine-id"),
                "operatingSystem": "linux",
                "osImage": _os_image(),
                "systemUUID": machine_id,
            },
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": labels},
            "spec": {},
            "status": status,
        }

    def _conditions(self, ready: bool) -> list[JsonObject]:
        now = format_time(self.machine.clock.now_ms())
        self._pressure = self._read_pressure()
        if ready:
            last = ("Ready", "True", "KubeletReady", "kubelet is posting ready status")
        else:
            last = ("Ready", "False", "KubeletStopped", "kumi was stopped on this machine")
        found = []
        for type_, status, reason, message in (*self._pressure, last):
            standing = self._since.get(type_)
            since = standing[1] if standing is not None and standing[0] == status else now
            self._since[type_] = (status, since)
            condition = {"type": type_, "status": status, "reason": reason, "message": message}
            found.append({**condition, "lastHeartbeatTime": now, "lastTransitionTime": since})
        return found

    def _read_pressure(self) -> tuple[pressure.Verdict, ...]:
        try:
            return pressure.verdicts(pressure.read(self.machine.settings.data_dir))
        except (OSError, ValueError):
            return pressure.verdicts(None)

    async def _say_pressure(self) -> None:
        """Tells that the machine runs short of something, or no longer does."""
        before = self._pressure
        if self._read_pressure() == before or self._stopping:
            return
        status = {"conditions": self._conditions(ready=True)}
        try:
            await self.machine.client.patch(
                self.machine.kinds.of(Node), "", self.name, {"status": status}, subresource="status"
            )
        except BaseException:
            self._pressure = before  # it is still to be told
            raise

    async def _try(self, write: Awaitable[object]) -> None:
        """A write that may come too late: the object is gone, or the API is."""
        try:
            await write
        except (ApiError, OSError) as error:
            LOG.debug("node %s: %s", self.name, error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").split("\n")[0].strip()
    except OSError:
        return ""


def _os_image() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"


def _unexpected(error: KumiError) -> Refusal:
    return Refusal("UnexpectedAdmissionError", f"Allocate failed due to {error}, which is unexpected")
