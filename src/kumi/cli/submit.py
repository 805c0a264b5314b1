"""`kumi submit SCRIPT`: a training job without YAML, followed to its end.

Words      Kumi's options may stand before or after SCRIPT; any other word after SCRIPT is the script's, as is everything
           after `--`, which is how a script gets an option that Kumi has too.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kumi.api.errors import KumiError
from kumi.cli.options import client_options

if TYPE_CHECKING:
    from kumi.sdk import Kumi, TrainingJob
    from kumi.sdk.jobs import JobName

FIRST_RANK = "-master-0"
IMAGE = "python:3.12"


@click.command("submit", context_settings={"ignore_unknown_options": True})
@click.option("--queue", "-q", default="", help="The LocalQueue; none: it starts at once, unqueued.")
@click.option("--workers", "-w", default=1, show_default=True, type=click.IntRange(1), help="How many ranks.")
@click.option("--gpus", "-g", default=0, show_default=True, type=click.IntRange(0), help="GPUs of each rank.")
@click.option("--cpus", default="", help="CPUs of each rank (2, 500m).")
@click.option("--memory", default="", help="Memory of each rank (4Gi).")
@click.option("--name", default="", help="The job's name (default: the script's, with a suffix).")
@click.option("--image", default=IMAGE, show_default=True, help="For clusters that run containers: it has SCRIPT then.")
@click.option("--env", "-e", multiple=True, help="NAME=VALUE for every rank; NAME alone takes the value from here.")
@click.option("--priority-class", default="", help="A WorkloadPriorityClass.")
@click.option(
    "--restart", default="OnFailure", show_default=True, type=click.Choice(["OnFailure", "Never", "Always", "ExitCode"])
)
@click.option("--retries", default=3, show_default=True, type=click.IntRange(0), help="Restarts before it fails.")
@click.option("--detach", "-d", is_flag=True, help="Print the job's name and return.")
@client_options
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(script: str, args: Sequence[str], env: Sequence[str], detach: bool, **options: str) -> None:
    """Run SCRIPT with ARGS on every rank of a PyTorchJob and follow it: why it waits, when it starts, the log of rank 0,
    how it ends. The exit status is 0 when it succeeded. Ctrl-C stops following; the job goes on.

    Options may follow SCRIPT: kumi submit train.py --workers 4 --lr 0.1. What Kumi does not know goes to the script, and
    so does everything after --."""
    if script.startswith("-"):
        raise click.NoSuchOption(script)
    kubeconfig, namespace = options.pop("kubeconfig"), options.pop("namespace")
    sys.exit(asyncio.run(_submit([script, *args], list(env), detach, kubeconfig, namespace, dict(options))))


def command_of(words: Sequence[str]) -> list[str]:
    """What every rank runs: a .py file under this machine's python3, anything else as it is."""
    return ["python3", *words] if words[0].endswith(".py") else list(words)


def missing_script(command: Sequence[str]) -> str:
    """The Python script that the command runs, where it is not there; "" for any other command."""
    script = next((word for word in command[:2] if word.endswith(".py")), "")
    return script if script and not os.path.isfile(script) else ""


def environment_of(pairs: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE`, or `NAME` for the value that it has here."""
    found = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign and name not in os.environ:
            raise click.BadParameter(f"--env {name}: it is not set here; write {name}=VALUE")
        found[name] = value if sign else os.environ[name]
    return found


async def _submit(
    words: Sequence[str], env: list[str], detach: bool, kubeconfig: str, namespace: str, options: dict[str, str]
) -> int:
    from kumi.sdk import TrainingJob, connect

    async with connect(kubeconfig, namespace) as kumi:
        job = TrainingJob(
            name=options["name"],
            command=command_of(words),
            queue=options["queue"],
            workers=int(options["workers"]),
            gpus=int(options["gpus"]),
            cpu=options["cpus"],
            memory=options["memory"],
            namespace=kumi.namespace,
            image=options["image"],
            working_dir=None if options["image"] == IMAGE else "",
            environment=environment_of(env),
            priority_class=options["priority_class"],
            restart=options["restart"],
            retries=int(options["retries"]),
        )
        return await _run(kumi, job, detach)


async def _run(kumi: Kumi, job: TrainingJob, detach: bool) -> int:
    missing = missing_script(job.command)
    if missing and job.working_dir is None:
        raise KumiError(f"{missing} is not a file here; if an image has it, say which with --image")
    name = await kumi.submit(job)
    click.echo(f"{name.kind.kind.lower()}/{name.name} created: {shlex.join(job.command)}", err=True)
    if detach:
        click.echo(name.name)
        return 0
    try:
        return await _follow(kumi, name)
    except asyncio.CancelledError:
        kind = name.kind.kind.lower()
        click.echo(f"the job goes on: see kumi why {name.name}; end it: kubectl delete {kind} {name.name}", err=True)
        raise


async def _follow(kumi: Kumi, name: JobName) -> int:
    """Tells the steps on standard error and rank 0's log on standard output; 0 when the job succeeded."""
    reading: dict[str, asyncio.Task[None]] = {}
    outcome = False
    async for step in kumi.follow(name):
        where = f"{step.pod}: " if step.pod else ""
        for line in step.text.splitlines():
            click.echo(f"{where}{line}", err=True)
        if step.pod.endswith(FIRST_RANK) and step.kind in ("pod", "restarts"):
            if step.pod in reading and step.kind == "restarts":
                await reading[step.pod]
                del reading[step.pod]
            if step.pod not in reading:
                reading[step.pod] = asyncio.create_task(_print_log(kumi, name.namespace, step.pod))
        if step.kind == "ended":
            outcome = bool(step.succeeded)
    for pod in await kumi.pods(name):  # a job may end before the watch of its pods has told that they began
        if pod["metadata"]["name"].endswith(FIRST_RANK) and pod["metadata"]["name"] not in reading:
            await _print_log(kumi, name.namespace, pod["metadata"]["name"])
    await asyncio.gather(*reading.values())
    return 0 if outcome else 1


async def _print_log(kumi: Kumi, namespace: str, pod: str) -> None:
    from kumi.api.errors import ApiError

    try:
        async for chunk in kumi.logs(namespace, pod, follow=True):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
    except (ApiError, ConnectionError) as error:
        click.echo(f"{pod}: its log can't be read: {error}", err=True)
