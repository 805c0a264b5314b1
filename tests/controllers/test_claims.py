"""Claims get volumes: those that are there, or new ones."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.quantity import nano
from kumi.api.volumes import DIRECTORY, LOCAL, PROTECTED
from tests.controllers.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Storage,
    StorageClass,
    claim,
    node,
    only_on,
    pod,
    storage_class,
    volume,
)

MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")
STATIC: dict[str, Any] = {"storageClassName": ""}


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["claim", "volume", "pod", "end", "unclaim", "unvolume", "keep"]),
        st.integers(0, 2),
        st.sampled_from(["1Gi", "2Gi"]),
        st.sampled_from(["", "local", "wait"]),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_whatever_comes_and_goes_no_volume_is_two_claims_and_none_is_lost(
    steps: list[tuple[str, int, str, str]],
) -> None:
    asyncio.run(play(steps))


async def play(steps: list[tuple[str, int, str, str]]) -> None:
    storage = await Storage.opened()
    await storage.make(storage_class("wait", volumeBindingMode="WaitForFirstConsumer"))
    await storage.make(node())
    for verb, number, size, class_ in steps:
        try:
            await step(storage, verb, number, size, class_)
        except ApiError:
            continue  # it is there already, or not there
        await storage.settle()
        await check(storage)


async def step(storage: Storage, verb: str, number: int, size: str, class_: str) -> None:
    match verb:
        case "claim":
            await storage.make(claim(f"c{number}", size, storageClassName=class_))
        case "volume":
            await storage.make(volume(f"v{number}", size, storageClassName=class_))
        case "pod":
            await storage.make(pod(f"p{number}", (f"c{number}",)))
        case "end":
            await storage.pod_status("ns", f"p{number}", {"phase": "Succeeded"})
        case "unclaim":
            await storage.delete(PersistentVolumeClaim, f"ns/c{number}")
        case "unvolume":
            await storage.delete(PersistentVolume, f"v{number}")
        case "keep":
            await storage.keep()


async def check(storage: Storage) -> None:
    claims = {o["metadata"]["uid"]: o for o in await storage.all(PersistentVolumeClaim)}
    volumes = {o["metadata"]["name"]: o for o in await storage.all(PersistentVolume)}
    for found in claims.values():
        if found["status"]["phase"] == "Bound":
            own = volumes[found["spec"]["volumeName"]]
            assert own["spec"]["claimRef"]["uid"] == found["metadata"]["uid"]
            assert own["status"]["phase"] == "Bound"
            assert nano(own["spec"]["capacity"]["storage"]) >= nano(found["spec"]["resources"]["requests"]["storage"])
    for found in volumes.values():
        if found["metadata"].get("deletionTimestamp"):
            named = (found["spec"].get("claimRef") or {}).get("uid")
            assert named not in claims or PROTECTED in found["metadata"]["finalizers"]


async def test_a_claim_of_the_default_class_gets_a_directory_of_its_own() -> None:
    storage = await Storage.opened()
    await storage.make(claim())
    made = await storage.claim()
    uid = made["metadata"]["uid"]
    assert made["spec"]["storageClassName"] == "local"
    assert made["status"] == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    assert made["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] == "yes"
    own = await storage.volume_of()
    assert own["metadata"]["name"] == f"pvc-{uid}"
    assert sorted(own["metadata"]["finalizers"]) == sorted([PROTECTED, DIRECTORY])
    assert own["spec"]["csi"] == {"driver": LOCAL, "volumeHandle": f"ns_data_pvc-{uid}"}
    assert own["spec"]["claimRef"]["uid"] == uid
    assert (own["spec"]["persistentVolumeReclaimPolicy"], own["status"]["phase"]) == ("Delete", "Bound")


async def test_a_claim_without_a_class_waits_for_a_default_one() -> None:
    storage = await Storage.opened(default=False)
    await storage.make(claim())
    assert (await storage.claim())["status"]["phase"] == "Pending"
    assert storage.told("FailedBinding") != []
    await storage.make(storage_class(default=True))
    assert (await storage.claim())["status"]["phase"] == "Bound"


async def test_the_smallest_volume_that_fits_is_taken() -> None:
    storage = await Storage.opened()
    for name, size in (("large", "10Gi"), ("right", "2Gi"), ("small", "1Gi"), ("also", "2Gi")):
        await storage.make(volume(name, size, **STATIC))
    await storage.make(claim(size="1500Mi", **STATIC))
    made = await storage.claim()
    assert (made["spec"]["volumeName"], made["status"]["capacity"]) == ("also", {"storage": "2Gi"})
    await storage.make(claim("more", "2Gi", **STATIC))
    assert (await storage.claim("more"))["spec"]["volumeName"] == "right"
    assert await storage.phases_of_volumes() == {
        "also": "Bound",
        "large": "Available",
        "right": "Bound",
        "small": "Available",
    }


@pytest.mark.parametrize(
    "differs",
    [
        {"size": "512Mi"},
        {"modes": ("ReadOnlyMany",)},
        {"storageClassName": "other"},
        {"volumeMode": "Block"},
        {"labels": {"disk": "slow"}},
        {"claimRef": {"namespace": "ns", "name": "another"}},
    ],
)
async def test_a_volume_that_does_not_fit_is_left_alone(differs: dict[str, Any]) -> None:
    storage = await Storage.opened()
    wanted = {"labels": {"disk": "fast"}, **STATIC, **differs}
    await storage.make(volume(**wanted))
    await storage.make(claim(selector={"matchLabels": {"disk": "fast"}}, **STATIC))
    assert (await storage.claim())["status"]["phase"] == "Pending"
    assert (await storage.volume("pv"))["status"]["phase"] == "Available"
    await storage.make(volume("fits", labels={"disk": "fast"}, **STATIC))
    assert (await storage.claim())["spec"]["volumeName"] == "fits"


async def test_a_volume_that_is_kept_for_a_claim_is_its_own_whatever_it_is_like() -> None:
    storage = await Storage.opened()
    await storage.make(volume("kept", "5Gi", claimRef={"namespace": "ns", "name": "data"}, **STATIC))
    await storage.make(volume("fits", **STATIC))
    assert (await storage.volume("kept"))["status"]["phase"] == "Available"
    await storage.make(claim(**STATIC))
    assert (await storage.claim())["spec"]["volumeName"] == "kept"
    assert (await storage.volume("kept"))["spec"]["claimRef"]["uid"] == (await storage.claim())["metadata"]["uid"]


async def test_a_claim_may_name_its_volume() -> None:
    storage = await Storage.opened()
    await storage.make(claim(volumeName="pv", **STATIC))
    assert (await storage.claim())["status"]["phase"] == "Pending"
    await storage.make(volume("pv", "512Mi", **STATIC))
    assert (await storage.claim())["status"]["phase"] == "Pending"
    assert storage.told("VolumeMismatch")[-1] == "volume pv can't be its own: it is too small"
    await storage.patch(PersistentVolume, "pv", {"spec": {"capacity": {"storage": "1Gi"}}})
    made = await storage.claim()
    assert made["status"]["phase"] == "Bound"
    assert "pv.kubernetes.io/bound-by-controller" not in made["metadata"]["annotations"]


async def test_of_two_claims_that_name_one_volume_the_second_waits() -> None:
    storage = await Storage.opened()
    await storage.make(volume(**STATIC))
    for name in ("one", "two"):
        await storage.make(claim(name, volumeName="pv", **STATIC))
    assert [(await storage.claim(name))["status"]["phase"] for name in ("one", "two")] == ["Bound", "Pending"]
    assert storage.told("VolumeMismatch")[-1] == "volume pv can't be its own: it belongs to another claim"


async def test_with_wait_for_first_consumer_a_claim_waits_for_a_pod_that_has_a_node() -> None:
    storage = await Storage.opened()
    await storage.make(storage_class("later", volumeBindingMode="WaitForFirstConsumer"))
    await storage.make(node())
    await storage.make(claim(storageClassName="later"))
    await storage.make(pod(node=""))
    assert (await storage.claim())["status"]["phase"] == "Pending"
    assert storage.told("WaitForFirstConsumer") != []
    await storage.make(pod("q"))
    assert (await storage.claim())["status"]["phase"] == "Bound"


async def test_and_then_gets_a_volume_that_its_node_reaches() -> None:
    storage = await Storage.opened()
    class_ = storage_class(
        "later", volumeBindingMode="WaitForFirstConsumer", provisioner="kubernetes.io/no-provisioner"
    )
    await storage.make(class_)
    for name in ("n1", "n2"):
        await storage.make(node(name))
        local = {"hostPath": None, "local": {"path": "/data"}, "nodeAffinity": only_on(name)}
        await storage.make(volume(f"at-{name}", storageClassName="later", **local))
    await storage.make(claim(storageClassName="later"))
    await storage.make(pod(node="n2"))
    assert (await storage.claim())["spec"]["volumeName"] == "at-n2"


async def test_a_claim_whose_class_is_not_there_says_so_and_goes_on_when_it_is() -> None:
    storage = await Storage.opened()
    await storage.make(claim(storageClassName="fast"))
    assert (await storage.claim())["status"]["phase"] == "Pending"
    assert storage.told("ProvisioningFailed")[-1] == 'storageclass.storage.k8s.io "fast" not found'
    await storage.make(storage_class("fast", reclaimPolicy="Retain"))
    assert (await storage.volume_of())["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


async def test_provisioners_of_others_are_told_by_annotation() -> None:
    storage = await Storage.opened()
    await storage.make(storage_class("theirs", provisioner="example.com/disks"))
    await storage.make(claim(storageClassName="theirs"))
    made = await storage.claim()
    assert made["metadata"]["annotations"]["volume.kubernetes.io/storage-provisioner"] == "example.com/disks"
    assert made["status"]["phase"] == "Pending"
    ref = {"namespace": "ns", "name": "data", "uid": made["metadata"]["uid"]}
    await storage.make(volume(storageClassName="theirs", claimRef=ref))
    assert (await storage.claim())["status"]["phase"] == "Bound"


@pytest.mark.parametrize(
    "asks",
    [
        {"volumeMode": "Block"},
        {"selector": {"matchLabels": {"a": "b"}}},
        {"dataSource": {"kind": "PersistentVolumeClaim", "name": "other"}},
    ],
)
async def test_what_a_directory_can_not_be_is_not_made(asks: dict[str, Any]) -> None:
    storage = await Storage.opened()
    await storage.make(claim(**asks))
    assert (await storage.claim())["status"]["phase"] == "Pending"
    assert len(storage.told("ProvisioningFailed")) >= 1
    assert await storage.all(PersistentVolume) == []


async def test_a_bound_claim_grows_and_its_volume_with_it() -> None:
    storage = await Storage.opened()
    await storage.make(claim())
    await storage.claim()
    await storage.patch(PersistentVolumeClaim, "ns/data", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}})
    assert (await storage.claim())["status"]["capacity"] == {"storage": "3Gi"}
    assert (await storage.volume_of())["spec"]["capacity"] == {"storage": "3Gi"}


async def test_a_claim_whose_volume_is_gone_is_lost() -> None:
    storage = await Storage.opened()
    await storage.make(volume(**STATIC))
    await storage.make(claim(**STATIC))
    await storage.claim()
    await storage.delete(PersistentVolume, "pv")
    assert (await storage.claim())["status"]["phase"] == "Bound", "protected while it is somebody's"
    await storage.patch(PersistentVolume, "pv", {"metadata": {"finalizers": []}})
    assert (await storage.claim())["status"]["phase"] == "Lost"
    assert storage.told("ClaimLost") != []


async def test_asking_again_changes_nothing() -> None:
    storage = await Storage.opened()
    await storage.make(claim())
    await storage.make(pod())
    await storage.settle()
    revision = storage.store.revision
    await storage.settle()
    assert storage.store.revision == revision
    assert [p["metadata"]["name"] for p in await storage.all(Pod)] == ["p"]
    assert len(await storage.all(StorageClass)) == 1
