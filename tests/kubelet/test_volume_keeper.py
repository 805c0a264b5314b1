"""Directories go when their volume goes and its policy says so, and never otherwise."""

from __future__ import annotations

import os
from typing import Any

import pytest

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim
from kumi.api.core import Event
from kumi.api.volumes import DIRECTORY, PROTECTED
from kumi.kubelet.claims import Claimed
from tests.kubelet.stage import Cluster, eventually


class Kept:
    """A LOCAL volume with something in its directory."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.kind = cluster, cluster.registry.scheme.of(PersistentVolume)
        self.later = 0
        self.directory = cluster.data_dir / "volumes" / "default_data_pv"

    async def make(self, policy: str = "Delete", claim: str = "", **metadata: Any) -> None:
        self.directory.mkdir(parents=True)
        (self.directory / "f").write_text("precious\n")
        named = {"claimRef": {"namespace": "default", "name": "data", "uid": claim}} if claim else {}
        await self.create("pv", "default_data_pv", policy, {"finalizers": [DIRECTORY], **metadata}, **named)

    async def create(self, name: str, handle: str, policy: str, metadata: dict[str, Any], **spec: Any) -> None:
        """A volume."""
        made = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": policy,
            "csi": {"driver": "kumi.dev/local", "volumeHandle": handle},
            **spec,
        }
        meta = {"name": name, **metadata}
        await self.cluster.client.create(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": made}
        )

    async def delete(self) -> None:
        await self.cluster.client.delete(self.kind, "", "pv")

    async def gone(self, name: str = "pv") -> None:
        """Returns when its object is."""
        for _ in range(3000):
            if await self.cluster.get(name, PersistentVolume) is None:
                return
            await self.cluster.clock.sleep_ms(5)
        raise AssertionError("the volume stays")

    async def stays(self) -> None:
        """It is still there when the keeper is through with one that came later; so is what is in it."""
        self.later += 1
        name = f"later-{self.later}"
        await self.create(name, f"default_x_{name}", "Delete", {"finalizers": [DIRECTORY]})
        await self.cluster.client.delete(self.kind, "", name)
        await self.gone(name)
        assert await self.cluster.get("pv", PersistentVolume) is not None
        assert (self.directory / "f").read_text() == "precious\n"


@pytest.fixture
def kept(cluster: Cluster) -> Kept:
    return Kept(cluster)


async def test_the_directory_of_a_volume_that_is_deleted_goes_first(kept: Kept) -> None:
    await kept.make(claim="a claim that is gone")
    await kept.delete()
    await kept.gone()
    assert not kept.directory.exists()


async def test_what_is_to_be_kept_is_kept_when_the_volume_goes(kept: Kept) -> None:
    await kept.make(policy="Retain")
    await kept.delete()
    await kept.gone()
    assert (kept.directory / "f").read_text() == "precious\n"


async def test_while_the_volume_is_not_deleted_nothing_happens(kept: Kept) -> None:
    await kept.make()
    await kept.stays()


async def test_while_its_controllers_hold_it_nothing_happens(kept: Kept) -> None:
    await kept.make(finalizers=[DIRECTORY, PROTECTED])
    await kept.delete()
    await kept.stays()
    await kept.cluster.client.patch(kept.kind, "", "pv", {"metadata": {"finalizers": [DIRECTORY]}})
    await kept.gone()
    assert not kept.directory.exists()


async def test_while_its_claim_is_there_nothing_is_removed(kept: Kept) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    meta = {"name": "data", "namespace": "default"}
    claim = await kept.cluster.client.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}
    )
    await kept.make(claim=claim["metadata"]["uid"])
    await kept.delete()
    await kept.stays()
    await kept.cluster.client.delete(kept.cluster.registry.scheme.of(PersistentVolumeClaim), "default", "data")
    await kept.gone()
    assert not kept.directory.exists()


async def test_while_a_pod_uses_it_nothing_is_removed(kept: Kept) -> None:
    held = kept.cluster.machine.attachments
    held.take("pod", "n1", {"v": Claimed("uid", "data", "", False, kept.directory)})
    await kept.make(claim="uid")
    await kept.delete()
    await kept.stays()
    held.release("pod")
    await kept.gone()


async def test_what_was_left_by_a_restart_is_seen_to(kept: Kept) -> None:
    await kept.cluster.stop()
    await kept.make()
    await kept.delete()
    await kept.cluster.start()
    await kept.gone()
    assert not kept.directory.exists()


async def test_a_directory_of_another_name_is_never_touched(kept: Kept) -> None:
    await kept.make()
    await kept.create("thief", "default_data_pv", "Delete", {"finalizers": [DIRECTORY]})
    await kept.cluster.client.delete(kept.kind, "", "thief")
    await kept.stays()
    events = kept.cluster.registry.scheme.of(Event)
    for _ in range(1000):
        told = [e for e in (await kept.cluster.client.list(events)).items if e["involvedObject"]["name"] == "thief"]
        if told:
            break
        await kept.cluster.clock.sleep_ms(5)
    assert [event["reason"] for event in told] == ["VolumeFailedDelete"]


@pytest.mark.skipif(os.geteuid() == 0, reason="not run: root can remove anything")
async def test_what_can_not_be_removed_is_tried_again(kept: Kept) -> None:
    await kept.make()
    kept.directory.chmod(0o500)
    await kept.delete()
    await kept.stays()
    kept.directory.chmod(0o700)
    await kept.gone()
    await eventually(lambda: not kept.directory.exists(), "it is removed")
