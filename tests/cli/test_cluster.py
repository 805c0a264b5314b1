"""The rooms wired together, in this process."""

from __future__ import annotations

import asyncio
import shutil
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from kumi.api.core import Node, Pod
from kumi.api.errors import KumiError
from kumi.api.scheme import SCHEME
from kumi.cli import cluster
from kumi.cli.cluster import Settings, running, serve
from kumi.cli.instance import read_instance
from kumi.kubelet.gpus import Card, Nvml
from kumi.kubelet.log_files import Limits
from kumi.sdk import connect
from tests.kubelet.test_gpus import FakeNvml

pytestmark = pytest.mark.process


def settings(folder: Path, **given: object) -> Settings:
    return Settings(data_dir=folder, working_dir=folder, **given)  # type: ignore[arg-type]


def test_a_node_offers_what_was_asked_for(tmp_path: Path) -> None:
    given = settings(tmp_path, gpus=6, cpus="2", memory="4Gi").node().offered()
    assert (given["nvidia.com/gpu"], given["cpu"], given["memory"]) == ("6", "2", "4Gi")
    assert "nvidia.com/gpu" not in settings(tmp_path).node().offered()


def test_how_much_of_a_log_is_kept_is_asked_for_as_a_quantity(tmp_path: Path) -> None:
    assert settings(tmp_path).log() == Limits(10 * 1024 * 1024, 5)
    assert settings(tmp_path, log_size="1Mi", log_files=2).log() == Limits(1024 * 1024, 2)
    for size in ("much", "100", "-1Mi"):
        with pytest.raises(KumiError, match="--log-size"):
            settings(tmp_path, log_size=size).log()


async def test_real_gpus_are_shared_out_among_the_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [Card(f"GPU-{number}", "A100", 80 << 30, number) for number in range(3)]
    monkeypatch.setattr(cluster, "load_nvml", lambda: Nvml(FakeNvml(*cards)))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    async with running(settings(tmp_path, nodes=2, gpus=None)), connect(str(tmp_path / "kubeconfig")) as kumi:
        nodes = (await kumi.client.list(SCHEME.of(Node))).items
    assert [node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes] == ["2", "1"]
    assert nodes[1]["metadata"]["labels"]["kumi.dev/gpu-0.uuid"] == "GPU-2"


async def test_a_plain_pod_runs_and_the_end_leaves_nothing_behind(tmp_path: Path) -> None:
    async with running(settings(tmp_path)) as (url, failed):
        assert read_instance(tmp_path) is not None
        async with connect(str(tmp_path / "kubeconfig")) as kumi:
            spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none", "command": ["true"]}]}
            meta = {"name": "p", "namespace": "default"}
            made = await kumi.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
            revision = made["metadata"]["resourceVersion"]
            async with asyncio.timeout(30):
                async for event in kumi.client.watch(SCHEME.of(Pod), "default", revision=revision):
                    if event.object.get("status", {}).get("phase") == "Succeeded":
                        break
        assert url.startswith("https://127.0.0.1:")
        assert not failed.done()
    assert read_instance(tmp_path) is None


async def test_nodes_of_last_time_that_are_no_more_are_removed(tmp_path: Path) -> None:
    for count in (2, 1):
        async with running(settings(tmp_path, nodes=count)), connect(str(tmp_path / "kubeconfig")) as kumi:
            nodes = (await kumi.client.list(SCHEME.of(Node))).items
            assert len(nodes) == count


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(KumiError, match=f"--port {port}"):
            async with running(settings(tmp_path, port=port)):
                pass


async def test_a_data_directory_has_one_owner(tmp_path: Path) -> None:
    async with running(settings(tmp_path)):
        with pytest.raises(KumiError, match=r"kumi\.db"):
            async with running(settings(tmp_path)):
                pass


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_data_directory_that_is_taken_away_ends_the_cluster(tmp_path: Path, replaced: bool) -> None:
    data = tmp_path / "data"
    data.mkdir()
    ready = asyncio.Event()
    ends = asyncio.create_task(serve(settings(data), on_ready=lambda _: ready.set()))
    await asyncio.wait_for(ready.wait(), 30)
    shutil.rmtree(data)
    if replaced:
        data.mkdir()
        (data / "kumi.db").touch()
    with pytest.raises(KumiError, match="removed or replaced"):
        await asyncio.wait_for(ends, 30)


async def test_server_json_says_who_runs_until_nothing_runs_any_more(tmp_path: Path) -> None:
    told = tmp_path / "told"
    hold = f"trap 'cp {tmp_path}/server.json {told}; exit' TERM; echo >{tmp_path}/on; while :; do sleep 0.02; done"
    async with running(settings(tmp_path)), connect(str(tmp_path / "kubeconfig")) as kumi:
        spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "none", "command": ["sh", "-c", hold]}]}
        meta = {"name": "p", "namespace": "default"}
        await kumi.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
        async with asyncio.timeout(30):
            while not (tmp_path / "on").exists():
                await asyncio.sleep(0.01)
    assert told.exists()
    assert read_instance(tmp_path) is None


USAGE = """
actions: "enqueue, allocate"
tiers:
- plugins:
  - {name: gang}
  - {name: predicates}
  - {name: binpack}
  - {name: usage, arguments: {thresholds: {cpu: 30, mem: 90}}}
metrics: {type: metrics.k8s.io, interval: 1s}
"""


async def test_by_usage_the_fuller_node_is_passed_over_while_it_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Settings.machine
    monkeypatch.setattr(Settings, "machine", lambda self, api: replace(machine(self, api), measure_ms=600))
    (tmp_path / "volcano-scheduler.conf").write_text(USAGE)
    data = tmp_path / "data"
    data.mkdir()
    given = settings(data, nodes=2, cpus="2", policy=tmp_path / "volcano-scheduler.conf")
    async with running(given), connect(str(data / "kubeconfig")) as kumi, asyncio.timeout(60):

        async def place(name: str, *command: str, **spec: object) -> str:
            """Where the scheduler puts a pod."""
            container = {"name": "c", "image": "none", "command": command, "resources": {"requests": {"cpu": "50m"}}}
            all_of_it = {"schedulerName": "volcano", "containers": [container], **spec}
            meta = {"name": name, "namespace": "default"}
            await kumi.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": all_of_it})
            while not (node := (await kumi.client.get(SCHEME.of(Pod), "default", name))["spec"].get("nodeName")):
                await asyncio.sleep(0.05)
            return str(node)

        burn = "for core in 1 2; do while :; do :; done & done; wait"
        where = {"kubernetes.io/hostname": "node-1"}
        assert await place("hot", "sh", "-c", burn, nodeSelector=where, terminationGracePeriodSeconds=0) == "node-1"
        for number in range(20):
            if await place(f"next-{number}", "true", restartPolicy="Never") == "node-0":
                break
            await asyncio.sleep(0.5)
        else:
            pytest.fail("a pod always went to the fuller node")
