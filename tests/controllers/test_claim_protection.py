"""Claims stay while pods use them."""

from __future__ import annotations

from tests.controllers.storage import PersistentVolumeClaim, Pod, Storage, claim, pod


async def deleted(*pods: dict[str, object]) -> Storage:
    """A bound claim that is deleted while these pods are there."""
    storage = await Storage.opened()
    await storage.make(claim())
    await storage.claim()
    for one in pods:
        await storage.make(one)
    await storage.delete(PersistentVolumeClaim, "ns/data")
    await storage.settle()
    return storage


async def is_there(storage: Storage) -> bool:
    await storage.settle()
    return await storage.one(PersistentVolumeClaim, "ns/data") is not None


async def test_a_claim_that_nobody_uses_goes_at_once() -> None:
    assert not await is_there(await deleted())


async def test_a_pod_without_a_node_does_not_use_it() -> None:
    assert not await is_there(await deleted(pod(node="")))


async def test_it_goes_when_the_last_pod_has_ended() -> None:
    storage = await deleted(pod("p"), pod("q"))
    await storage.pod_status("ns", "p", {"phase": "Succeeded"})
    assert await is_there(storage)
    await storage.pod_status("ns", "q", {"phase": "Failed"})
    assert not await is_there(storage)


async def test_it_goes_when_the_last_pod_is_gone() -> None:
    storage = await deleted(pod("p"))
    assert await is_there(storage)
    await storage.delete(Pod, "ns/p")
    assert not await is_there(storage)


async def test_it_is_a_consumer_that_names_another_claim_no_more_than_nobody() -> None:
    assert not await is_there(await deleted(pod("p", ("other",))))


async def test_a_claim_that_is_not_deleted_keeps_its_finalizer() -> None:
    storage = await Storage.opened()
    await storage.make(claim())
    assert (await storage.claim())["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
