"""A node as the API shows it, what it admits, and which devices its pods get."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kumi.api.coordination import Lease
from kumi.api.core import Node
from kumi.kubelet.settings import NodeSettings
from tests.kubelet.stage import Cluster, container, pod, state

pytestmark = pytest.mark.process
GPU = "nvidia.com/gpu"


def gpus(name: str, count: int, script: str = "echo gpus=$CUDA_VISIBLE_DEVICES; sleep 100") -> dict[str, Any]:
    limits = {GPU: str(count)} if count else {}
    return pod(name, container(script, resources={"limits": limits, "requests": limits}))


def ready(node: dict[str, Any]) -> str:
    return str(next(c["status"] for c in node["status"]["conditions"] if c["type"] == "Ready"))


async def test_a_node_says_what_it_is_and_offers(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "6", "cpu": "3"}, labels={"a": "b"})})
    await cluster.start()
    node = await cluster.get("n1", Node)
    assert node is not None
    assert ready(node) == "True"
    assert node["status"]["allocatable"][GPU] == "6"
    assert node["status"]["capacity"]["cpu"] == "3"
    assert node["status"]["capacity"]["pods"] == "110"
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "n1"
    assert node["metadata"]["labels"]["a"] == "b"
    assert node["status"]["nodeInfo"]["kubeletVersion"].startswith("v")
    assert {"type": "InternalIP", "address": "127.0.0.1"} in node["status"]["addresses"]
    for _ in range(1000):
        lease = await cluster.get("n1", Lease, "kube-node-lease")
        if lease is not None:
            break
        await asyncio.sleep(0.01)
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "n1"
    await cluster.stop()
    node = await cluster.get("n1", Node)
    assert node is not None
    assert ready(node) == "False"
    await cluster.start()
    node = await cluster.get("n1", Node)
    assert node is not None
    assert ready(node) == "True"
    await cluster.stop()


async def ready_again(cluster: Cluster) -> bool:
    """Whether the node is there and Ready, soon."""
    for _ in range(1000):
        node = await cluster.get("n1", Node)
        if node is not None and ready(node) == "True":
            return True
        await asyncio.sleep(0.01)
    return False


async def test_a_node_that_is_said_to_be_silent_or_was_removed_says_that_it_lives(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "6"}, heartbeat_ms=20)})
    await cluster.start()
    kind = cluster.registry.scheme.of(Node)
    silent = {"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}}
    node = await cluster.client.patch(kind, "", "n1", silent, subresource="status", type="strategic")
    assert ready(node) == "Unknown"
    assert await ready_again(cluster)
    await cluster.client.delete(kind, "", "n1")
    assert await ready_again(cluster)
    node = await cluster.client.get(kind, "", "n1")
    assert node["status"]["allocatable"][GPU] == "6"
    await cluster.stop()
    stopped = await cluster.get("n1", Node)
    assert stopped is not None
    assert ready(stopped) == "False"


async def test_a_node_offers_what_this_start_says_and_nothing_of_the_last(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "6", "example.com/fpga": "1"})})
    await cluster.start()
    await cluster.stop()
    cluster.node_settings = {"n1": NodeSettings({"example.com/nic": "2"})}
    await cluster.start()
    node = await cluster.get("n1", Node)
    assert node is not None
    for offered in (node["status"]["capacity"], node["status"]["allocatable"]):
        assert sorted(offered) == ["cpu", "example.com/nic", "memory", "pods"]
    await cluster.stop()


async def test_devices_are_distinct_hidden_from_others_and_given_again(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "4"})}, environment={"PATH": "/usr/bin:/bin"})
    await cluster.start()
    try:
        await cluster.run(gpus("a", 2), gpus("b", 1), gpus("c", 0))
        for name in "abc":
            await cluster.phase(name, "Running")
        await cluster.crash()
        await cluster.start()
        await cluster.run(gpus("d", 1))
        await cluster.phase("d", "Running")
        seen = {}
        for name in "abcd":
            for _ in range(1000):
                seen[name] = (await cluster.log(name)).strip()
                if seen[name]:
                    break
                await asyncio.sleep(0.005)
        assert seen == {"a": "gpus=0,1", "b": "gpus=2", "c": "gpus=", "d": "gpus=3"}
        await cluster.delete("b", grace_seconds=0)
        await cluster.gone("b")
        await cluster.run(gpus("e", 1, "echo gpus=$CUDA_VISIBLE_DEVICES"))
        await cluster.phase("e", "Succeeded")
        assert await cluster.log("e") == "gpus=2\n"
    finally:
        await cluster.crash()
        cluster.end()


async def test_a_pod_that_does_not_fit_fails_and_one_that_fits_later_runs(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "1"}, pods=2)})
    await cluster.start()
    try:
        await cluster.run(gpus("a", 1, "true"))
        await cluster.phase("a", "Succeeded")
        await cluster.run(gpus("b", 1))
        await cluster.phase("b", "Running")
        await cluster.run(gpus("c", 1))
        failed = await cluster.phase("c", "Failed")
        assert failed["status"]["reason"] == "OutOfnvidia.com/gpu"
        assert "requested: 1, used: 1, capacity: 1" in failed["status"]["message"]
        await cluster.run(pod("d", "sleep 100"))
        await cluster.phase("d", "Running")
        await cluster.run(pod("e", "true"))
        assert (await cluster.phase("e", "Failed"))["status"]["reason"] == "OutOfpods"
    finally:
        await cluster.crash()
        cluster.end()


async def test_what_ran_before_a_restart_is_counted_before_anything_new(cluster: Cluster) -> None:
    await cluster.stop()
    cluster.node_settings = {"n1": NodeSettings({GPU: "1"})}
    await cluster.start()
    await cluster.run(gpus("zz-old", 1))
    await cluster.phase("zz-old", "Running")
    await cluster.crash()
    await cluster.run(gpus("aa-new", 1))
    await cluster.start()
    assert (await cluster.phase("aa-new", "Failed"))["status"]["reason"] == "OutOfnvidia.com/gpu"
    old = await cluster.get("zz-old")
    assert old is not None
    assert old["status"]["phase"] == "Running"


async def test_a_finished_pod_that_is_deleted_goes_also_after_a_restart(cluster: Cluster) -> None:
    await cluster.run(pod("p", "true"))
    await cluster.phase("p", "Succeeded")
    await cluster.crash()
    await cluster.delete("p", grace_seconds=30)
    await cluster.start()
    await cluster.gone("p")


async def test_a_pod_that_somebody_else_failed_is_ended(cluster: Cluster) -> None:
    await cluster.run(pod("p", "sleep 100"))
    found = await cluster.phase("p", "Running")
    kind = next(k for k in cluster.registry.scheme if k.kind == "Pod")
    body = {"status": {"phase": "Failed", "reason": "Evicted", "message": "no room"}}
    await cluster.client.patch(kind, "default", "p", body, subresource="status")
    found = await cluster.until("p", lambda p: "terminated" in state(p))
    assert (found["status"]["phase"], found["status"]["reason"]) == ("Failed", "Evicted")
