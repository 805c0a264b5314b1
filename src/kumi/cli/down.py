"""`kumi down`: stops the cluster of a data directory and everything that it runs."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import click

from kumi.cli.instance import read_instance
from kumi.cli.options import data_dir_option


@click.command("down")
@data_dir_option
@click.option("--seconds", default=60.0, show_default=True, help="How long to wait before it is killed.")
def command(data_dir: Path, seconds: float) -> None:
    """Stop the cluster of this machine. Pods get SIGTERM and their grace; what the API holds stays, and jobs go on at the
    next `kumi up` with the same --data-dir."""
    instance = read_instance(data_dir)
    if instance is None:
        from kumi.kubelet.machine import kill_everything

        kill_everything(data_dir)
        click.echo(f"no cluster runs in {data_dir}; what one that died left running is killed")
        return
    os.kill(instance.pid, signal.SIGTERM)
    end = time.monotonic() + seconds
    while instance.runs():
        if time.monotonic() > end:
            with contextlib.suppress(ProcessLookupError):
                os.kill(instance.pid, signal.SIGKILL)
            click.echo(
                f"it did not stop in {seconds:.0f} s and was killed; the next kumi up cleans up after it", err=True
            )
            sys.exit(1)
        time.sleep(0.02)
    click.echo("stopped")
