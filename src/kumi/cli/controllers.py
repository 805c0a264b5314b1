"""`kumi controllers`: every loop of a cluster, run from beside its API server: same code, other transport.

Of several that run at once one works; the others wait for its lease, and take over when it is gone.
With --metrics-listen it tells of its work queues and deciders at http://ADDRESS/metrics, to this machine alone, and whether it is
well at /readyz; one that waits has nothing to tell but of itself.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kumi.api.errors import KumiError
from kumi.api.measures import Family, one
from kumi.cli.policy_file import PolicyFile, policy_option

if TYPE_CHECKING:
    from kumi.cli.loops import Loops
    from kumi.kube.client import HttpClient
    from kumi.runtime.polling import Source

NAMESPACE, LEASE = "kube-system", "kumi-controllers"


@click.command("controllers")
@click.option("--kubeconfig", default="", help="Which cluster (default: $KUBECONFIG, else that of kumi up).")
@click.option("--all", "which", flag_value="all", default=True, help="Every loop of a cluster (default).")
@click.option("--bare", "which", flag_value="bare", help="Only the loops of `kumi up --bare`.")
@click.option("--own", "which", flag_value="own", help="Only Kumi's, beside Kubernetes' own: for pods that name kumi.")
@policy_option
@click.option(
    "--replays",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(tempfile.gettempdir()) / "kumi-replays",
    show_default=True,
    help="Where a loop that finds a bug of its own leaves what it saw.",
)
@click.option(
    "--metrics-listen",
    default="",
    metavar="ADDRESS:PORT",
    help="Serve /metrics and /readyz on this loopback address (default: nowhere).",
)
@click.option("--verbose", "-v", is_flag=True, help="Log every decision.")
def command(
    kubeconfig: str, which: str, policy: Path | None, replays: Path, metrics_listen: str, verbose: bool
) -> None:
    """Run the loops of a cluster that was started with `kumi up --no-controllers`, until Ctrl-C; with --own, those of Kumi
    alone, on a cluster that has Kubernetes' own."""
    import uvloop

    from kumi.cli.loads import over_http
    from kumi.cli.log import set_up
    from kumi.cli.loops import ALL, BARE, OWN, Loops

    set_up(verbose)
    file = PolicyFile(policy)
    choices = {"all": lambda: ALL(file.profile), "bare": BARE, "own": lambda: OWN(file.profile)}

    def make(client: HttpClient) -> Loops:
        def sources() -> Sequence[Source]:
            return () if which == "bare" else over_http(file.profile, client)

        return Loops(client, choices[which], replays, file.changed, sources)

    uvloop.run(_run(kubeconfig, make, metrics_listen))


async def _run(kubeconfig: str, make: Callable[[HttpClient], Loops], metrics_listen: str) -> None:
    from kumi.api.coordination import Lease
    from kumi.api.scheme import SCHEME, load
    from kumi.kube.client import HttpClient
    from kumi.kube.config import load_config
    from kumi.runtime.clock import RealClock
    from kumi.runtime.leader import Election, Leader
    from kumi.sdk.places import find_kubeconfig

    load()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    at_work: list[Loops] = []
    async with (
        telling(metrics_listen, at_work),
        HttpClient(load_config(find_kubeconfig(kubeconfig))) as client,
    ):
        identity = f"{socket.gethostname()}-{os.getpid()}"
        leader = Leader(client, SCHEME.of(Lease), RealClock(), Election(NAMESPACE, LEASE, identity))

        async def work() -> None:
            click.echo(f"The loops run, as {identity}")
            loops = make(client)
            at_work[:] = [loops]
            try:
                await loops.run()
            finally:
                at_work.clear()

        async def lead() -> None:
            while True:
                await leader.hold(work)

        leading, stopped = asyncio.create_task(lead()), asyncio.create_task(stop.wait())
        await asyncio.wait([leading, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        leading.cancel()
        if stop.is_set():
            await asyncio.gather(leading, return_exceptions=True)
        else:
            await leading


@asynccontextmanager
async def telling(listen: str, at_work: Sequence[Loops]) -> AsyncIterator[None]:
    """Serves the metrics of the loops that are at work, if any; "" serves nothing. KumiError: nobody can listen there."""
    if not listen:
        yield
        return
    from kumi.apiserver.metrics import make_metrics_app
    from kumi.apiserver.server import Server

    def measures() -> Iterator[Family]:
        yield one("kumi_controllers_leading", "1 while the loops run here.", "gauge", len(at_work))
        for loops in at_work:
            yield from loops.measures()

    def sound() -> bool:
        return all(check() for loops in at_work for check in loops.checks().values())

    host, _, port = listen.rpartition(":")
    if not port.isdecimal():
        raise KumiError(f"--metrics-listen {listen}: it must be ADDRESS:PORT")
    server = Server(make_metrics_app([measures], {"deciders": sound}), host=host.strip("[]"), port=int(port))
    try:
        await server.start()
    except OSError as error:
        raise KumiError(f"--metrics-listen {listen} can't be used: {error.strerror or error}") from error
    click.echo(f"Metrics are at {server.url}/metrics")
    try:
        yield
    finally:
        await server.stop()
