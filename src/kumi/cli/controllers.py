"""`kumi controllers`: every loop of a cluster, run from beside its API server: same code, other transport.

Of several that run at once one works; the others wait for its lease, and take over when it is gone.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
from pathlib import Path

import click

NAMESPACE, LEASE = "kube-system", "kumi-controllers"


@click.command("controllers")
@click.option("--kubeconfig", default="", help="Which cluster (default: $KUBECONFIG, else that of kumi up).")
@click.option("--bare", is_flag=True, help="Only the loops of `kumi up --bare`.")
@click.option(
    "--replays",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(tempfile.gettempdir()) / "kumi-replays",
    show_default=True,
    help="Where a loop that finds a bug of its own leaves what it saw.",
)
@click.option("--verbose", "-v", is_flag=True, help="Log every decision.")
def command(kubeconfig: str, bare: bool, replays: Path, verbose: bool) -> None:
    """Run the loops of a cluster that was started with `kumi up --no-controllers`, until Ctrl-C."""
    import uvloop

    from kumi.cli.log import set_up

    set_up(verbose)
    uvloop.run(_run(kubeconfig, bare, replays))


async def _run(kubeconfig: str, bare: bool, replays: Path) -> None:
    from kumi.api.coordination import Lease
    from kumi.api.scheme import SCHEME, load
    from kumi.cli.loops import ALL, BARE, run_loops
    from kumi.kube.client import HttpClient
    from kumi.kube.config import load_config
    from kumi.runtime.clock import RealClock
    from kumi.runtime.leader import Election, Leader
    from kumi.sdk.places import find_kubeconfig

    load()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with HttpClient(load_config(find_kubeconfig(kubeconfig))) as client:
        identity = f"{socket.gethostname()}-{os.getpid()}"
        leader = Leader(client, SCHEME.of(Lease), RealClock(), Election(NAMESPACE, LEASE, identity))

        async def work() -> None:
            click.echo(f"The loops run, as {identity}")
            await run_loops(client, BARE if bare else ALL, replays)

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
