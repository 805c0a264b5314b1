"""`kumi down`: stops the cluster of a data directory and everything that it runs."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import click

from kumi.cli.instance import holder, read_instance, starter
from kumi.cli.options import data_dir_option
from kumi.kubelet.records import Who


@click.command("down")
@data_dir_option
@click.option("--seconds", default=60.0, show_default=True, help="How long to wait before it is killed.")
def command(data_dir: Path, seconds: float) -> None:
    """Stop the cluster of this machine. Pods get SIGTERM and their grace; what the API holds stays, and jobs go on at the
    next `kumi up` with the same --data-dir."""
    data_dir = data_dir.absolute()
    instance = read_instance(data_dir)
    who = instance.who if instance else holder(data_dir) or starter(data_dir)
    if who is None:
        _kill_what_is_left(data_dir)
        click.echo(f"no cluster runs in {data_dir}; what one that died left running is killed")
    elif _stops(who, seconds):
        _kill_what_is_left(data_dir)
        click.echo("stopped")
    else:
        _kill_what_is_left(data_dir)
        click.echo(f"it did not stop in {seconds:.0f} s and was killed, and so is everything that it ran", err=True)
        sys.exit(1)


def _stops(who: Who, seconds: float) -> bool:
    """Whether it does so by itself; otherwise it is killed."""
    _send(who, signal.SIGTERM)
    _await_end(who, seconds)
    if not who.runs():
        return True
    _send(who, signal.SIGKILL)
    _await_end(who, seconds)
    return False


def _await_end(who: Who, seconds: float) -> None:
    end = time.monotonic() + seconds
    while who.runs() and time.monotonic() < end:
        time.sleep(0.02)


def _send(who: Who, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(who.pid, number)


def _kill_what_is_left(data_dir: Path) -> None:
    """Unless somebody has started it again meanwhile."""
    from kumi.kubelet.machine import kill_everything

    if holder(data_dir) is None:
        kill_everything(data_dir)
