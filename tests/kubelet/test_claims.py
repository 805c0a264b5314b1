"""What is behind claims, and who uses them; with real pods where that is the point."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kumi.api.claims import PersistentVolume, PersistentVolumeClaim
from kumi.api.core import Pod
from kumi.api.volumes import ONE_NODE, ONE_POD
from kumi.kubelet import claims, mounts
from kumi.kubelet.claims import Attachments, Claimed, directory_of
from kumi.kubelet.environment import CannotConfigure
from kumi.kubelet.settings import NodeSettings
from tests.kubelet.stage import Cluster, container, pod, state


async def bound(
    cluster: Cluster, name: str = "data", modes: tuple[str, ...] = ("ReadWriteOnce",), **source: Any
) -> str:
    """A claim and its volume, as their controllers leave them; the directory's name."""
    own = {"accessModes": list(modes), "resources": {"requests": {"storage": "1Gi"}}, "volumeName": f"pv-{name}"}
    meta = {"name": name, "namespace": "default"}
    claim = await cluster.client.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": own}
    )
    handle = f"default_{name}_pv-{name}"
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": list(modes),
        "claimRef": {"namespace": "default", "name": name, "uid": claim["metadata"]["uid"]},
        **(source or {"csi": {"driver": "kumi.dev/local", "volumeHandle": handle}}),
    }
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"pv-{name}"}, "spec": spec}
    await cluster.client.create(volume)
    await say(cluster, name, {"phase": "Bound"})
    return handle


async def say(cluster: Cluster, name: str, status: dict[str, Any]) -> None:
    kind = cluster.registry.scheme.of(PersistentVolumeClaim)
    await cluster.client.patch(kind, "default", name, {"status": status}, subresource="status")


def using(name: str, script: str, claim: str = "data", node: str = "n1", **mount: Any) -> dict[str, Any]:
    read_only = mount.pop("claim_read_only", False)
    run = container(script, volumeMounts=[{"name": "d", "mountPath": "/data", **mount}])
    source = {"claimName": claim, **({"readOnly": True} if read_only else {})}
    return pod(name, run, node=node, volumes=[{"name": "d", "persistentVolumeClaim": source}])


def needs_views(cluster: Cluster) -> None:
    if cluster.machine.isolation == mounts.NONE:
        pytest.skip("not run: this machine lets nobody mount")


async def trouble(cluster: Cluster, name: str) -> str:
    """Why a pod waits, as soon as it says so."""
    await cluster.until(name, lambda p: state(p).get("waiting", {}).get("message"), "waiting with a message")
    found = await cluster.get(name)
    assert found is not None
    return str(state(found)["waiting"]["message"])


@pytest.mark.process
async def test_what_a_pod_writes_another_one_reads(cluster: Cluster) -> None:
    needs_views(cluster)
    handle = await bound(cluster)
    await cluster.run(using("writer", "echo hello > /data/f"))
    await cluster.phase("writer", "Succeeded")
    assert (cluster.data_dir / "volumes" / handle / "f").read_text() == "hello\n"
    await cluster.delete("writer")
    await cluster.gone("writer")
    await cluster.stop()
    await cluster.start()
    await cluster.run(using("reader", "cat /data/f"))
    await cluster.phase("reader", "Succeeded")
    assert await cluster.log("reader") == "hello\n"


@pytest.mark.process
async def test_sub_paths_are_made_and_read_only_is_kept(cluster: Cluster) -> None:
    needs_views(cluster)
    handle = await bound(cluster)
    await cluster.run(using("writer", "echo sub > /data/f", subPath="a/b"))
    await cluster.phase("writer", "Succeeded")
    assert (cluster.data_dir / "volumes" / handle / "a" / "b" / "f").read_text() == "sub\n"
    await cluster.run(using("mount", "cat /data/a/b/f; touch /data/x", readOnly=True))
    await cluster.run(using("claim", "touch /data/x", claim_read_only=True))
    for name in ("mount", "claim"):
        await cluster.phase(name, "Failed")
        assert "Read-only file system" in await cluster.log(name)
    assert (await cluster.log("mount")).startswith("sub\n")


