"""A cluster on one machine: every room wired together in one process and one event loop.

    store -> registry -> API server        what is acknowledged is on disk
               |-> informers -> controllers, deciders      in process, through LocalClient
               `-> nodes                                   pods as processes

Order of the start: the store (which locks the data directory), the API server, the loops, the nodes; what a client sees is
complete from its first answer on, since the kubeconfig and server.json are written last. The stop goes the other way: nodes
end their processes while the API still takes their last words, and server.json goes when nothing runs any more.
A loop that ends by an error ends the cluster: a half of one that still answers would be a lie. So does a data directory that
is removed or replaced below it: what would be acknowledged then is lost, and `kumi down` could not find what runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aiohttp.web import Application

from kumi.api.core import Node
from kumi.api.errors import KumiError
from kumi.api.metrics import node_metrics
from kumi.api.quantity import QuantityError, parse
from kumi.api.scheme import SCHEME, load
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.identity import Identity
from kumi.apiserver.pki import authority_pem
from kumi.apiserver.server import Server
from kumi.apiserver.webhooks import HttpCaller
from kumi.cli.access import authenticators, in_cluster, names_of, publish_authority
from kumi.cli.instance import forget_instance, write_instance
from kumi.cli.loads import in_process
from kumi.cli.loops import ALL, BARE, NONE, Choice, Loops
from kumi.cli.policy_file import PolicyFile
from kumi.cli.storage import provide_class
from kumi.controllers.not_yet_in_force import NotYetInForce
from kumi.jobs.pod_hook import PodHook
from kumi.jobs.queue_hook import QueueHook
from kumi.kubelet.commands import ProcessCommands
from kumi.kubelet.gpus import Card, Health, find, load_nvml, shares_of
from kumi.kubelet.log_files import LINE_BYTES, Limits
from kumi.kubelet.logs import ProcessLogs
from kumi.kubelet.machine import Machine
from kumi.kubelet.meter import Meter
from kumi.kubelet.node import ProcessNode
from kumi.kubelet.sandbox import Extra, plan_of
from kumi.kubelet.settings import MachineSettings, NodeSettings
from kumi.registry.bootstrap import bootstrap
from kumi.registry.claim_defaults import ClaimDefaults
from kumi.registry.gang_rules import GangRules
from kumi.registry.hooks import AdmissionHook
from kumi.registry.local import LocalClient
from kumi.registry.objects import Objects
from kumi.registry.pod_identity import PodIdentity
from kumi.registry.registry import Registry
from kumi.registry.uids import Uids
from kumi.runtime.client import Client
from kumi.runtime.clock import RealClock
from kumi.runtime.polling import Source
from kumi.store.base import StoreFailed
from kumi.store.sqlite import SqliteStore

log = logging.getLogger(__name__)

GPU = "nvidia.com/gpu"
NO_SANDBOX = "none"
PROCESS_NODE = "kumi.dev/process-node"
"""label of the nodes that a cluster on one machine makes for itself"""
COMPACT_EVERY_S = 60.0
LOOK_EVERY_S = 1.0
"""Between two looks whether the data directory is still there."""
KEEP_REVISIONS = 10_000
"""Writes that stay watchable: at ten a job, those of the last thousand jobs."""


@dataclass(frozen=True)
class Settings:
    """What `kumi up` was asked for. `port` 0: the one of last time if it is free, else any. `cpus`, `memory`: quantities that
    each node offers, "" the machine's. `gpus`: that each node offers, None for the machine's real ones, shared out."""

    data_dir: Path
    working_dir: Path
    nodes: int = 1
    gpus: int | None = 0
    cpus: str = ""
    memory: str = ""
    pods: int = 110
    port: int = 0
    listen: str = "127.0.0.1"
    """address to serve on"""
    token_file: Path | None = None
    """users with bearer tokens, beside the administrator"""
    log_size: str = "10Mi"
    """quantity of bytes: a container's log goes on in a new file when one has that size"""
    log_files: int = 5
    """files of a container's log that are kept"""
    sandbox: str = NO_SANDBOX
    """what pods run in"""
    share: tuple[Path, ...] = ()
    show: tuple[Path, ...] = ()
    """directories that sandboxed pods may write, and read"""
    policy: Path | None = None
    """how is decided"""
    bare: bool = False
    """only an API server, with the loops that keep its word"""
    controllers: bool = True
    """whether loops run here; else `kumi controllers` does it, beside"""

    def loops(self, policy: PolicyFile) -> Choice:
        """Those that run in this process."""
        if not self.controllers:
            return NONE
        return BARE if self.bare else lambda: ALL(policy.profile)

    def sources(self, policy: PolicyFile, meter: Meter) -> Sequence[Source]:
        """What the loops of this process are told of that can't be watched. `meter` measures the nodes."""
        if self.bare or not self.controllers:
            return ()

        async def measures() -> Sequence[JsonObject]:
            found = ((name, meter.node(name)) for name in self.names())
            return [node_metrics(name, {}, usage) for name, usage in found if usage is not None]

        return in_process(policy.profile, measures)

    def machine(self, api: Mapping[str, str]) -> MachineSettings:
        """Of the machine. KumiError: the sandbox that is asked for can't be had."""
        made = MachineSettings(self.data_dir, working_dir=self.working_dir, api=api, log=self.log())
        if self.sandbox == NO_SANDBOX:
            return made
        extra = Extra(self.share, self.show)
        return replace(made, sandbox=plan_of(self.data_dir, self.working_dir, made.environment, extra))

    def node(self, cards: Sequence[Card] = ()) -> NodeSettings:
        """Of each node; `cards`: its real GPUs."""
        given = {"cpu": self.cpus, "memory": self.memory, GPU: str(self.gpus) if self.gpus else ""}
        resources = {name: amount for name, amount in given.items() if amount}
        return NodeSettings(resources, pods=self.pods, cards=cards, labels={PROCESS_NODE: ""})

    def log(self) -> Limits:
        """Of each container. KumiError: the size is no quantity, or none to speak of."""
        try:
            size = parse(self.log_size, "memory")
        except QuantityError as error:
            raise KumiError(f"--log-size {self.log_size}: {error}") from error
        if size < LINE_BYTES:
            raise KumiError(f"--log-size {self.log_size}: it must be at least {LINE_BYTES} bytes")
        return Limits(size, self.log_files)

    def names(self) -> list[str]:
        """Of the nodes."""
        return [] if self.bare else [f"node-{number}" for number in range(self.nodes)]


