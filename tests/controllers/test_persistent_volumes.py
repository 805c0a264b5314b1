"""Whose volumes are, and what becomes of them when their claim is gone."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.volumes import PROTECTED
from tests.controllers.storage import PersistentVolume, PersistentVolumeClaim, Storage, claim, storage_class, volume

STATIC: dict[str, Any] = {"storageClassName": ""}


async def released(storage: Storage, **fields: Any) -> None:
    """Volume pv was a claim's that is gone."""
    await storage.make(volume(**STATIC, **fields))
    await storage.make(claim(**STATIC))
    await storage.claim()
    await storage.delete(PersistentVolumeClaim, "ns/data")
    await storage.settle()


async def test_a_volume_is_available_then_bound() -> None:
    storage = await Storage.opened()
    await storage.make(volume(**STATIC))
    assert (await storage.volume("pv"))["status"] == {"phase": "Available"}
    await storage.make(claim(**STATIC))
    assert (await storage.volume("pv"))["status"] == {"phase": "Bound"}


async def test_a_volume_that_is_to_be_kept_is_released_and_stays() -> None:
    storage = await Storage.opened()
    await released(storage)
    found = await storage.volume("pv")
    assert (found["status"]["phase"], found["spec"]["claimRef"]["name"]) == ("Released", "data")
    await storage.make(claim(**STATIC))
    assert (await storage.claim())["status"]["phase"] == "Pending", "what another left behind is not given on"


async def test_it_is_available_again_when_an_administrator_says_so() -> None:
    storage = await Storage.opened()
    await released(storage)
    await storage.patch(PersistentVolume, "pv", {"spec": {"claimRef": None}})
    assert (await storage.volume("pv"))["status"]["phase"] == "Available"


async def test_the_directory_that_was_made_for_a_claim_goes_with_it() -> None:
    storage = await Storage.opened()
    await storage.make(claim())
    name = (await storage.claim())["spec"]["volumeName"]
    await storage.delete(PersistentVolumeClaim, "ns/data")
    assert await storage.keep() == [name]
    assert await storage.all(PersistentVolume) == []


async def test_and_stays_where_the_class_says_so() -> None:
    storage = await Storage.opened()
    await storage.make(storage_class("kept", reclaimPolicy="Retain"))
    await storage.make(claim(storageClassName="kept"))
    name = (await storage.claim())["spec"]["volumeName"]
    await storage.delete(PersistentVolumeClaim, "ns/data")
    assert await storage.keep() == []
    assert (await storage.volume(name))["status"]["phase"] == "Released"
    await storage.delete(PersistentVolume, name)
    assert await storage.keep() == [], "its object goes, what is in it stays"
    assert await storage.all(PersistentVolume) == []


async def test_it_is_kept_where_the_volume_was_told_so_in_time() -> None:
    storage = await Storage.opened()
    await storage.make(claim())
    name = (await storage.claim())["spec"]["volumeName"]
    await storage.patch(PersistentVolume, name, {"spec": {"persistentVolumeReclaimPolicy": "Retain"}})
    await storage.delete(PersistentVolumeClaim, "ns/data")
    assert await storage.keep() == []
    assert (await storage.volume(name))["status"]["phase"] == "Released"


@pytest.mark.parametrize("policy", ["Delete", "Recycle"])
async def test_what_kumi_did_not_make_it_does_not_remove(policy: str) -> None:
    storage = await Storage.opened()
    await released(storage, persistentVolumeReclaimPolicy=policy)
    found = await storage.volume("pv")
    assert (found["status"]["phase"], found["status"]["reason"]) == ("Failed", "VolumeFailedDelete")
    assert len(storage.told("VolumeFailedDelete")) == 1
    await storage.delete(PersistentVolume, "pv")
    await storage.settle()
    assert await storage.all(PersistentVolume) == []


async def test_a_volume_that_is_deleted_while_it_is_a_claims_stays_as_long() -> None:
    storage = await Storage.opened()
    await storage.make(volume(**STATIC))
    await storage.make(claim(**STATIC))
    await storage.claim()
    await storage.delete(PersistentVolume, "pv")
    found = await storage.volume("pv")
    assert (found["status"]["phase"], found["metadata"]["finalizers"]) == ("Bound", [PROTECTED])
    await storage.delete(PersistentVolumeClaim, "ns/data")
    await storage.settle()
    assert await storage.all(PersistentVolume) == []


async def test_a_claim_of_the_same_name_is_not_the_same_claim() -> None:
    storage = await Storage.opened()
    await storage.make(claim())
    old = (await storage.claim())["spec"]["volumeName"]
    await storage.delete(PersistentVolumeClaim, "ns/data")
    await storage.settle()
    await storage.make(claim())
    new = (await storage.claim())["spec"]["volumeName"]
    assert new != old
    assert await storage.keep() == [old]
    assert [v["metadata"]["name"] for v in await storage.all(PersistentVolume)] == [new]