@pytest.mark.process
async def test_a_claim_that_is_only_to_be_read_can_not_be_written(cluster: Cluster) -> None:
    needs_views(cluster)
    source = cluster.data_dir / "set"
    source.mkdir()
    (source / "f").write_text("given\n")
    await bound(cluster, modes=("ReadOnlyMany",), hostPath={"path": str(source), "type": "Directory"})
    await cluster.run(using("reader", "cat /data/f; touch /data/x"))
    await cluster.phase("reader", "Failed")
    assert (await cluster.log("reader")).startswith("given\n")
    assert not (source / "x").exists()


@pytest.mark.process
async def test_a_pod_waits_for_its_claim_and_goes_on_when_it_is_bound(cluster: Cluster) -> None:
    needs_views(cluster)
    await cluster.run(using("waits", "echo done"))
    assert await trouble(cluster, "waits") == 'persistentvolumeclaim "data" not found'
    await bound(cluster)
    await say(cluster, "data", {"phase": "Pending"})
    await cluster.until("waits", lambda p: "has no volume yet" in str(state(p)), "waiting for a volume")
    await say(cluster, "data", {"phase": "Bound"})
    await cluster.phase("waits", "Succeeded")


@pytest.mark.process
async def test_of_two_pods_the_second_waits_for_a_claim_of_one_pod(cluster: Cluster) -> None:
    needs_views(cluster)
    await bound(cluster, modes=("ReadWriteOncePod",))
    await cluster.run(using("first", "sleep 100"))
    await cluster.phase("first", "Running")
    await cluster.run(using("second", "echo mine"))
    assert (
        await trouble(cluster, "second") == 'persistentvolumeclaim "data" is ReadWriteOncePod, and another pod uses it'
    )
    await cluster.crash()
    await cluster.start()
    assert "another pod uses it" in await trouble(cluster, "second"), "also after a restart"
    await cluster.delete("first", grace_seconds=0)
    await cluster.phase("second", "Succeeded")


@pytest.mark.process
async def test_a_claim_of_one_node_is_used_on_one_node_at_a_time(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path / tmp_path.name, {"n1": NodeSettings(), "n2": NodeSettings()})
    await cluster.start()
    try:
        needs_views(cluster)
        await bound(cluster)
        await cluster.run(using("a", "sleep 100"), using("b", "sleep 100"))
        for name in ("a", "b"):
            await cluster.phase(name, "Running")
        await cluster.run(using("c", "echo moved", node="n2"))
        said = await trouble(cluster, "c")
        assert said == 'persistentvolumeclaim "data" is ReadWriteOnce, and pods of node n1 use it'
        for name in ("a", "b"):
            await cluster.delete(name, grace_seconds=0)
        await cluster.phase("c", "Succeeded")
    finally:
        await cluster.crash()
        cluster.end()


async def found(cluster: Cluster, **fields: Any) -> dict[str, Claimed]:
    """What is found for a pod that is in the API already."""
    asked = using("p", "true") | {"metadata": {"name": "p", "namespace": "default", "uid": "u"}}
    asked["spec"].update(fields)
    return await claims.find(cluster.client, cluster.registry.scheme, asked, cluster.data_dir)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"local": {"path": "/nowhere/at/all"}}, "there is no /nowhere/at/all on this machine"),
        ({"nfs": {"server": "s", "path": "/"}}, "nothing on this node knows its kind of volume"),
        ({"csi": {"driver": "kumi.dev/local", "volumeHandle": "../../etc"}}, "is no directory of its own"),
    ],
)
async def test_volumes_that_can_not_be_provided(cluster: Cluster, source: dict[str, Any], message: str) -> None:
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": []}]}}}
    await bound(cluster, **source, **(affinity if "local" in source else {}))
    with pytest.raises(CannotConfigure, match=message):
        await found(cluster)


