"""Measures what a user waits for, as a client of the product; prints ratios. Nothing here is a test.

    start       `kumi up` to the first answered request, against an interpreter that imports the same libraries
    first       `kubectl apply` of a job to its first process, against `kubectl apply` of a ConfigMap
    thousand    1,000 one-second jobs of one pod through one queue on a node of 64 cpu, against the ideal
    writes      create, get and patch of 3 KB objects, 1 and 32 clients, against a bare SQLite that commits the same
    list        10,000 pods, against decoding the answer
    watch       200 watches of 500 writes a second: delays
    many        100,000 objects of 3 KB: memory, and a cold start with them, against a start with none

Usage: run.py [NAME ...] [--rounds N] [--jobs N] [--objects N]; all of them without a name.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import plane
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
    new = tempfile.TemporaryDirectory(prefix="kumi-bench-", ignore_cleanup_errors=True)
    with new as folder, running(Path(folder), *options):
        yield Path(folder)


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


def first_answer(folder: Path, *options: str) -> float:
    """Seconds from starting `kumi up` to its first answered request."""
    (folder / "kubeconfig").unlink(missing_ok=True)
    begin = time.perf_counter()
    with subprocess.Popen([KUMI, "up", "--data-dir", folder, *options], stdout=subprocess.DEVNULL) as process:
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


def bench_many(count: int, rounds: int) -> None:
    """See the module."""
    print(f"many: {count} ConfigMaps of 3 KB; a cold start: min, median, max")
    with tempfile.TemporaryDirectory(prefix="kumi-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with running(folder, "--bare") as server:
            plane.fill(server, count)
            print(f"  memory after they were written {plane.memory_mb(server.process):.0f} MB")
        loaded = [first_answer(folder, "--bare") for _ in range(rounds)]
        with running(folder, "--bare") as server:
            at_once = server.process.memory_info().rss / 1e6
            print(f"  memory at the first answer {at_once:.0f} MB, at rest {plane.memory_mb(server.process):.0f} MB")
    bare = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            bare.append(first_answer(Path(name), "--bare"))
    ratio = show("kumi up --bare with them", loaded) / show("kumi up --bare with nothing", bare)
    print(f"  ratio {ratio:.2f}")


@contextmanager
def running(folder: Path, *options: str) -> Iterator[plane.Plane]:
    """A cluster in that folder, stopped at the end."""
    subprocess.run([KUMI, "up", "--detach", "--data-dir", folder, *options], check=True, stdout=subprocess.DEVNULL)
    try:
        yield plane.Plane(folder)
    finally:
        subprocess.run([KUMI, "down", "--data-dir", folder], check=True, stdout=subprocess.DEVNULL)


def bench_plane(bench: Callable[[plane.Plane], None]) -> None:
    """One bench of a control plane of its own."""
    with cluster("--bare") as folder:
        bench(plane.Plane(folder))


def main() -> None:
    """Runs what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--objects", type=int, default=100_000)
    arguments = parser.parse_args()
    benches: dict[str, Callable[[], None]] = {
        "start": lambda: bench_start(arguments.rounds),
        "first": lambda: bench_first(arguments.rounds),
        "thousand": lambda: bench_thousand(arguments.jobs),
        "writes": lambda: bench_plane(plane.bench_writes),
        "list": lambda: bench_plane(plane.bench_list),
        "watch": lambda: bench_plane(plane.bench_watch),
        "many": lambda: bench_many(arguments.objects, arguments.rounds),
    }
    for name in arguments.names:
        if name not in benches:
            parser.error(f"{name}: not one of {', '.join(benches)}")
    load = os.getloadavg()[0]
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load before the run {load:.1f}")
    for name in arguments.names or benches:
        benches[name]()


if __name__ == "__main__":
    main()
