"""`kumi up`: API server, controllers, scheduler and nodes in one process."""

from __future__ import annotations

import gc
import itertools
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from kumi.api.errors import KumiError
from kumi.cli.instance import read_instance, write_starter
from kumi.cli.options import data_dir_option
from kumi.cli.policy_file import policy_option

SWITCH_S = 0.001
"""How long the event loop may keep the interpreter from the thread that commits: every write waits for that one. Python's
own 5 ms are more than a commit takes."""

ERROR, OF_POLICY = "kumi: ", " W kumi.cli.policy_file: "
"""How lines of the log begin that tell an error, and what comes before a warning about the policy."""

DESCRIPTORS = 65_536
"""Files and sockets that the server opens at most."""

COLLECT_AT = 20_000
"""New objects between two looks for garbage in cycles: there is little of it, and every look at what the server keeps (the
objects of the API) costs. Python's own 700 is a tenth of the server's time."""


@click.command("up")
@click.option("--nodes", default=1, show_default=True, type=click.IntRange(0), help="How many nodes.")
@click.option(
    "--gpus",
    default="0",
    show_default=True,
    callback=lambda _, __, said: gpu_count(said),
    help="nvidia.com/gpu that each node offers; auto: the machine's real GPUs, found and shared out among the nodes.",
)
@click.option("--cpus", default="", help="cpu that each node offers (default: the machine's).")
@click.option("--memory", default="", help="memory that each node offers (default: the machine's).")
@click.option("--pods", default=110, show_default=True, type=click.IntRange(1), help="Pods that each node takes.")
@click.option("--port", default=0, show_default="the last one, else a free one", type=click.IntRange(0, 65535))
@click.option("--listen", default="127.0.0.1", show_default=True, help="The address to serve on; 0.0.0.0 for all.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help='More users: lines of token,user,uid,"group1,group2".',
)
@click.option(
    "--log-size",
    default="10Mi",
    show_default=True,
    help="A container's log goes on in a new file when one has that size.",
)
@click.option(
    "--log-files",
    default=5,
    show_default=True,
    type=click.IntRange(1),
    help="Files of a container's log that are kept.",
)
@click.option(
    "--sandbox",
    default="none",
    show_default=True,
    type=click.Choice(["none", "bubblewrap"]),
    help="What pods run in: nothing, or bubblewrap with their own view of the file system.",
)
@click.option(
    "--share",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="A directory that sandboxed pods may read and write, beside the working directory.",
)
@click.option(
    "--show",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    help="A directory that sandboxed pods may read although it is in the home directory.",
)
@policy_option
@click.option("--bare", is_flag=True, help="Only an API server and what keeps its word: no scheduler, no nodes.")
@click.option(
    "--no-controllers",
    "controllers",
    flag_value=False,
    default=True,
    help="Run no loops here; `kumi controllers` runs them beside, over HTTP.",
)
@data_dir_option
@click.option("--detach", is_flag=True, help="Go to the background once it is ready.")
@click.option("--verbose", "-v", is_flag=True, help="Log every decision.")
def command(data_dir: Path, detach: bool, verbose: bool, **settings: Any) -> None:
    """Start a cluster on this machine and serve it until Ctrl-C (or, with --detach, until `kumi down`).

    Pods run as processes of your own user on this machine, under no sandbox unless you say so; images are not pulled."""
    data_dir = data_dir.absolute()
    if settings["bare"]:
        settings["nodes"] = 0
    running = read_instance(data_dir)
    if running:
        raise KumiError(
            f"a cluster runs in {data_dir} already (process {running.pid}, {running.url}); stop it: kumi down"
        )
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    if detach:
        _detach(data_dir, settings)
    else:
        write_starter(data_dir, os.getpid())
        gc.set_threshold(COLLECT_AT, 20, 20)
        from kumi.cli.cluster import Settings

        _serve(Settings(data_dir=data_dir, working_dir=Path.cwd(), **settings), verbose)


def _serve(settings: Any, verbose: bool) -> None:
    import uvloop

    from kumi.cli.cluster import serve
    from kumi.cli.log import set_up

    set_up(verbose)
    sys.setswitchinterval(SWITCH_S)
    _allow_connections()
    gc.freeze()
    uvloop.run(
        serve(
            settings,
            on_ready=lambda url: click.echo(
                usage(settings.data_dir, url, settings.nodes, settings.gpus, settings.sandbox)
            ),
        )
    )


def gpu_count(said: str) -> int | None:
    """What `--gpus` says; None for auto. click.BadParameter."""
    if said == "auto":
        return None
    if not said.isdigit():
        raise click.BadParameter(f"{said} is neither a number nor auto")
    return int(said)


def _allow_connections() -> None:
    """Raises how many files and sockets the server may have open, where the system lets it: 1,024 are soon taken by watches."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def usage(data_dir: Path, url: str, nodes: int, gpus: int | None, sandbox: str = "none") -> str:
    """What there is, and what to do next."""
    if not nodes:
        return f"Kumi is up at {url}, without nodes\n  export KUBECONFIG={data_dir / 'kubeconfig'}"
    offered = "the machine's GPUs among them" if gpus is None else f"{gpus} nvidia.com/gpu each"
    kept = "under no sandbox" if sandbox == "none" else f"each in a sandbox of {sandbox}"
    return (
        f"Kumi is up at {url}: {nodes} node{'' if nodes == 1 else 's'}, {offered}\n"
        f"  export KUBECONFIG={data_dir / 'kubeconfig'}\n"
        "  kubectl get nodes\n"
        "  kumi submit train.py --queue QUEUE --workers 4 --gpus 1\n"
        f"Pods run as processes of this user, {kept}."
    )


def _detach(data_dir: Path, settings: Mapping[str, Any]) -> None:
    """Runs the same command without --detach in a session of its own, and waits until it serves."""
    words = [word for word in sys.argv[1:] if word != "--detach"]
    with (data_dir / "kumi.log").open("ab") as log:
        begin = log.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "kumi.cli.main", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        write_starter(data_dir, process.pid)
    end = time.monotonic() + 60
    while (instance := read_instance(data_dir)) is None or instance.pid != process.pid:
        if process.poll() is not None or time.monotonic() > end:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGTERM)
            path = data_dir / "kumi.log"
            raise KumiError(f"the cluster did not start: {last_words(path, begin)}\nits log: {path}")
        time.sleep(0.01)
    for warning in warnings(data_dir / "kumi.log", begin):
        click.echo(f"kumi: {warning}", err=True)
    click.echo(usage(data_dir, instance.url, settings["nodes"], settings["gpus"], settings["sandbox"]))


def last_words(log: Path, begin: int) -> str:
    """Why it ended: its last error since that place of the log, to which others may write, too. An error goes on as long as
    lines are indented."""
    said = _since(log, begin)
    at = max((n for n, line in enumerate(said) if line.startswith(ERROR)), default=None)
    if at is None:
        return said[-1] if said else "it said nothing"
    more = itertools.takewhile(lambda line: line.startswith(" "), said[at + 1 :])
    return "\n".join([said[at].removeprefix(ERROR), *more])


def warnings(log: Path, begin: int) -> list[str]:
    """What was told of the policy since that place of the log."""
    return [line.partition(OF_POLICY)[2] for line in _since(log, begin) if OF_POLICY in line]


def _since(log: Path, begin: int) -> list[str]:
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().decode(errors="replace").strip().splitlines()