async def test_a_local_volume_is_where_it_says(cluster: Cluster) -> None:
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": []}]}}
    await bound(cluster, local={"path": str(cluster.data_dir)}, nodeAffinity=affinity)
    assert (await found(cluster))["d"].place == cluster.data_dir


async def test_a_claim_that_is_going_takes_no_new_pod(cluster: Cluster) -> None:
    await bound(cluster)
    kind = cluster.registry.scheme.of(PersistentVolumeClaim)
    await cluster.client.patch(kind, "default", "data", {"metadata": {"finalizers": ["a.b/c"]}})
    await cluster.client.delete(kind, "default", "data")
    with pytest.raises(CannotConfigure, match="is being deleted"):
        await found(cluster)


async def test_a_claim_whose_volume_is_anothers_or_gone_gives_nothing(cluster: Cluster) -> None:
    await bound(cluster)
    kind = cluster.registry.scheme.of(PersistentVolume)
    await cluster.client.patch(kind, "", "pv-data", {"spec": {"claimRef": {"uid": "another"}}})
    with pytest.raises(CannotConfigure, match='"pv-data" is not that of persistentvolumeclaim "data"'):
        await found(cluster)
    await cluster.client.delete(kind, "", "pv-data")
    with pytest.raises(CannotConfigure, match='persistentvolume "pv-data" not found'):
        await found(cluster)


async def test_a_claim_that_was_made_for_another_pod_is_not_taken(cluster: Cluster) -> None:
    await bound(cluster, "p-d")
    with pytest.raises(CannotConfigure, match='"p-d" was not made for this pod'):
        await found(cluster, volumes=[{"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
    kind = cluster.registry.scheme.of(PersistentVolumeClaim)
    await cluster.client.patch(kind, "default", "p-d", {"metadata": {"ownerReferences": [owner]}})
    volumes = [{"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    assert (await found(cluster, volumes=volumes))["d"].name == "p-d"


def one(exclusive: str, claim: str = "c") -> dict[str, Claimed]:
    return {"v": Claimed(claim, "data", exclusive, False, Path("/"))}


def test_all_claims_of_a_pod_are_taken_or_none() -> None:
    held = Attachments()
    held.take("a", "n1", one(ONE_POD))
    with pytest.raises(CannotConfigure):
        held.take("b", "n1", {"w": one("", "free")["v"], **one(ONE_POD)})
    assert not held.in_use("free")
    held.take("a", "n1", one(ONE_POD))
    held.release("a")
    assert not held.in_use("c")
    held.take("b", "n2", one(ONE_NODE))
    held.restore("c", "n1", {"c": ""})
    with pytest.raises(CannotConfigure, match="pods of node n1 use it"):
        held.take("d", "n2", one(ONE_NODE))


@pytest.mark.parametrize("handle", ["", "..", "a/pv", "/pv", "ns_data_other", "NS_pv", "_pv"])
def test_a_directory_has_its_volumes_own_name(handle: str) -> None:
    spec = {"csi": {"driver": "kumi.dev/local", "volumeHandle": handle}}
    volume = msgspec.convert({"metadata": {"name": "pv"}, "spec": spec}, PersistentVolume)
    with pytest.raises(CannotConfigure):
        directory_of(volume, Path("/d"))
    good = msgspec.convert(
        {"metadata": {"name": "pv"}, "spec": {"csi": {"driver": "kumi.dev/local", "volumeHandle": "ns_data_pv"}}},
        PersistentVolume,
    )
    assert directory_of(good, Path("/d")) == Path("/d/volumes/ns_data_pv")


async def test_pods_without_claims_ask_nobody(cluster: Cluster) -> None:
    assert await claims.find(cluster.client, cluster.registry.scheme, pod("p", "true"), cluster.data_dir) == {}
    assert await asyncio.wait_for(cluster.get("p", Pod), 5) is None
