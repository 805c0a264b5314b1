"""What a container is started with, and what a command that joins it gets: the same environment, mounts and directory.

Later entries win: what containers inherit of Kumi's environment, its devices and its volumes' directories, HOSTNAME; then
what it declares (environment.py).

Not here   starting it: process.py.
"""

from __future__ import annotations

from kumi.api.wire import JsonObject
from kumi.jobs import injected
from kumi.kubelet import devices, environment, inside, last_words, mounts, shim, volumes
from kumi.kubelet.environment import Environment, Facts, Substitution
from kumi.kubelet.machine import Machine
from kumi.kubelet.pod_plan import containers_of
from kumi.kubelet.pod_record import PodRecord
from kumi.kubelet.process import MARK, Process


class Outfit:
    """Of the containers of one pod. `offered`: the node's devices; `allocatable`: all it offers, in base units."""

    def __init__(
        self, machine: Machine, record: PodRecord, offered: dict[str, int], allocatable: dict[str, int]
    ) -> None:
        self._machine, self._record = machine, record
        self._offered, self._allocatable = offered, allocatable

    async def request(self, pod: JsonObject, name: str, stem: str) -> shim.Request:
        """How an attempt of a container is started. CannotConfigure."""
        settings = self._machine.settings
        container = containers_of(pod)[name]
        sources = await self._machine.sources(self._record.namespace, *environment.wanted_of(container))
        self._machine.write_hosts()
        declared = environment.declared(container, self.facts(pod), sources, self._substitution(pod))
        argv = environment.command_line(container, declared)
        base = self._base(pod, name, stem)
        found = volumes.mounts_of(container, pod, self._record.places, declared, self._machine.isolation)
        if self._machine.isolation != mounts.NONE:
            found.append(mounts.Mount(str(self._hosts), "/etc/hosts"))
            if path := last_words.path_of(container):
                found.append(mounts.Mount(last_words.make_file(stem), path))
        return shim.Request(
            stem,
            argv,
            {**base, **declared},
            container.get("workingDir") or str(settings.working_dir),
            self._machine.isolation,
            self._hostname(pod),
            [list(m) for m in found],
            [d for d in (str(settings.working_dir), base.get("HOME", "")) if d not in ("", "/")],
            str(self._machine.staging),
        )

    def facts(self, pod: JsonObject) -> Facts:
        """What the downward API tells."""
        return Facts(pod, self._machine.settings.host_ip, self._record.address, self._allocatable)

    def _base(self, pod: JsonObject, name: str, stem: str) -> Environment:
        """What a container has without declaring it."""
        inherited = self._machine.settings.environment
        given = self._record.devices.get(name, {})
        own = devices.variables_of(given, self._offered, inherited.get("CUDA_VISIBLE_DEVICES"))
        base = (
            environment.base_of(inherited)
            | dict(self._machine.settings.api)
            | own
            | volumes.variables_of(self._record.places)
        )
        return base | {"HOSTNAME": self._hostname(pod), MARK: stem, "KUMI_HOSTS": str(self._hosts)}

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
    """A command in the container that was started so and whose shim is `process`; its `argv` is yet to come."""
    return inside.Request(list(process.who), [], request.environment, request.working_dir, request.isolation)
