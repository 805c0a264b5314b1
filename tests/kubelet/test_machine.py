"""What pods of one machine share, with real processes: names, ports, and the end of what nobody wants any more."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from kumi.jobs.injected import ANNOTATION, Injected, encode
from kumi.kubelet.machine import kill_everything
from kumi.kubelet.records import who_is
from kumi.kubelet.settings import NodeSettings
from kumi.kubelet.wait import INIT_COMMAND
from tests.kubelet.stage import Cluster, container, eventually, pod

pytestmark = pytest.mark.process

RANK = textwrap.dedent(
    """
    import os, socket, time
    rank, address = int(os.environ["RANK"]), (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    if rank == 0:
        server = socket.create_server(("0.0.0.0", address[1]))
        peer, _ = server.accept()
        print("got", peer.recv(100).decode(), flush=True)
    else:
        for _ in range(1000):
            try:
                peer = socket.create_connection(address)
                break
            except OSError:
                time.sleep(0.02)
        peer.sendall(os.environ["JOB"].encode())
        peer.close()
    """
)


def service(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 23456, "name": "master"}]},
    }


def rank(job: str, number: int, wait: bool) -> dict[str, Any]:
    note = encode(Injected(names=("MASTER_ADDR",), ports=("MASTER_PORT",), group=f"uid-{job}", port=23456))
    env = {"JOB": job, "RANK": str(number), "MASTER_ADDR": f"{job}-0", "MASTER_PORT": "23456"}
    run = {
        "name": "main",
        "image": "any",
        "command": [sys.executable, "-c", RANK],
        "env": [{"name": k, "value": v} for k, v in env.items()],
    }
    init = {"name": "init", "image": "any", "command": [*INIT_COMMAND, f"{job}-0"]}
    meta = {"labels": {"job": job, "rank": str(number)}, "annotations": {ANNOTATION: note}}
    return pod(f"{job}-{number}-x", run, meta=meta, **({"initContainers": [init]} if wait else {}))


@pytest.mark.parametrize("isolation", ["", "none"])
async def test_two_jobs_of_two_ranks_that_listen_on_every_address_at_the_same_port_both_finish(
    tmp_path: Path, isolation: str
) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings()}, isolation=isolation)
    await cluster.start()
    try:
        for job in ("blue", "green"):
            await cluster.run(rank(job, 1, wait=True))
        for job in ("blue", "green"):
            await cluster.client.create(service(f"{job}-0", {"job": job, "rank": "0"}))
            await cluster.run(rank(job, 0, wait=False))
        for job in ("blue", "green"):
            for number in (0, 1):
                await cluster.phase(f"{job}-{number}-x", "Succeeded")
            assert await cluster.log(f"{job}-0-x") == f"got {job}\n"
    finally:
        await cluster.crash()
        cluster.end()


@pytest.mark.parametrize("isolation", ["", "none"])
async def test_a_worker_that_begins_after_its_master_has_ended_does_not_wait_for_it(
    tmp_path: Path, isolation: str
) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings(), "n2": NodeSettings()}, isolation=isolation)
    await cluster.start()
    try:
        await cluster.client.create(service("blue-0", {"job": "blue", "rank": "0"}))
        master, worker = (quick(rank("blue", number, wait=number > 0), f"n{number + 1}") for number in (0, 1))
        await cluster.run(master)
        await cluster.phase("blue-0-x", "Succeeded")
        await cluster.crash()
        await cluster.start()  # also where it ended before a restart
        await cluster.run(worker)
        await cluster.phase("blue-1-x", "Succeeded")
        assert (await cluster.log("blue-1-x")).startswith("rank 1 of ")
    finally:
        await cluster.crash()
        cluster.end()


def quick(found: dict[str, Any], node: str) -> dict[str, Any]:
    """The same pod on that node, with a program that needs nobody."""
    found["spec"]["nodeName"] = node
    found["spec"]["containers"][0]["command"] = ["/bin/sh", "-c", "echo rank $RANK of $MASTER_ADDR"]
    return found


async def test_names_of_pods_and_services_resolve_inside_pods_as_they_come(cluster: Cluster) -> None:
    if cluster.machine.isolation == "none":
        pytest.skip("not run: this machine lets nobody mount")
    look = "import socket; print(*sorted({a[4][0] for a in socket.getaddrinfo(n, 80)}))"
    script = (
        "hostname; "
        + f"{sys.executable} -c 'n = \"me\"; {look}'; "
        + f"{' '.join(INIT_COMMAND)} late; {sys.executable} -c 'n = \"late.default.svc\"; {look}'"
    )
    await cluster.run(pod("looks", script, hostname="me"))
    await cluster.phase("looks", "Running")
    await cluster.client.create(service("late", {"app": "late"}))
    await cluster.run(pod("other", "sleep 100", meta={"labels": {"app": "late"}}))
    found = await cluster.phase("looks", "Succeeded")
    other = await cluster.get("other")
    assert other is not None
    words = [w for w in (await cluster.log("looks")).splitlines() if not w.startswith("waiting")]
    assert words == ["me", found["status"]["podIP"], other["status"]["podIP"]]


async def test_live_pods_of_all_nodes_have_different_addresses(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings(), "n2": NodeSettings()})
    await cluster.start()
    try:
        await cluster.run(*(pod(f"p{i}", "sleep 100", node=f"n{i % 2 + 1}") for i in range(6)))
        found = [(await cluster.phase(f"p{i}", "Running"))["status"]["podIP"] for i in range(6)]
        assert len(set(found)) == 6
    finally:
        await cluster.crash()
        cluster.end()


async def test_a_cluster_that_is_gone_can_be_ended_from_outside(cluster: Cluster) -> None:
    await cluster.run(pod("p", container("echo $$$$ > pid; sleep 100", workingDir=str(cluster.data_dir))))
    pid = cluster.data_dir / "pid"
    await eventually(lambda: pid.exists() and pid.read_text(), "it runs")
    await cluster.crash()
    kill_everything(cluster.data_dir)
    assert who_is(int(pid.read_text())) is None, "it is dead when the call returns"
    kill_everything(cluster.data_dir / "none")


async def test_what_was_ended_from_outside_did_not_end_by_itself(cluster: Cluster) -> None:
    await cluster.run(pod("p", "sleep 100"))
    await cluster.phase("p", "Running")
    await cluster.crash()
    kill_everything(cluster.data_dir)
    await cluster.start()
    found = await cluster.phase("p", "Failed")
    assert [c["status"] for c in found["status"]["conditions"] if c["type"] == "DisruptionTarget"] == ["True"]


async def test_a_record_that_can_not_be_read_is_cleared_away(tmp_path: Path) -> None:
    data_dir = tmp_path / tmp_path.name
    broken = data_dir / "pods" / "default_x_u9"
    broken.mkdir(parents=True)
    (broken / "pod.json").write_text(json.dumps({"what": 1}))
    cluster = Cluster(data_dir)
    await cluster.start()
    try:
        assert not list((data_dir / "pods").iterdir())
        await asyncio.sleep(0)
    finally:
        await cluster.crash()
        cluster.end()