async def serve(settings: Settings, on_ready: Callable[[str], None]) -> None:
    """Runs a cluster until SIGTERM or SIGINT; `on_ready` gets the URL. KumiError: it can't start."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with running(settings) as (url, failed):
        on_ready(url)
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait([stopped, failed], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if failed.done():
            await _tell(failed)


async def _tell(failed: asyncio.Task[None]) -> None:
    """Raises what ended the loops: a KumiError alone is one line for people, anything else is told whole."""
    try:
        await failed
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1 and isinstance(group.exceptions[0], KumiError):
            raise group.exceptions[0] from None
        raise


@contextlib.asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """A cluster that is up: (its URL, a task that ends only by an error of one of its loops)."""
    scheme, clock = load(), RealClock()
    store = SqliteStore.open(settings.data_dir / "kumi.db")
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(store.close)
        stack.callback(forget_instance, settings.data_dir)
        identity = Identity(settings.data_dir, clock.now_ms, names_of(settings.listen))
        hooks: list[AdmissionHook] = [QueueHook(), PodHook(), NotYetInForce()]
        if not settings.bare:
            hooks.append(GangRules(Objects(store), scheme))
            hooks += [PodIdentity(Objects(store), scheme), ClaimDefaults(Objects(store), scheme)]
        caller = HttpCaller()
        stack.push_async_callback(caller.close)
        registry = Registry(store, scheme, clock.now_ms, Uids(clock.now_ms), hooks, identity.signer, caller=caller)
        await bootstrap(registry)
        client: Client = LocalClient(registry)
        if not settings.bare:
            await publish_authority(client, authority_pem(identity.directory))
            await provide_class(client)
        logs, commands = ProcessLogs(settings.data_dir, clock), ProcessCommands()
        proofs = authenticators(identity, registry, clock.now_ms, settings.token_file)
        policy = PolicyFile(settings.policy)
        meter = Meter(clock)
        loops = Loops(
            client,
            settings.loops(policy),
            settings.data_dir / "replays",
            policy.changed,
            lambda: settings.sources(policy, meter),
        )
        app = make_app(
            registry,
            scheme,
            clock_ms=clock.now_ms,
            logs=logs,
            execs=commands,
            authenticators=proofs,
            checks=loops.checks(),
            measures=(store.measures, loops.measures),
            lines=loops,
            usage=meter,
            key=identity.signer,
        )
        server = await _listen(app, identity, settings)
        stack.push_async_callback(server.stop)
        running_loops = asyncio.create_task(_run_loops(loops, store, settings))
        stack.push_async_callback(_end, running_loops)
        commands.serve(await _run_nodes(client, settings, server.url, meter, stack))
        identity.write_kubeconfig(settings.data_dir / "kubeconfig", server.url)
        write_instance(settings.data_dir, server.url)
        (settings.data_dir / "port").write_text(str(server.port))
        yield server.url, running_loops


async def _listen(app: Application, identity: Identity, settings: Settings) -> Server:
    """On the port asked for, else on that of last time (so that old kubeconfigs go on working), else on any."""
    last = 0
    with contextlib.suppress(OSError, ValueError):
        last = int((settings.data_dir / "port").read_text())
    for port in dict.fromkeys([settings.port] if settings.port else [last, 0]):
        server = Server(app, host=settings.listen, port=port, identity=identity)
        try:
            await server.start()
        except OSError as error:
            if port and port == settings.port:
                raise KumiError(f"--port {port} can't be used: {error.strerror or error}") from error
            continue
        return server
    raise KumiError(f"no port of {settings.listen} can be listened on")


async def _run_loops(loops: Loops, store: SqliteStore, settings: Settings) -> None:
    """The loops, compaction, a look at the file; ends only by an error."""
    async with asyncio.TaskGroup() as group:
        group.create_task(loops.run())
        group.create_task(_compact(store))
        group.create_task(_keep_watch(settings.data_dir / "kumi.db"))


async def _compact(store: SqliteStore) -> None:
    while True:
        await asyncio.sleep(COMPACT_EVERY_S)
        try:
            await store.compact_keep(KEEP_REVISIONS)
        except StoreFailed as failed:
            log.warning("old revisions are kept until the disk lets them go: %s", failed)


async def _keep_watch(file: Path) -> None:
    """KumiError once the file is no longer the one that it was."""
    known = _which(file)
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        if _which(file) != known:
            raise KumiError(f"{file} was removed or replaced: stopping, since nothing can be kept any more")


def _which(file: Path) -> tuple[int, int] | None:
    """A file, told from every other that has or had its name; None: there is none."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


