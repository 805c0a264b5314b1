"""A node as the API shows it, what it admits, and which devices its pods get."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kumi.api.coordination import Lease
from kumi.api.core import Node, Pod
from kumi.kubelet.process import Process
from kumi.kubelet.settings import NodeSettings
from tests.kubelet.stage import Cluster, container, eventually, pod, state

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


async def test_who_takes_the_place_of_a_pod_that_is_gone_from_the_api_waits_until_it_is_dead(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "1"})})
    await cluster.start()
    try:
        await cluster.run(gpus("a", 1, "trap '' TERM; sleep 100 & wait; sleep 100"))
        for before, after in ("ab", "bc", "cd", "de"):
            await cluster.phase(before, "Running")
            await cluster.delete(before, grace_seconds=0)
            await cluster.run(gpus(after, 1))
        await cluster.phase("e", "Running")
        assert await settled_log(cluster, "e") == ["gpus=0"]
    finally:
        await cluster.crash()
        cluster.end()


async def settled_log(cluster: Cluster, name: str) -> list[str]:
    """What a pod has said, once it said something."""
    for _ in range(1000):
        if said := await cluster.log(name):
            return said.splitlines()
        await asyncio.sleep(0.01)
    raise AssertionError(f"pod {name} says nothing")


class Dying:
    """Processes that are killed and live on until `die()`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._held: list[Callable[[], None]] = []
        monkeypatch.setattr(Process, "kill", lambda process: self._held.append(process.destroy))
        monkeypatch.setattr("kumi.kubelet.worker.ANSWER_MS", 1_000_000)

    def die(self) -> None:
        """All that were killed are dead."""
        held, self._held = self._held, []
        for end in held:
            end()

    @property
    def count(self) -> int:
        """How many were killed and live on."""
        return len(self._held)


@pytest.mark.parametrize("seed", range(3))
async def test_whoever_fits_by_what_the_api_has_runs_whatever_is_still_dying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random, bound = Random(seed), dict[str, int]()
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "3"})})
    dying = Dying(monkeypatch)
    kind = cluster.registry.scheme.of(Pod)
    over = {"status": {"phase": "Failed", "reason": "Evicted", "message": "by another"}}

    def runs(found: dict[str, Any]) -> bool:
        phase = found["status"]["phase"]
        assert phase in ("Pending", "Running"), found["status"]
        if phase == "Pending":
            dying.die()
        return phase == "Running"

    await cluster.start()
    try:
        for number in range(30):
            word, count = random.choice(["bind", "bind", "bind", "force", "fail"]), random.randrange(1, 4)
            if word == "bind" and sum(bound.values()) + count <= 3:
                bound[f"p{number}"] = count
                await cluster.run(gpus(f"p{number}", count, "sleep 100"))
            elif word in ("force", "fail") and bound:
                gone = random.choice(sorted(bound))
                await cluster.until(gone, runs)
                del bound[gone]
                if word == "fail":
                    await cluster.client.patch(kind, "default", gone, over, subresource="status")
                await cluster.delete(gone, grace_seconds=0)
        for name in bound:
            await cluster.until(name, runs)
    finally:
        await cluster.crash()
        monkeypatch.undo()
        cluster.end()


async def test_one_that_takes_the_place_of_a_pod_that_was_failed_waits_for_its_grace(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "1"})})
    await cluster.start()
    try:
        await cluster.run(gpus("a", 1, "trap 'sleep 0.2; exit' TERM; echo up; sleep 100 & wait"))
        await cluster.phase("a", "Running")
        await settled_log(cluster, "a")
        body = {"status": {"phase": "Failed", "reason": "Evicted", "message": "no room"}}
        await cluster.client.patch(cluster.registry.scheme.of(Pod), "default", "a", body, subresource="status")
        await cluster.run(gpus("b", 1))
        await cluster.phase("b", "Running")
    finally:
        await cluster.crash()
        cluster.end()


async def test_one_that_waits_for_a_dying_pod_is_being_created_and_may_itself_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "1"})})
    dying = Dying(monkeypatch)
    await cluster.start()
    try:
        await cluster.run(gpus("a", 1))
        await cluster.phase("a", "Running")
        await cluster.delete("a", grace_seconds=0)
        await eventually(lambda: dying.count == 1, "a is killed")
        await cluster.run(gpus("b", 1))
        found = await cluster.until("b", lambda p: "waiting" in state(p))
        assert state(found)["waiting"]["reason"] == "ContainerCreating"
        await cluster.run(gpus("refused", 1))
        assert (await cluster.phase("refused", "Failed"))["status"]["reason"] == f"OutOf{GPU}"
        await cluster.run(gpus("beside", 0))
        await cluster.phase("beside", "Running")
        await cluster.delete("b")
        await cluster.gone("b")
        await cluster.run(gpus("c", 1))
        await cluster.until("c", lambda p: "waiting" in state(p))
        dying.die()
        await cluster.phase("c", "Running")
    finally:
        await cluster.crash()
        monkeypatch.undo()
        cluster.end()


async def test_one_that_waited_at_a_crash_runs_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings({GPU: "2"})})
    dying = Dying(monkeypatch)
    await cluster.start()
    try:
        await cluster.run(gpus("a", 1), gpus("z", 1))
        await cluster.phase("a", "Running")
        await cluster.phase("z", "Running")
        await cluster.delete("a", grace_seconds=0)
        await eventually(lambda: dying.count == 1, "a is killed")
        await cluster.run(gpus("b", 1))
        await cluster.until("b", lambda p: "waiting" in state(p))
        await cluster.crash()
        dying.die()
        await cluster.start()
        await cluster.phase("b", "Running")
        said = [await settled_log(cluster, name) for name in "bz"]
        assert sorted(said) == [["gpus=0"], ["gpus=1"]]
    finally:
        await cluster.crash()
        monkeypatch.undo()
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
