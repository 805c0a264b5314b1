"""A cluster of nodes and nothing else: a registry in memory, a machine, nodes that run real processes."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kumi.api import scheme
from kumi.api.core import ConfigMap, Node, Pod, Secret, Service
from kumi.api.errors import ApiError
from kumi.api.meta import Object
from kumi.api.wire import JsonObject
from kumi.kubelet.logs import ProcessLogs
from kumi.kubelet.machine import Machine, kill_everything
from kumi.kubelet.node import ProcessNode
from kumi.kubelet.pod_plan import Backoff
from kumi.kubelet.settings import MachineSettings, NodeSettings
from kumi.registry.bootstrap import bootstrap
from kumi.registry.local import LocalClient
from kumi.registry.registry import Registry
from kumi.runtime.clock import RealClock
from kumi.runtime.streams import LogOptions
from kumi.store.base import Store
from kumi.store.memory import MemoryStore

PATIENCE_S = 30.0
FAST = Backoff(base_ms=50, most_ms=200, retry_ms=20, retry_most_ms=100)


class Cluster:
    """`await cluster.start()`; `await cluster.run(pod)`; `await cluster.until(name, condition)`; `await cluster.stop()`."""

    def __init__(
        self,
        data_dir: Path,
        nodes: dict[str, NodeSettings] | None = None,
        store: Store | None = None,
        **settings: Any,
    ) -> None:
        self.data_dir, self.clock = data_dir, RealClock()
        uids = itertools.count(1)
        seed = data_dir.name
        self.registry = Registry(
            store or MemoryStore(), scheme.load(), self.clock.now_ms, lambda: f"{seed}-{next(uids):04d}"
        )
        self.client = LocalClient(self.registry)
        self.settings = {"working_dir": data_dir, "backoff": FAST, **settings}
        self.node_settings = nodes or {"n1": NodeSettings()}
        self.logs = ProcessLogs(data_dir, self.clock)
        self._booted = False

    async def start(self) -> None:
        """Starts, or starts again on the same data and the same API."""
        if not self._booted:
            await bootstrap(self.registry)
            self._booted = True
        self.machine = Machine(self.client, MachineSettings(self.data_dir, **self.settings), self.clock)
        self.nodes = {name: ProcessNode(name, s, self.machine) for name, s in self.node_settings.items()}
        for node in self.nodes.values():
            await node.start()

    async def stop(self) -> None:
        """As `kumi down`."""
        await asyncio.gather(*(node.stop() for node in self.nodes.values()))
        await self.machine.stop()

    async def crash(self) -> None:
        """As kill -9, as far as one process can: nobody says anything, nothing is ended."""
        await asyncio.gather(*(node.close() for node in self.nodes.values()))
        await self.machine.stop()

    def end(self) -> None:
        """After the test."""
        kill_everything(self.data_dir)
        shutil.rmtree(self.data_dir, ignore_errors=True)

    async def run(self, *pods: JsonObject) -> None:
        """Creates pods that are bound already."""
        for pod in pods:
            await self.client.create(pod)

    async def get(self, name: str, type_: type[Object] = Pod, namespace: str = "default") -> JsonObject | None:
        """An object, None if it is not there."""
        kind = self.registry.scheme.of(type_)
        try:
            return await self.client.get(kind, namespace if kind.namespaced else "", name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def until(self, name: str, holds: Callable[[JsonObject], Any], what: str = "") -> JsonObject:
        """The pod, as soon as something holds of it."""

        async def look() -> JsonObject:
            while True:
                pod = await self.get(name)
                if pod is not None and holds(pod):
                    return pod
                await asyncio.sleep(0.005)

        try:
            return await asyncio.wait_for(look(), PATIENCE_S)
        except TimeoutError:
            raise AssertionError(
                f"pod {name} never was {what or 'so'}: {(await self.get(name) or {}).get('status')}"
            ) from None

    async def phase(self, name: str, wanted: str) -> JsonObject:
        """The pod, as soon as it is in that phase."""
        return await self.until(name, lambda p: (p.get("status") or {}).get("phase") == wanted, wanted)

    async def gone(self, name: str) -> None:
        """Returns when the pod is gone and so are its files."""
        await eventually(lambda: not list((self.data_dir / "pods").glob(f"*_{name}_*")), f"{name} gone from disk")
        assert await self.get(name) is None

    async def log(self, name: str, **options: Any) -> str:
        """What kubectl logs would print."""
        pod = await self.get(name)
        assert pod is not None
        return b"".join([piece async for piece in self.logs.logs(pod, LogOptions(**options))]).decode()

    async def delete(self, name: str, grace_seconds: int | None = None) -> None:
        """Deletes a pod."""
        await self.client.delete(self.registry.scheme.of(Pod), "default", name, grace_seconds=grace_seconds)


async def eventually(holds: Callable[[], Any], what: str) -> None:
    """Returns as soon as it holds."""
    for _ in range(int(PATIENCE_S / 0.01)):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"never: {what}")


def container(script: str, name: str = "main", **fields: Any) -> JsonObject:
    """A container that runs a shell script."""
    return {"name": name, "image": "any", "command": ["/bin/sh", "-c", script], **fields}


def pod(name: str, *containers: JsonObject | str, node: str = "n1", **spec: Any) -> JsonObject:
    """A pod that is bound to a node; `meta` goes to its metadata."""
    meta = spec.pop("meta", {})
    made = [container(c) if isinstance(c, str) else c for c in containers]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", **meta},
        "spec": {"nodeName": node, "restartPolicy": "Never", "containers": made, **spec},
    }


def state(found: JsonObject, name: str = "main") -> JsonObject:
    """The state of a container."""
    return dict(status(found, name)["state"])


def status(found: JsonObject, name: str = "main") -> JsonObject:
    """The status of a container."""
    standing = found.get("status") or {}
    all_ = [*(standing.get("initContainerStatuses") or ()), *(standing.get("containerStatuses") or ())]
    return dict(next((s for s in all_ if s["name"] == name), {"state": {}, "lastState": {}, "restartCount": 0}))


__all__ = ["Cluster", "ConfigMap", "Node", "Secret", "Service", "container", "eventually", "pod", "state", "status"]