async def _run_nodes(
    client: Client, settings: Settings, url: str, meter: Meter, stack: contextlib.AsyncExitStack
) -> Machine:
    """Starts the nodes of the machine that comes back, and removes those of last time that are no more.
    `url`: where their pods find the API; `meter`: who measures them."""
    await _remove_old_nodes(client, set(settings.names()))
    names, cards = settings.names(), list[Card]()
    data = settings.machine(in_cluster(url))
    if settings.gpus is None and names:
        cards, health = _real_gpus()
        data = replace(data, gpu_health=health.look)
    machine = Machine(client, data, RealClock(), meter)
    shares = zip(names, shares_of(cards, len(names)), strict=True)
    nodes = [ProcessNode(name, settings.node(share), machine) for name, share in shares]
    await machine.start()
    stack.push_async_callback(machine.stop)
    await asyncio.gather(*(node.start() for node in nodes))

    async def stop() -> None:
        await asyncio.gather(*(node.stop() for node in nodes))

    stack.push_async_callback(stop)
    return machine


def _real_gpus() -> tuple[list[Card], Health]:
    """The machine's GPUs that can be offered; others are told of. KumiError: there is none."""
    library = load_nvml()
    found = find(library, os.environ.get("CUDA_VISIBLE_DEVICES"))
    for sentence in found.left_alone:
        log.warning("%s", sentence)
    return found.cards, Health(library, found.cards)


async def _remove_old_nodes(client: Client, names: set[str]) -> None:
    kind = SCHEME.of(Node)
    for node in (await client.list(kind)).items:
        meta = node["metadata"]
        if meta["name"] not in names and PROCESS_NODE in meta.get("labels", {}):
            await client.delete(kind, "", meta["name"], uid=meta["uid"])


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await task
