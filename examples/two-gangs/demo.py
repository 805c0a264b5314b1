"""Two gangs that would deadlock each other, both finish: Kumi's main job, shown live.

One node offers 6 GPUs. Two training jobs need 4 each, and the queue's quota (8) has room for both. A scheduler that starts
pod by pod would give 3 GPUs to each and both would wait for ever; Kumi starts a gang whole or not at all.

The demo only uses what any user has: the `kumi` command and the Python client. It does not know how things will end: it
tells what it sees, and its exit status is 0 only when all jobs succeeded and the ranks of each agree on their weights.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import click

from kumi.sdk import Kumi, Step, connect
from kumi.sdk.jobs import JobName, name_of

HERE = Path(__file__).resolve().parent
KUMI = Path(sys.executable).with_name("kumi")
COLOURS = ("cyan", "magenta", "yellow", "green")
DONE = re.compile(r"rank (\d+): done loss (\S+) weights (\S+)")
LAST_WORDS_S = 60


@dataclass
class Seen:
    """What was seen of one job."""

    colour: str
    running: dict[str, bool] = field(default_factory=dict)
    started_s: float | None = None
    ended_s: float | None = None
    succeeded: bool | None = None
    hopeless: bool = False
    waited: bool = False


class Show:
    """Prints steps with the time since the start, a colour for each job, and the GPUs in use."""

    def __init__(self, jobs: list[JobName], gpus: int) -> None:
        self.begin, self.gpus = time.monotonic(), gpus
        self.seen = {job.uid: Seen(colour) for job, colour in zip(jobs, COLOURS, strict=False)}

    def clock(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.begin

    def tell(self, step: Step) -> None:
        """One step."""
        seen = self.seen[step.job.uid]
        if step.kind == "pod":
            seen.running[step.pod] = step.text.startswith("running")
            if seen.started_s is None and seen.running[step.pod]:
                seen.started_s = self.clock()
        elif step.kind == "ended":
            seen.ended_s, seen.succeeded = self.clock(), step.succeeded
            seen.running.clear()
        seen.hopeless = step.permanent
        seen.waited = seen.waited or step.kind == "waits"
        name = click.style(f"{step.job.name:<8}", fg=seen.colour, bold=True)
        lines = (f"{step.pod} {step.text}" if step.pod else step.text).splitlines()
        click.echo(f"{self.clock():6.1f}s  {self.bar()}  {name}{lines[0]}")
        for line in lines[1:]:
            click.echo(f"{'':{len('000.0s') + 4 + self.gpus}}  {'':8}{line}")

    def bar(self) -> str:
        """The node's GPUs: a block for each rank that runs, in its job's colour."""
        used = "".join(click.style("█" * sum(s.running.values()), fg=s.colour) for s in self.seen.values())
        return used + "·" * max(0, self.gpus - sum(sum(s.running.values()) for s in self.seen.values()))

    def stuck(self) -> bool:
        """Whether all that has not ended can't ever start as things are."""
        open_jobs = [s for s in self.seen.values() if s.succeeded is None]
        return bool(open_jobs) and all(s.hopeless for s in open_jobs)


def run(*words: str, quiet: bool = False) -> None:
    """A `kumi` command, shown as a user would type it."""
    if not quiet:
        click.echo(click.style(f"$ kumi {' '.join(words)}", bold=True))
    path = os.pathsep.join([str(KUMI.parent), os.environ.get("PATH", "")])
    subprocess.run([str(KUMI), *words], check=True, cwd=HERE, env={**os.environ, "PATH": path})


async def watch(kumi: Kumi, jobs: list[JobName], show: Show, timeout_s: float) -> None:
    """Tells all steps until the jobs have ended, nothing can start any more, or the time is over."""
    steps = kumi.follow(*jobs)
    try:
        async with asyncio.timeout(timeout_s):
            async for step in steps:
                show.tell(step)
                if show.stuck():
                    click.echo("nothing runs, and nothing that waits can start as things are: giving up")
                    return
    except TimeoutError:
        click.echo(f"not finished after {timeout_s:.0f} s: giving up")
    finally:
        await steps.aclose()  # type: ignore[attr-defined]


async def results(kumi: Kumi, job: JobName) -> set[str]:
    """Prints what each rank said at its end; the digests of the weights that they ended with."""
    digests = set()
    for pod in await kumi.pods(job):
        chunks: list[bytes] = []
        # a job has succeeded once its master has: other ranks may still be about to say their last words
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                async for chunk in kumi.logs(job.namespace, pod["metadata"]["name"], follow=True):
                    chunks.append(chunk)
        text = b"".join(chunks).decode()
        for rank, loss, digest in DONE.findall(text):
            click.echo(f"  {pod['metadata']['name']:<18} rank {rank}  loss {loss}  weights {digest}")
            digests.add(digest)
    return digests


async def demo(kubeconfig: str, gpus: int, timeout_s: float, torch: bool) -> int:
    """The demo against a cluster that is up; the exit status."""
    async with connect(kubeconfig) as kumi:
        click.echo(click.style("$ kumi apply -f cluster.yaml -f jobs.yaml", bold=True))
        await kumi.apply((HERE / "cluster.yaml").read_text())
        jobs_text = (HERE / "jobs.yaml").read_text()
        done = await kumi.apply(jobs_text.replace("train.py", "train_torch.py") if torch else jobs_text)
        jobs = [name_of(stored) for _, stored in done]
        show = Show(jobs, gpus)
        await watch(kumi, jobs, show, timeout_s)
        good = True
        for job in jobs:
            seen = show.seen[job.uid]
            click.echo(f"{job.name}: {summary(seen)}")
            agreed = seen.succeeded and len(await results(kumi, job)) == 1
            good = good and bool(agreed)
        return 0 if good else 1


def summary(seen: Seen) -> str:
    """One line of how a job fared."""
    if seen.started_s is None or seen.ended_s is None:
        return "did not start" if seen.started_s is None else "did not finish"
    waited = f"waited whole for {seen.started_s:.1f} s, " if seen.waited else ""
    return f"{waited}ran from {seen.started_s:.1f} s to {seen.ended_s:.1f} s, {'succeeded' if seen.succeeded else 'failed'}"


def main() -> int:
    """Starts a cluster, runs the demo, stops the cluster."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=6, help="GPUs that the node offers (counted, not real)")
    parser.add_argument("--timeout", type=float, default=80, help="seconds after which to give up")
    parser.add_argument("--torch", action="store_true", help="train with torch.distributed in place of NumPy")
    parser.add_argument("--data-dir", default="", help="keep the cluster's data here (default: a temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kumi-demo-", ignore_cleanup_errors=True) as folder:
        data_dir = arguments.data_dir or folder
        run("up", "--gpus", str(arguments.gpus), "--data-dir", data_dir, "--detach")
        try:
            return asyncio.run(demo(f"{data_dir}/kubeconfig", arguments.gpus, arguments.timeout, arguments.torch))
        finally:
            run("down", "--data-dir", data_dir)


if __name__ == "__main__":
    sys.exit(main())
