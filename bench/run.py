"""Measures what a user waits for, as a client of the product; prints ratios. Nothing here is a test.

    start       `kumi up` to the first answered request, against an interpreter that imports the same libraries
    first       `kubectl apply` of a job to its first process, against `kubectl apply` of a ConfigMap
    thousand    1,000 one-second jobs of one pod through one queue on a node of 64 cpu, against the ideal

Usage: run.py [start] [first] [thousand] [--rounds N] [--jobs N]; all three without a name.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

KUMI = Path(sys.executable).with_name("kumi")
QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default, resources: [{name: cpu, nominalQuota: 64}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: all, namespace: default}
spec: {clusterQueue: all}
"""


def job(name: str, command: list[str]) -> dict[str, object]:
    """A queued batch Job of one pod of one cpu."""
    container = {"name": "main", "image": "none", "command": command, "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    metadata = {"name": name, "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": "all"}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


@contextmanager
def cluster(*options: str) -> Iterator[Path]:
    """A cluster in a folder of its own, stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="kumi-bench-", ignore_cleanup_errors=True) as folder:
        subprocess.run([KUMI, "up", "--detach", "--data-dir", folder, *options], check=True, stdout=subprocess.DEVNULL)
        try:
            yield Path(folder)
        finally:
            subprocess.run([KUMI, "down", "--data-dir", folder], check=True, stdout=subprocess.DEVNULL)


def seconds(command: list[str | Path], **options: object) -> float:
    """Wall time of a command."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    return time.perf_counter() - begin


def show(name: str, values: list[float]) -> float:
    """Prints min, median, max; the median."""
    middle = statistics.median(values)
    print(f"  {name:<46} {min(values):8.3f} {middle:8.3f} {max(values):8.3f} s", flush=True)
    return middle


def first_answer(folder: Path) -> float:
    """Seconds from starting `kumi up` in an empty folder to its first answered request."""
    begin = time.perf_counter()
    with subprocess.Popen([KUMI, "up", "--data-dir", folder], stdout=subprocess.DEVNULL) as process:
        context = ssl._create_unverified_context()
        while True:
            try:
                server = (folder / "kubeconfig").read_text().split("server: ")[1].split()[0].strip("\"'")
                urllib.request.urlopen(f"{server}/readyz", context=context, timeout=5).close()
                break
            except (OSError, IndexError):
                time.sleep(0.005)
        took = time.perf_counter() - begin
        process.terminate()
    return took


def bench_start(rounds: int) -> None:
    """See the module."""
    print("start: min, median, max")
    ours, bare = [], []
    for _ in range(rounds):
        bare.append(
            seconds([sys.executable, "-c", "import aiohttp, uvloop, numpy, cryptography.x509, msgspec, orjson"])
        )
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            ours.append(first_answer(Path(folder)))
    ratio = show("kumi up to the first answer", ours) / show("an interpreter that imports the same libraries", bare)
    print(f"  ratio {ratio:.2f}")


def bench_first(rounds: int) -> None:
    """See the module."""
    import json

    kubectl = shutil.which("kubectl")
    if kubectl is None:
        print("first: not run: kubectl is not here")
        return
    print("first: min, median, max")
    ours, plain = [], []
    with cluster("--cpus", "64") as folder:
        environment = {**os.environ, "KUBECONFIG": str(folder / "kubeconfig"), "KUBECACHEDIR": str(folder / "cache")}
        apply: list[str | Path] = [kubectl, "apply", "-f", "-"]
        seconds(apply, input=QUEUE.encode(), env=environment)
        for number in range(rounds):
            config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}"}}
            plain.append(seconds(apply, input=json.dumps(config).encode(), env=environment))
            stamp = folder / f"stamp{number}"
            begin = time.time()
            seconds(apply, input=json.dumps(job(f"j{number}", ["touch", str(stamp)])).encode(), env=environment)
            while not stamp.exists():
                time.sleep(0.002)
            ours.append(stamp.stat().st_mtime - begin)
    ratio = show("kubectl apply of a job to its first process", ours) / show("kubectl apply of a ConfigMap", plain)
    print(f"  ratio {ratio:.2f}")


async def finish(folder: Path, count: int) -> float:
    """Seconds from the first create of `count` one-second jobs to the end of the last."""
    from kumi.api.batch import Job
    from kumi.api.scheme import SCHEME
    from kumi.sdk import connect
    from kumi.sdk.jobs import ended

    async with connect(str(folder / "kubeconfig")) as kumi:
        await kumi.apply(QUEUE)
        kind = SCHEME.of(Job)
        revision = (await kumi.client.list(kind, "default")).revision
        begin, done = time.perf_counter(), set()
        bound = asyncio.Semaphore(16)

        async def create(number: int) -> None:
            async with bound:
                await kumi.client.create(job(f"j{number:04}", ["sleep", "1"]))

        creating = asyncio.gather(*(create(number) for number in range(count)))
        while len(done) < count:
            before = len(done)
            async for event in kumi.client.watch(kind, "default", revision=revision):
                revision = event.object["metadata"]["resourceVersion"]
                if event.type != "BOOKMARK" and ended(event.object) is not None:
                    done.add(event.object["metadata"]["name"])
                    if len(done) == count:
                        break
            if len(done) == before:
                raise SystemExit(f"{count - len(done)} of {count} jobs did not end")
        await creating
        return time.perf_counter() - begin


def bench_thousand(count: int) -> None:
    """See the module."""
    print(f"thousand: {count} one-second jobs, 64 at a time")
    with cluster("--cpus", "64") as folder:
        pid = int((folder / "server.json").read_text().split('"pid": ')[1].split(",")[0])
        took = asyncio.run(finish(folder, count))
        used = psutil.Process(pid).cpu_times()
        memory = psutil.Process(pid).memory_info().rss / 1e6
    ideal = -(-count // 64) * 1.0
    print(f"  wall {took:.1f} s, ideal {ideal:.1f} s, ratio {took / ideal:.2f}")
    cpu = used.user + used.system
    print(f"  CPU of the server {cpu:.1f} s, {1000 * cpu / count:.1f} ms a job; {memory:.0f} MB")


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["start", "first", "thousand"], metavar="NAME")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=1000)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load before the run {load:.1f}")
    for name in arguments.names:
        if name == "start":
            bench_start(arguments.rounds)
        elif name == "first":
            bench_first(arguments.rounds)
        elif name == "thousand":
            bench_thousand(arguments.jobs)
        else:
            parser.error(f"{name}: not one of start, first, thousand")


if __name__ == "__main__":
    main()
