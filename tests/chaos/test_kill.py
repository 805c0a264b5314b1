"""kill -9 of a whole cluster, again and again, while jobs come, start, run and end.

What must hold after the last start, whatever the moments were: every create that was acknowledged is there; every job has
finished; each pod ran once; no two pods of a node ever had one GPU; the queue holds nothing; no process is left."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from kumi.api.batch import Job
from kumi.api.core import Pod
from kumi.api.errors import ApiError
from kumi.api.kubeflow import PyTorchJob
from kumi.api.kueue import ClusterQueue
from kumi.api.meta import Object
from kumi.api.scheme import SCHEME
from kumi.sdk import connect

pytestmark = pytest.mark.process

ROUNDS, PATIENCE_S = 15, 60.0
GPU = "nvidia.com/gpu"
QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: pool}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: default, resources: [{name: nvidia.com/gpu, nominalQuota: 6}]}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {name: door, namespace: default}
spec: {clusterQueue: pool}
"""


def manifest(name: str, ranks: int, diary: Path, seconds: float) -> dict[str, Any]:
    """A Job, or every other one a PyTorchJob, whose pods write down what they had and when."""
    script = (
        f'echo "begin $HOSTNAME $CUDA_VISIBLE_DEVICES" >> {diary}; sleep {seconds}; echo "end $HOSTNAME -" >> {diary}'
    )
    container = {
        "name": "pytorch",
        "image": "none",
        "command": ["sh", "-c", script],
        "resources": {"limits": {GPU: "1"}},
    }
    meta = {"name": name, "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": "door"}}
    if name.startswith("job"):
        template: dict[str, Any] = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        spec = {"parallelism": ranks, "completions": ranks, "backoffLimit": 0, "template": template}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
    template = {"spec": {"containers": [container]}}
    replica = {"restartPolicy": "Never", "template": template}
    replicas = {"Master": {"replicas": 1, **replica}, "Worker": {"replicas": ranks, **replica}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": meta,
        "spec": {"pytorchReplicaSpecs": replicas},
    }


async def submit(cluster: Any, dice: random.Random, acknowledged: dict[str, str]) -> None:
    """Creates jobs for ever, over whatever connection there is; notes name -> uid of those that were acknowledged."""
    number = 0
    while True:
        try:
            async with connect(str(cluster.data_dir / "kubeconfig")) as kumi:
                while True:
                    number += 1
                    name = f"{('job', 'torch')[number % 2]}-{number}"
                    wanted = manifest(name, dice.choice((1, 2)), cluster.working_dir / "diary", dice.random() / 2)
                    made = await kumi.client.create(wanted)
                    acknowledged[name] = made["metadata"]["uid"]
                    await asyncio.sleep(dice.random())
        except (ConnectionError, ApiError, TimeoutError):
            await asyncio.sleep(0.05)


async def test_kill_9_at_any_moment_loses_nothing_and_makes_nothing_twice(cluster: Any) -> None:
    dice, acknowledged = random.Random(2), dict[str, str]()
    up = ("--gpus", "4", "--cpus", "32")
    await asyncio.to_thread(cluster.up, *up)
    cluster.kumi("apply", "-f", "-", stdin=QUEUES)
    submitter = asyncio.create_task(submit(cluster, dice, acknowledged))
    for _ in range(ROUNDS):
        await asyncio.sleep(dice.choice((0.1, 0.5, 2.0)) * dice.random())
        server = psutil.Process(json.loads((cluster.data_dir / "server.json").read_text())["pid"])
        os.kill(server.pid, signal.SIGKILL)
        await asyncio.to_thread(psutil.wait_procs, [server], 10)
        await asyncio.to_thread(cluster.up, *up)
    submitter.cancel()
    await asyncio.gather(submitter, return_exceptions=True)
    assert len(acknowledged) > ROUNDS
    async with connect(str(cluster.data_dir / "kubeconfig")) as kumi:
        await finished(kumi.client, acknowledged)
        pods = await ended(kumi.client)
        assert {p["status"]["phase"] for p in pods} == {"Succeeded"}
        assert {c["restartCount"] for p in pods for c in p["status"]["containerStatuses"]} == {0}
        await idle(kumi.client)
    check_diary((cluster.working_dir / "diary").read_text().splitlines())
    cluster.kumi("down")
    assert not [p.pid for p in psutil.process_iter() if of_cluster(p, cluster)]


async def finished(client: Any, acknowledged: dict[str, str]) -> None:
    """Returns when all that was acknowledged is there and has succeeded."""
    left = dict(acknowledged)
    async with asyncio.timeout(PATIENCE_S):
        while left:
            for name, uid in list(left.items()):
                type_: type[Object] = Job if name.startswith("job") else PyTorchJob
                found = await client.get(SCHEME.of(type_), "default", name)
                assert found["metadata"]["uid"] == uid
                ends = {c["type"] for c in found.get("status", {}).get("conditions", []) if c["status"] == "True"}
                assert "Failed" not in ends, found["status"]
                if ends & {"Complete", "Succeeded"}:
                    del left[name]
            await asyncio.sleep(0.1)


async def ended(client: Any) -> list[Any]:
    """All pods, once none waits or runs any more: a job that was created and not acknowledged may be the last, and of one that
    has succeeded a worker may still be at its end."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            pods = (await client.list(SCHEME.of(Pod), "default")).items
            if not {p["status"]["phase"] for p in pods} & {"Pending", "Running"}:
                return list(pods)
            await asyncio.sleep(0.1)


async def idle(client: Any) -> None:
    """Returns when the queue holds nothing."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            status = (await client.get(SCHEME.of(ClusterQueue), "", "pool"))["status"]
            used = [r["total"] for flavor in status["flavorsUsage"] for r in flavor["resources"]]
            if set(map(str, used)) == {"0"} and not status.get("reservingWorkloads"):
                return
            await asyncio.sleep(0.1)


def check_diary(lines: list[str]) -> None:
    """Every pod began once and ended once, and had a GPU that nobody else had meanwhile."""
    holders: dict[str, str] = {}
    begun: list[str] = []
    for line in lines:
        what, pod, gpu = line.split()
        if what == "begin":
            assert gpu not in holders, f"{gpu} of {holders[gpu]} was given to {pod}"
            holders[gpu] = pod
            begun.append(pod)
        else:
            holders = {g: p for g, p in holders.items() if p != pod}
    assert holders == {}
    assert len(begun) == len(set(begun))


def of_cluster(process: psutil.Process, cluster: Any) -> bool:
    """Whether it is a container of the cluster."""
    try:
        return process.environ().get("KUMI_CONTAINER", "").startswith(str(cluster.data_dir))
    except psutil.Error:
        return False
