"""What a container is started with, and what a command that joins it gets: the same environment, mounts and directory.

Later entries win: what containers inherit of Kumi's environment, its devices and its volumes' directories, HOSTNAME; then
what it declares (environment.py); then Kumi's own mark, KUMI_CONTAINER. In a sandbox little is inherited (sandbox.py).

Not here   starting it: process.py.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject
from kumi.jobs import injected
from kumi.kubelet import environment, handlers, inside, last_words, mounts, records, sandbox, shim, volumes
from kumi.kubelet.devices import Devices
from kumi.kubelet.environment import CannotConfigure, Environment, Facts, Substitution
from kumi.kubelet.machine import Machine
from kumi.kubelet.pod_plan import containers_of
from kumi.kubelet.pod_record import PodRecord
from kumi.kubelet.process import MARK, Process


class Outfit:
    """Of the containers of one pod. `devices`: the node's; `allocatable`: all it offers, in base units."""

    def __init__(self, machine: Machine, record: PodRecord, devices: Devices, allocatable: dict[str, int]) -> None:
        self._machine, self._record = machine, record
        self._devices, self._allocatable = devices, allocatable

    def check(self, pod: JsonObject) -> None:
        """CannotConfigure for a pod that may not have the volumes that it names."""
        if self._machine.settings.sandbox is not None:
            sandbox.check_host_paths(pod, self._machine.settings.sandbox)

    async def request(self, pod: JsonObject, name: str, stem: str) -> shim.Request:
        """How an attempt of a container is started. CannotConfigure."""
        settings = self._machine.settings
        container = containers_of(pod)[name]
        if trouble := handlers.unknown(container):
            raise CannotConfigure(trouble)
        sources = await self._machine.sources(self._record.namespace, *environment.wanted_of(container))
        self._machine.write_hosts()
        declared = environment.declared(container, self.facts(pod), sources, self._substitution(pod))
        argv = environment.command_line(container, declared)
        base = self._base(pod, name)
        found = volumes.mounts_of(
            container, pod, self._record.places, declared, self._machine.isolation, read_only=self._record.read_only
        )
        if self._machine.isolation != mounts.NONE:
            shared = self._machine.isolation == mounts.SANDBOX  # and not for one of them to write
            found.append(mounts.Mount(str(self._hosts), "/etc/hosts", read_only=shared))
            if path := last_words.path_of(container, machine_s_dev=self._machine.isolation != mounts.SANDBOX):
                found.append(mounts.Mount(last_words.make_file(stem), path))
        return shim.Request(
            stem,
            argv,
            {**base, **declared, MARK: stem},
            container.get("workingDir") or str(settings.working_dir),
            self._machine.isolation,
            self._hostname(pod),
            [list(m) for m in found],
            [d for d in (str(settings.working_dir), base.get("HOME", "")) if d not in ("", "/")],
            str(self._machine.staging),
            list(settings.log),
            self._sandbox(name),
            [bool(container.get(field)) for field in ("stdin", "stdinOnce", "tty")],
        )

    def facts(self, pod: JsonObject) -> Facts:
        """What the downward API tells."""
        return Facts(pod, self._machine.settings.host_ip, self._record.address, self._allocatable)

    def _sandbox(self, name: str) -> list[object]:
        """The container's own sandbox_view.Plan, as it travels."""
        plan = self._machine.settings.sandbox
        if plan is None:
            return []
        own = sandbox.device_nodes(self._devices.minors_of(self._record.devices.get(name, {})))
        return list(plan._replace(devices=[*plan.devices, *own]))

    def _base(self, pod: JsonObject, name: str) -> Environment:
        """What a container has without declaring it."""
        settings = self._machine.settings
        inherited = environment.base_of(settings.environment)
        places = volumes.variables_of(self._record.places) | {"KUMI_HOSTS": str(self._hosts)}
        if settings.sandbox is not None:
            inherited, places = sandbox.variables_of(inherited), {}
        visible = settings.environment.get("CUDA_VISIBLE_DEVICES")
        own = self._devices.variables_of(self._record.devices.get(name, {}), visible)
        terminal = {"TERM": "xterm"} if containers_of(pod)[name].get("tty") else {}
        base = inherited | dict(settings.api) | own | places | terminal
        return base | {"HOSTNAME": self._hostname(pod)}

    @property
    def _hosts(self) -> object:
        return self._machine.hosts_path(self._record.namespace, self._record.uid)

    def _hostname(self, pod: JsonObject) -> str:
        return str(pod["spec"].get("hostname") or self._record.name)

    def _substitution(self, pod: JsonObject) -> Substitution | None:
        found = note(pod)
        if found is None:
            return None
        if self._machine.isolation != mounts.NONE:
            return Substitution(found, self._record.port)
        return Substitution(found, self._record.port, self._address_of)

    def _address_of(self, name: str) -> str | None:
        return self._machine.names.address_of(name, self._record.namespace)


def note(pod: JsonObject) -> injected.Injected | None:
    """What the pod's job kind injected."""
    return injected.decode(pod["metadata"].get("annotations") or {})


def joining(request: shim.Request, process: Process) -> inside.Request:
    """A command in the container that was started so and whose shim is `process`; its `argv` is yet to come. It may have been
    started by a Kumi that isolated otherwise."""
    began = records.read(f"{request.stem}.run") or {}
    isolation = str(began.get("isolation", request.isolation))
    return inside.Request(list(process.who), [], request.environment, request.working_dir, isolation, stem=request.stem)
