"""`kumi record FILE`: what happens in a cluster, written down for the time machine until somebody says stop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import click


@click.command("record")
@click.option("--kubeconfig", default="", help="Which cluster (default: $KUBECONFIG, else that of kumi up).")
@click.option("--for", "seconds", type=click.FloatRange(0, min_open=True), help="Stop after so many seconds.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def command(kubeconfig: str, seconds: float | None, file: Path) -> None:
    """Record what happens in the cluster into FILE: nodes, queues, jobs, pods and all that decisions depend on, as it changes.
    Ctrl-C stops; with the same FILE it goes on where it stopped. Play it: kumi evaluate --format kumi --jobs FILE."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_record(kubeconfig, seconds, file))


async def _record(kubeconfig: str, seconds: float | None, path: Path) -> None:
    from kumi.evaluator.recording import File, Recorder
    from kumi.runtime.clock import RealClock
    from kumi.sdk import connect

    clock = RealClock()
    async with connect(kubeconfig) as kumi:
        with File(path, clock.now_ms()) as file:
            recorder = Recorder(kumi.client, file, clock, lambda text: click.echo(text, err=True))
            click.echo(f"{'recording on' if file.resumed else 'recording'} into {path}; Ctrl-C stops", err=True)
            try:
                async with asyncio.timeout(seconds):
                    await recorder.run()
            except TimeoutError:
                if seconds is None:
                    raise
            finally:
                if recorder.missing:
                    click.echo(f"the cluster has none of: {', '.join(recorder.missing)}", err=True)
                click.echo(f"{file.written} changes written to {path}", err=True)
