"""The control plane alone (`kumi up --bare`), as its clients see it: writes, reads, lists, watches, many objects.

Everything goes over TLS, and every write is on the disk before it is answered. Beside each figure stands what the server took
(CPU time an operation) and what the clients took: they share two cores with it, so that the rate is what is left to both, and the
CPU time is what to compare.
"""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import orjson
import psutil
from load import Line, Place, paced, run, together

PATH = "/api/v1/namespaces/default"
MERGE = "application/merge-patch+json"
TEXT = "x" * 2600
"""of a ConfigMap that is 3 KB as it is stored"""
COUNT = 4000
WATCHERS, RATE, SECONDS = 200, 500, 10
PODS = 10_000


def config_map(name: str) -> dict[str, object]:
    """3 KB in one text."""
    metadata = {"name": name, "labels": {"app": "bench"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"sent": "", "text": TEXT}}


def pod(name: str) -> dict[str, object]:
    """3 KB as pods have them: 200 fields."""
    resources = {"cpu": "1", "memory": "1Gi"}
    container = {
        "name": "main",
        "image": "registry.example/train:1.0",
        "command": ["python", "train.py", "--epochs", "10"],
        "env": [{"name": f"VARIABLE_{number}", "value": f"some value of it {number}"} for number in range(12)],
        "resources": {"requests": resources, "limits": resources},
    }
    metadata = {"name": name, "labels": {"app": "bench"}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class Plane:
    """A running server."""

    def __init__(self, folder: Path) -> None:
        self.place = Place.of(folder / "kubeconfig")
        self.process = psutil.Process(json.loads((folder / "server.json").read_text())["pid"])
        self.folder = folder

    def cpu_s(self) -> float:
        """CPU time that the server took so far."""
        used = self.process.cpu_times()
        return float(used.user + used.system)

    def posts(self, plural: str, make: Callable[[str], dict[str, object]], start: str, count: int) -> list[bytes]:
        """Creates of that many objects, made before the clock runs."""
        return [
            self.place.request("POST", f"{PATH}/{plural}", orjson.dumps(make(f"{start}{number}")))
            for number in range(count)
        ]

    def rate(self, name: str, clients: int, requests: Sequence[bytes]) -> float:
        """Operations a second; prints a line."""
        server, ours, begin = self.cpu_s(), time.process_time(), time.perf_counter()
        took = sorted(run(together(self.place, clients, requests)))
        wall, count = time.perf_counter() - begin, len(requests)
        server, ours = (self.cpu_s() - server) / count, (time.process_time() - ours) / count
        print(
            f"  {name:<18}{clients:3} clients {count / wall:8.0f}/s   median {1e3 * took[count // 2]:6.2f} ms, p99 "
            f"{1e3 * took[count * 99 // 100]:6.2f} ms   CPU: server {1e6 * server:5.0f} us, clients {1e6 * ours:4.0f} us"
            f"   load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        return count / wall


def bench_writes(plane: Plane) -> None:
    """create, get, patch of 3 KB with one client and with 32, against a bare SQLite that commits the same bytes."""
    bare = commits_a_second()
    print(f"writes: 3 KB, durable; bare SQLite (WAL, synchronous=FULL) commits {bare:.0f} rows/s one by one")
    for plural, make in (("configmaps", config_map), ("pods", pod)):
        for clients, count in ((1, COUNT // 4), (32, COUNT)):
            start = f"{plural[:3]}-{clients}-"
            creates = plane.rate(f"create {plural}", clients, plane.posts(plural, make, start, count))
            names = [f"{PATH}/{plural}/{start}{number}" for number in range(count)]
            plane.rate(f"get {plural}", clients, [plane.place.request("GET", name) for name in names])
            body = orjson.dumps({"metadata": {"annotations": {"turn": "1"}}})
            plane.rate(f"patch {plural}", clients, [plane.place.request("PATCH", name, body, MERGE) for name in names])
            print(f"  ratio of creates to the commits of a bare SQLite {creates / bare:.2f}")


def commits_a_second(count: int = 500) -> float:
    """Rows of 3 KB that SQLite commits one by one, in the folder that servers are in too."""
    with tempfile.TemporaryDirectory(prefix="kumi-bench-") as folder:
        db = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, value BLOB)")
        begin = time.perf_counter()
        for _ in range(count):
            db.execute("INSERT INTO rows (value) VALUES (?)", (os.urandom(3000),))
        took = time.perf_counter() - begin
        db.close()
    return count / took


def bench_list(plane: Plane) -> None:
    """One list of 10,000 pods, against what the client takes to decode it."""
    print(f"list: {PODS} pods")
    run(together(plane.place, 32, plane.posts("pods", pod, "many-", PODS)))
    request = plane.place.request("GET", f"{PATH}/pods?labelSelector=")
    size, decoded = measured_list(plane, request)
    server, took = plane.cpu_s(), []
    for _ in range(5):
        took += run(together(plane.place, 1, [request]))
    server = (plane.cpu_s() - server) / 5
    middle = statistics.median(took)
    print(
        f"  {size / 1e6:.1f} MB in {middle:.3f} s (median of 5), CPU of the server {server:.3f} s, load {os.getloadavg()[0]:.1f}"
    )
    print(f"  ratio to decoding it in the client ({decoded:.3f} s) {middle / decoded:.2f}")


def measured_list(plane: Plane, request: bytes) -> tuple[int, float]:
    """Bytes of the answer, and seconds to decode it."""
    body = run(ask(plane.place, request))
    begin = time.perf_counter()
    assert len(orjson.loads(body)["items"]) >= PODS
    return len(body), time.perf_counter() - begin


async def ask(place: Place, request: bytes) -> bytes:
    """The body of one answer."""
    line = await Line.to(place)
    try:
        _, body = await line.ask(request)
        return body
    finally:
        line.close()


def bench_watch(plane: Plane) -> None:
    """200 watches of 500 writes a second: how long after a write was sent, and acknowledged, each event was read."""
    print(f"watch: {WATCHERS} watches in another process, {RATE} writes/s of 3 KB for {SECONDS} s")
    objects = 500
    run(together(plane.place, 32, plane.posts("configmaps", config_map, "told-", objects)))
    with followers(plane) as process:
        body = orjson.dumps({"data": {"sent": "@SENT"}}).replace(b"@SENT", b"@SENT".ljust(16))
        requests = [
            plane.place.request("PATCH", f"{PATH}/configmaps/told-{n}", body, MERGE).replace(
                b"@SENT".ljust(16), b"@SENT"
            )
            for n in range(objects)
        ]
        server, ours, begin = plane.cpu_s(), time.process_time(), time.perf_counter()
        sent = run(paced(plane.place, 32, RATE, RATE * SECONDS, lambda number: requests[number % objects]))
        wall, server, ours = time.perf_counter() - begin, plane.cpu_s() - server, time.process_time() - ours
        time.sleep(2)
        used, seen = pickle.loads(process.communicate(b"")[0])
    read = [(write, at) for watch in seen for write, at in watch if write in sent]
    missing = WATCHERS * len(sent) - len(read)
    print(
        f"  {len(sent) / wall:.0f} writes/s, {len(read)} events read, {missing} missing; load {os.getloadavg()[0]:.1f}"
    )
    print(f"  CPU: server {server / wall:.0%} of a core, writer {ours / wall:.0%}, watchers {used / wall:.0%}")
    show_delays("after the write was acknowledged", [at - sent[write] for write, at in read])
    show_delays("after the write was sent", [at - write for write, at in read])
    show_delays("a write, until acknowledged", [at - write for write, at in sent.items()])


@contextmanager
def followers(plane: Plane) -> Iterator[subprocess.Popen[bytes]]:
    """A process that follows ConfigMaps with many watches; ready."""
    command = [sys.executable, str(Path(__file__).with_name("load.py")), "watch", str(plane.folder / "kubeconfig")]
    command += [str(WATCHERS), f"{PATH}/configmaps"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process


def show_delays(name: str, microseconds: list[int]) -> None:
    """Median and p99. Below zero: the event was read before the writer had its answer."""
    ordered = sorted(microseconds)
    middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    print(f"  {name:<34} median {middle / 1e3:7.1f} ms, p99 {late / 1e3:7.1f} ms")


def fill(plane: Plane, count: int) -> None:
    """That many ConfigMaps of 3 KB."""
    for start in range(0, count, 10_000):
        some = min(10_000, count - start)
        run(together(plane.place, 32, plane.posts("configmaps", config_map, f"o{start}-", some)))


def memory_mb(process: psutil.Process) -> float:
    """Resident memory once it rests: the loops have taken in what there is when the server takes no more CPU time."""
    before = -1.0
    for _ in range(60):
        used = sum(process.cpu_times()[:2])
        if used - before < 0.1:
            break
        before = used
        time.sleep(1)
    return float(process.memory_info().rss / 1e6)
